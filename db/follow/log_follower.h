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
  explicit LogFollower(Engine* engine);
  ~LogFollower();

  // Applies all new records. `replay` says which logs each family needs. Corruption and missing
  // files may come from a faster writer: then the caller reads on in the MANIFEST.
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
  SectionReplay& sections() { return sections_; }
  // Measures what is written and not yet applied: bytes of records, and the last number in them.
  Status MeasureRest(uint64_t* bytes, SequenceNumber* newest) const;

 private:
  class Resolver;

  Status ListLogs(std::vector<uint64_t>* logs) const;
  Status FindFirst(const std::vector<uint64_t>& logs, ManifestReplay* replay,
                   uint64_t* first) const;
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // Applies the records of the open log.
  Status Drain() VARVE_EXCLUDES(kDbMutex);
  Status Take(const Slice& record, BatchInserter* inserter) VARVE_EXCLUDES(kDbMutex);
  Status Apply(const Slice& batch, bool has_marks, BatchInserter* inserter)
      VARVE_EXCLUDES(kDbMutex);
  void LearnKeyPrefixes() VARVE_EXCLUDES(kDbMutex);
  // Checks that the open log was read to its end, as far as it is needed; `first` is the first
  // record of the next.
  Status CheckFollows(const Slice& first, uint64_t next);
  // Goes to the next log; the memtables of the log before take no more entries.
  void MoveTo(std::unique_ptr<wal::LogTail> next) VARVE_EXCLUDES(kDbMutex);
  void NoteNeeds(ManifestReplay* replay);

  Engine* const engine_;
  std::map<uint32_t, uint64_t> log_numbers_;  // Logs that open families need.
  uint64_t needed_ = 0;                       // The smallest of them.
  std::unique_ptr<wal::LogTail> tail_;
  std::unique_ptr<TimestampAdapter> adapter_;
  std::unique_ptr<Resolver> resolver_;
  bool first_ = true;  // No record of the log has been taken yet.
  bool first_batch_ = true;
  SequenceNumber applied_ = 0;
  RecoveryReport report_;
  SectionReplay sections_{&report_};
  std::map<uint64_t, uint64_t> ends_;
  std::string met_;
  std::string chunk_;  // Batches that wait to be inserted.
  std::string adapted_;
  // The pair of logs, and the place in the MANIFEST, at which a log in between may be missing.
  std::string unsure_at_;
  std::string manifest_at_;
};

}  // namespace varve
