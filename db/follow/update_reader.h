// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the writes to an open database from its logs in the order of sequence numbers, beside the
// writers.
//
//      log 7 (recovered)      log 9 (settled)           log 12 (current)
//      [1..40]    end record  [pred: 7][41..60] . . .   [pred: 9][71..80][81..90]...
//                                      ^ 61..70 were    ^ the predecessor record says how long
//                                        not logged       log 9 is, and with which number 12 begins
//
// Here a reader at 41 gives out the batches of log 9 up to 60. It then finds the end of log 9, goes
// on to log 12, and learns there that nothing of log 9 is missing: so 61 to 70 were written without
// the log, and it gives out one gap that is not marked as lost. Had log 9 been cut off, the same
// gap would be marked as lost.
//
// 1. The visible sequence number is read first, then the length of the log's whole part, then the
//    log up to there: a record whose last sequence number was visible is wholly in the file by
//    then, or in the bytes that manual_wal_flush holds back. So every visible record is met, and
//    whole.
// 2. Only visible records are given out: a reader that goes on from there through the database
//    finds them, and their writes have not failed. After a failed write nothing more of its log is
//    given out; the rest of it is a gap.
// 3. Numbers that no record has are given out as a gap, and are never skipped silently.
// 4. A LogHold keeps the log that is read, and all later ones, in the log set. The first may be a
//    log that was being removed before; it is open then, and whether its name still exists does not
//    matter.
// 5. Each number is given out once, in a batch or in a gap, in ascending order; next_ is the first
//    that was not. A gap ends at the last visible number when no log can have it, and otherwise
//    before the next record.
// 6. A batch of a prepared transaction is given out at its commit, with the commit's numbers. Its
//    updates may lie in an earlier log, which is therefore needed until then (OldestLogNeeded).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
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

// Thread safety: none. A reader shares the engine, and its destructor ends its LogHold.
class UpdateReader {
 public:
  enum class Met : uint8_t {
    kBatch,
    kGap,      // No log has these numbers.
    kNothing,  // All visible records have been given out.
    kLater,    // A visible record cannot be read yet; status() says why.
    kFailed,   // status() says why. The next call meets the same record again.
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
    SequenceNumber from = 1;  // The reader begins with the batch that has this number.
    bool durable_only = false;
    bool held_by_others = false;  // True if the caller keeps the logs; else the reader does.
    // The log to begin with, in which records before `from` are skipped. If it is 0, the reader
    // searches for the log that has `from`.
    uint64_t first_log = 0;
    // True if the caller kept the logs before `from` was written, so no log with that number or a
    // later one can be gone.
    bool all_held = false;
  };
  UpdateReader(std::shared_ptr<Engine> engine, const Options& options);
  ~UpdateReader();

  // Finds the first record, unless that was done; Next does it, too.
  Status Start();
  // True if no log has the wanted numbers any more: the first log is gone, or was not found. False
  // if the log that may have them has nothing but records that manual_wal_flush holds back.
  bool begins_late() const { return begins_late_; }
  // Gives out the next batch or gap, in *update. Does not wait for new writes.
  Met Next(Update* update);
  // Returns the reason of kLater or kFailed.
  const Status& status() const { return status_; }
  // Returns the next number.
  SequenceNumber position() const { return next_; }
  // Returns the oldest log that is still needed, also to tell whether the next numbers are lost.
  // Requires Start.
  uint64_t OldestLogNeeded() const;

 private:
  // The fate of a record: it is given out, skipped, not visible yet, or numbers before it are
  // missing.
  enum class Verdict : uint8_t { kGive, kSkip, kNotYet, kGap, kFailed };

  // Finds the log to begin with, and opens it.
  Status Begin();
  // Finds the index of the log to begin with.
  Status FindFirst(const std::vector<uint64_t>& numbers, size_t* first);
  // Sets *first to the number of the log's first record that has one; 0: there is none. Smaller
  // numbers are in earlier logs, if in any.
  Status FirstSequence(uint64_t number, SequenceNumber* first);
  // Looks at the logs' current state and reads on, from log to log. Returns kBatch if it found the
  // next record and set *record to it, and kGap if the numbers up to limit_ are in no log.
  Met Look(Slice* record);
  // Judges why visible records were not met.
  Met Missing(wal::LogTail::Met met);
  // Returns the offset up to which the current log is read.
  uint64_t End() const {
    return options_.durable_only ? std::min(view_.bytes, view_.synced_bytes) : view_.bytes;
  }
  // Goes to the next log. Returns kBatch if that is the current one now.
  Met GoOn(bool damaged);
  // Opens a log, makes it the current one, and keeps it and later ones in the log set.
  Status MoveTo(uint64_t number);
  // Decides what becomes of the next record, and fills in *update for kGive and kGap.
  Verdict Judge(const Slice& record, Update* update);
  // Returns true if the record says where the log before ends, and with which number this one
  // begins.
  bool TakePredecessor(const Slice& record);
  // Assembles the batch that the record commits.
  Status AssembleSections(const Slice& record, Slice* batch);
  // Finds the prepared transactions in logs before the current one. Returns NotFound if the log of
  // one of them is gone.
  Status SearchEarlierLogs(const std::set<std::string>& names);
  // Reads the prepared transactions of a whole log that are undecided at its end.
  Status ReadSections(uint64_t number, SectionMemory* sections) const;
  // Gives out the numbers from the position to `last` as a gap, and moves behind them.
  Met Gap(SequenceNumber last, bool lost, Update* update);
  // Keeps the error for status().
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
  // True if numbers between the last batch and the next may have been in a log that was not read
  // whole.
  bool may_be_lost_ = false;
  uint64_t lost_from_ = 0;  // The first such log; 0: before all.
  // Damage of the log that was left, to be reported if visible numbers are missing.
  Status damage_;
  // The log before this one: how far it was read, and whether that was all of it.
  uint64_t left_log_ = 0;
  uint64_t left_end_ = 0;
  bool left_whole_ = false;
  bool left_closed_ = false;    // Its writer has said that nothing follows.
  bool at_end_record_ = false;  // The last record of the current log is an end record so far.
  SectionMemory sections_;
  std::string assembled_;
  Status status_;
};

}  // namespace varve
