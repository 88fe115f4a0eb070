// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the writes to an open database from its logs in the order of sequence numbers, beside the
// writers.
//
// 1. The visible sequence number is read first, then the length of the log's whole part, then the
//    log up to there: a record whose last sequence number was visible is wholly in the file by
//    then, or in the bytes that manual_wal_flush holds back. So every visible record is met, and
//    whole.
// 2. Only visible records are given out: a reader that goes on from there through the database
//    finds them, and their writes have not failed. After a failed write nothing more of its log is
//    given out; the rest of it is a gap.
// 3. Numbers that no record has are given out as a gap, and are never skipped silently.
// 4. The log that is read, and all later ones, are held. The first may be a log that was being
//    removed before; it is open then, and whether its name still exists does not matter.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/follow/log_files.h"
#include "db/follow/section_memory.h"
#include "db/wal/log_set.h"
#include "db/wal/log_tail.h"

namespace varve {

struct Engine;

// Thread safety: none.
class UpdateReader {
 public:
  enum class Met : uint8_t {
    kBatch,
    kGap,      // No log has these numbers.
    kNothing,  // All visible records have been given out.
    kLater,    // A visible record cannot be read yet; status() says why.
    kFailed,   // It stays so; status() says why.
  };
  // Valid until the next call of Next.
  struct Update {
    SequenceNumber first = 0;
    SequenceNumber last = 0;  // first - 1 for a batch of nothing but log data.
    Slice batch;              // Set for kBatch; its header has `first`.
    uint64_t log = 0;         // A reader that begins here needs the logs from this one on.
    bool lost = false;        // Set for kGap: a log may have had them; else they were not logged.
  };

  struct Options {
    SequenceNumber from = 1;  // Begins with the batch that has it.
    bool durable_only = false;
    bool held_by_others = false;  // True if others hold the logs; else the reader does.
    // Not 0: the log to begin with, in which records before `from` are skipped. 0: the log that has
    // `from` is searched for.
    uint64_t first_log = 0;
  };
  UpdateReader(std::shared_ptr<Engine> engine, const Options& options);
  ~UpdateReader();

  // Finds the first record, unless that was done; Next does it, too.
  Status Start();
  // True if no log has the wanted numbers any more: the first log is gone, or was not found.
  bool begins_late() const { return begins_late_; }
  Met Next(Update* update);
  // Returns the reason of kLater or kFailed.
  const Status& status() const { return status_; }
  // Returns the next number.
  SequenceNumber position() const { return next_; }
  // Returns the oldest log that is still needed. Requires Start.
  uint64_t OldestLogNeeded() const;

 private:
  enum class Verdict : uint8_t { kGive, kSkip, kNotYet, kGap, kFailed };

  Status Begin();
  // Finds the index of the log to begin with.
  Status FindFirst(const std::vector<uint64_t>& numbers, size_t* first);
  // Sets *first to the number of the log's first record that has one; 0: there is none.
  Status FirstSequence(uint64_t number, SequenceNumber* first);
  // Looks at the logs' current state and reads on; kBatch: *record is the next one.
  Met Look(Slice* record);
  // Judges why visible records were not met.
  Met Missing(wal::LogTail::Met met);
  // Returns the offset up to which the current log is read.
  uint64_t End() const {
    return options_.durable_only ? std::min(view_.bytes, view_.synced_bytes) : view_.bytes;
  }
  // Goes to the next log. kBatch: it is the current one now.
  Met GoOn(bool damaged);
  Status MoveTo(uint64_t number);
  Verdict Judge(const Slice& record, Update* update);
  // Returns true if the record says where the log before ends.
  bool TakePredecessor(const Slice& record);
  // Assembles the batch that the record commits.
  Status AssembleSections(const Slice& record, Slice* batch);
  Status SearchEarlierLogs(const std::string& name);
  Status ReadSections(uint64_t number, SectionMemory* sections) const;
  Met Gap(SequenceNumber last, bool lost, Update* update);
  Met Fail(Status status);

  const std::shared_ptr<Engine> engine_;
  const LogFiles files_;
  const Options options_;
  LogHold hold_;
  std::unique_ptr<wal::LogTail> tail_;
  LogSet::LogView view_;      // State of its log at the last look.
  bool settled_ = false;      // The view cannot change, as the database is done with that log.
  SequenceNumber limit_ = 0;  // Number that was visible at the last look.
  bool looked_ = false;       // Records up to the end of view_ may be taken without a look.
  bool begins_late_ = false;
  bool behind_ = true;  // No record at the position was met yet.
  SequenceNumber next_;
  // True if numbers between the last batch and the next may have been in a log.
  bool may_be_lost_ = false;
  Status damage_;
  // The log before this one: how far it was read, and whether that was all of it.
  uint64_t left_log_ = 0;
  uint64_t left_end_ = 0;
  bool left_whole_ = false;
  SectionMemory sections_;
  std::string assembled_;
  Status status_;
};

}  // namespace varve
