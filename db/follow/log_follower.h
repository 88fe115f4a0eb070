// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the write-ahead logs of a database that another process writes: new entries go into
// memtables, of which each holds the entries of one log.
//
// 1. Entries are applied in the order of the logs, each once. A log is left for the next only when
//    that holds a record: then the writer adds nothing to the former, which is read once more to
//    its end.
// 2. The next log's predecessor record says whether that end is the end. Without one (other
//    programs write none) a log that ends with a whole record, or with zeros, is whole.
// 3. Entries that a log lacks and that all families have in tables are not missing.
// 4. None of it is visible before super-versions with a higher limit are installed.
// 5. A record that fails is never passed over. If nothing of it was inserted, the next call meets
// it
//    again; otherwise every later call returns the same error.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/engine/engine.h"
#include "db/recovery/section_replay.h"
#include "db/recovery/timestamp_adapter.h"
#include "db/version/manifest_replay.h"
#include "db/wal/log_tail.h"
#include "db/write/batch_inserter.h"
#include "db/write/predecessor_log.h"

namespace varve {

// Thread safety: none.
class LogFollower {
 public:
  // Borrows the engine, whose families' memtables it fills.
  explicit LogFollower(Engine* engine);
  ~LogFollower();

  // Applies all new records. `replay` says which logs each family needs. Corruption and missing
  // files may come from a faster writer: then the caller reads on in the MANIFEST. After an error
  // the next call goes on where this one has stopped, or returns the same error.
  Status ReadOn(ManifestReplay* replay) VARVE_EXCLUDES(kDbMutex);

  // Returns the newest sequence number that was applied; 0: none was.
  SequenceNumber applied() const { return applied_; }
  // Return the log that is being read, and the end of the last record read; 0: there is none.
  uint64_t number() const { return tail_ == nullptr ? 0 : tail_->number(); }
  uint64_t end() const { return tail_ == nullptr ? 0 : tail_->offset(); }
  // Describes what follows that record in the log; empty: nothing.
  const std::string& met() const { return met_; }
  // Returns the end of each log that was read.
  const std::map<uint64_t, uint64_t>& ends() const { return ends_; }
  // Returns the prepared transactions that were met and not decided.
  SectionReplay& sections() { return sections_; }
  // Measures what is written and not yet applied: bytes of records, and the last number in them.
  Status MeasureRest(uint64_t* bytes, SequenceNumber* newest) const;

 private:
  // Finds the memtables of open families.
  class Resolver;

  // Lists the numbers of all logs, ascending.
  Status ListLogs(std::vector<uint64_t>* logs) const;
  // Finds the log to begin with.
  Status FindFirst(const std::vector<uint64_t>& logs, ManifestReplay* replay,
                   uint64_t* first) const;
  // Opens a log by its number.
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // Applies the records of the open log, up to one that it cannot apply.
  Status Drain() VARVE_EXCLUDES(kDbMutex);
  // Does the work of Drain; entries may be pending in the inserter afterwards.
  Status TakeRecords(BatchInserter* inserter) VARVE_EXCLUDES(kDbMutex);
  // Checks a record, and adapts it. Leaves *batch empty if it has nothing to insert.
  Status Check(const Slice& record, Slice* batch, bool* has_marks);
  // Returns the error with the place in the log where it was met.
  Status At(const Status& s) const;
  // Inserts a batch, at once if it has marks, otherwise together with others.
  Status Apply(const Slice& batch, bool has_marks, BatchInserter* inserter)
      VARVE_EXCLUDES(kDbMutex);
  // Lets memtables that have just got their first entries use what these keys have in common.
  void LearnKeyPrefixes() VARVE_EXCLUDES(kDbMutex);
  // Checks that the open log was read to its end, as far as it is needed; `first` is the first
  // record of the next.
  Status CheckFollows(const Slice& first, uint64_t next);
  // Goes to the next log; the memtables of the log before take no more entries.
  void MoveTo(std::unique_ptr<wal::LogTail> next) VARVE_EXCLUDES(kDbMutex);
  // Notes which logs the families need by the MANIFEST, and forgets what older logs had.
  void NoteNeeds(ManifestReplay* replay);

  Engine* const engine_;
  std::map<uint32_t, uint64_t> log_numbers_;  // Logs that open families need.
  uint64_t needed_ = 0;                       // The smallest of them.
  // The log that is read; null: none yet.
  std::unique_ptr<wal::LogTail> tail_;
  // Adapts batches of the current log to the timestamps of the open families.
  std::unique_ptr<TimestampAdapter> adapter_;
  std::unique_ptr<Resolver> resolver_;
  bool first_ = true;  // No record of the log has been taken yet.
  // True until a batch of this log was met: it must be newer than all before.
  bool first_batch_ = true;
  // True, for good, once the insertion of records that were taken off the log has failed: memtables
  // may have some of their entries only. lost_ says why.
  bool in_part_ = false;
  Status lost_;
  SequenceNumber applied_ = 0;
  RecoveryReport report_;
  SectionReplay sections_{&report_};
  // The ends of logs, by number, as the public functions return them.
  std::map<uint64_t, uint64_t> ends_;
  // Describes what follows the last record of the log; empty: nothing.
  std::string met_;
  std::string chunk_;  // Batches that wait to be inserted.
  // Memory for a batch that had to be rewritten, reused from record to record.
  std::string adapted_;
  // The pair of logs, and the place in the MANIFEST, at which a log in between may be missing.
  std::string unsure_at_;
  std::string manifest_at_;
};

}  // namespace varve
