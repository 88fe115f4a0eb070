// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogFollower reads the write-ahead logs of a database that another process writes, and inserts new
// entries into memtables. Each memtable has the entries of one log. Invariants:
//
// 1. Entries are applied in the order of the logs, each once. The follower goes to the next log
//    only when that has a record: then the writer adds nothing to the previous log, which is read
//    once more to its end.
// 2. The predecessor record of the next log has the length of the previous log. Without one (other
//    programs do not write it) a log that ends with a whole record, or with zeros, is taken to be
//    complete.
// 3. Lost entries of a log are no error if all families have them in tables.
// 4. No entry is visible before super-versions with a higher sequence limit are installed.
// 5. A record that fails is never skipped. If nothing of it was inserted, the next call reads it
//    again; otherwise every later call returns the same error.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/engine/engine.h"
#include "db/recovery/timestamp_adapter.h"
#include "db/recovery/two_phase_replay.h"
#include "db/version/manifest_replay.h"
#include "db/wal/log_tail.h"
#include "db/write/batch_inserter.h"
#include "db/write/predecessor_log.h"

namespace varve {

// Thread safety: none.
class LogFollower {
 public:
  // Borrows the engine, into whose families' memtables it inserts.
  explicit LogFollower(Engine* engine);
  ~LogFollower();

  // Applies all new records. `replay`, the state of the MANIFEST, has the log that each family
  // needs. Corruption and missing files may be caused by a writer that is faster: the caller should
  // read the MANIFEST again and retry. After an error the next call continues where this one has
  // stopped, or returns the same error.
  Status ReadOn(ManifestReplay* replay) VARVE_EXCLUDES(kDbMutex);

  // Returns the newest sequence number that was applied, or 0.
  SequenceNumber applied() const { return applied_; }
  // Return the number of the current log, and the offset of the end of the last record read, or 0.
  uint64_t number() const { return tail_ == nullptr ? 0 : tail_->number(); }
  uint64_t end() const { return tail_ == nullptr ? 0 : tail_->offset(); }
  // Describes the damage after that record; empty if there is none.
  const std::string& met() const { return met_; }
  // Returns the end offset of the last record read, by log number. Has the logs that a family or a
  // prepared transaction needs still.
  const std::map<uint64_t, uint64_t>& ends() const { return ends_; }
  // Returns the prepared transactions that were read and are undecided.
  TwoPhaseReplay& two_phase() { return two_phase_; }
  // Reads the records that are not applied yet. Sets *bytes to their size, and *newest to the last
  // sequence number in them, or to applied() if there is none. After an error they count only what
  // was read.
  Status MeasureRest(uint64_t* bytes, SequenceNumber* newest) const;

 private:
  // Finds the memtables of open families.
  class Resolver;

  // Lists the numbers of all logs, ascending.
  Status ListLogs(std::vector<uint64_t>* logs) const;
  // Sets *first to a number below which no log has a record that is needed; `logs` ascend, and need
  // not have that number. Errors: those of reading the logs that may have prepared transactions.
  Status FindFirst(const std::vector<uint64_t>& logs, ManifestReplay* replay,
                   uint64_t* first) const;
  // Opens a log by its number.
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // Applies the new records of the current log, up to one that cannot be applied.
  Status Drain() VARVE_EXCLUDES(kDbMutex);
  // Does the work of Drain, except that entries may be pending in the inserter afterwards.
  Status TakeRecords(BatchInserter* inserter) VARVE_EXCLUDES(kDbMutex);
  // Checks a record. Requires that *batch is empty and *has_marks false, and leaves them so if the
  // record has nothing to insert. Otherwise sets *batch to the record, adapted to the timestamps of
  // the open families and valid until the next call, and *has_marks: true if it has marks of
  // two-phase commit. Corruption: the record is malformed. Aborted: its sequence numbers were
  // applied already, as the primary has gone back. Otherwise the error of adapting it.
  Status Check(const Slice& record, Slice* batch, bool* has_marks);
  // Returns the error with the log and offset at which it occurred.
  Status At(const Status& s) const;
  // Inserts a batch: at once if it has marks of two-phase commit, otherwise together with others.
  Status Apply(const Slice& batch, bool has_marks, BatchInserter* inserter)
      VARVE_EXCLUDES(kDbMutex);
  // Lets memtables that have just got their first entries use the common prefix of these keys.
  void LearnKeyPrefixes() VARVE_EXCLUDES(kDbMutex);
  // Checks that the current log was read to its end, as far as it is needed. `first` is the first
  // record of the next log, and `next` its number.
  Status CheckFollows(const Slice& first, uint64_t next);
  // Goes to the next log; the memtables of the previous log become immutable.
  void MoveTo(std::unique_ptr<wal::LogTail> next) VARVE_EXCLUDES(kDbMutex);
  // Reads from the MANIFEST's state which logs the families need, and forgets facts of older logs.
  void NoteNeeds(ManifestReplay* replay);

  Engine* const engine_;
  std::map<uint32_t, uint64_t> log_numbers_;  // By family id: the oldest log that it needs.
  uint64_t needed_ = 0;                       // The smallest of them.
  // The current log; null before the first.
  std::unique_ptr<wal::LogTail> tail_;
  // Adapts batches of the current log to the timestamps of the open families: the keys of a log may
  // have timestamps where the family has none now, or lack them.
  std::unique_ptr<TimestampAdapter> adapter_;
  std::unique_ptr<Resolver> resolver_;
  bool first_ = true;  // No record of the log was taken yet.
  // True until a batch of this log was applied: the first one must be newer than all before.
  bool first_batch_ = true;
  // True while records are being inserted, and forever after their insertion has failed with lost_:
  // memtables may then have only a part of their entries.
  bool in_part_ = false;
  Status lost_;
  SequenceNumber applied_ = 0;
  RecoveryReport report_;
  TwoPhaseReplay two_phase_{&report_};
  // See ends().
  std::map<uint64_t, uint64_t> ends_;
  // See met().
  std::string met_;
  std::string chunk_;  // Bytes of batches that the inserter holds.
  // Memory for a batch that had to be rewritten, reused from record to record.
  std::string adapted_;
  // The pair of logs, and the state of the MANIFEST, for which CheckFollows has reported that a log
  // between the two may be missing. If it meets both again, nothing is missing.
  std::string unsure_at_;
  // The state of the MANIFEST at the last ReadOn, in the same form.
  std::string manifest_at_;
};

}  // namespace varve
