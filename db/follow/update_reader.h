// SPDX-License-Identifier: Apache-2.0
#pragma once

// What was written to an open database, read from its logs in the order of sequence numbers, beside
// the writers.
//
// 1. What is visible is read first, then how far the log is whole, then the log up to there: a
//    record whose last sequence number was visible is wholly in the file by then, or in what
//    manual_wal_flush holds back. So of visible records none is overlooked, and none is met half.
// 2. Nothing is given out that is not visible: whoever reads on from there through the database
//    finds it, and its write has not failed. Of a log in which a write has failed nothing more is
//    given out; what it still had is a gap.
// 3. Numbers that no record has are given out as a gap, and are never passed over silently.
// 4. The log that is read, and all later ones, are held. A log that was on its way out before may
// be
//    the first; it is open then, and whether its name is still there does not matter.

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
    kGap,      // no log has these numbers
    kNothing,  // all that is visible has been given out
    kLater,    // something visible cannot be read yet; status() says why
    kFailed,   // status() says why; it stays so
  };
  // Good until the next call of Next.
  struct Update {
    SequenceNumber first = 0;
    SequenceNumber last = 0;  // first - 1 for a batch of nothing but log data
    Slice batch;              // of kBatch; its header has `first`
    uint64_t log = 0;         // who begins with it needs the logs from this one on
    bool lost = false;        // of kGap: a log may have had them; else they were not logged
  };

  struct Options {
    SequenceNumber from = 1;  // begins with the batch that has it
    bool durable_only = false;
    bool held_by_others = false;  // the logs; else the reader holds what it reads
    // Not 0: the log to begin with, in which all that is before `from` is passed over. Else the one
    // that has `from` is looked for.
    uint64_t first_log = 0;
  };
  UpdateReader(std::shared_ptr<Engine> engine, const Options& options);
  ~UpdateReader();

  // Finds where to begin, unless that was done: Next does it, too.
  Status Start();
  // Something is wanted that no log has any more: the first log is gone, or was not found.
  bool begins_late() const { return begins_late_; }
  Met Next(Update* update);
  // After kLater, kFailed.
  const Status& status() const { return status_; }
  // The number that comes next.
  SequenceNumber position() const { return next_; }
  // Logs before this one are not needed any more. Once it has started.
  uint64_t OldestLogNeeded() const;

 private:
  enum class Verdict : uint8_t { kGive, kSkip, kNotYet, kGap, kFailed };

  Status Begin();
  // The index of the log to begin with.
  Status FindFirst(const std::vector<uint64_t>& numbers, size_t* first);
  // *first: of the first record that has numbers; 0: there is none.
  Status FirstSequence(uint64_t number, SequenceNumber* first);
  // Reads on after a look at what there is now; kBatch: *record is the next one.
  Met Look(Slice* record);
  // Of visible records that should be here, and were not met.
  Met Missing(wal::LogTail::Met met);
  // How far the log at hand is to be read.
  uint64_t End() const {
    return options_.durable_only ? std::min(view_.bytes, view_.synced_bytes) : view_.bytes;
  }
  // To the log after this one. kBatch: that is what is read now.
  Met GoOn(bool damaged);
  Status MoveTo(uint64_t number);
  Verdict Judge(const Slice& record, Update* update);
  // Whether the record says where the log before ends.
  bool TakePredecessor(const Slice& record);
  // The batch that the record commits.
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
  LogSet::LogView view_;      // of its log, at the last look
  bool settled_ = false;      // no look will find another, as the database is done with that log
  SequenceNumber limit_ = 0;  // what was visible at the last look
  bool looked_ = false;       // records up to the end of view_ may be taken without another look
  bool begins_late_ = false;
  bool behind_ = true;  // no record at the position was met yet
  SequenceNumber next_;
  // What is between the last batch and the next may have been in a log.
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
