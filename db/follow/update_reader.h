// SPDX-License-Identifier: Apache-2.0
#pragma once

// UpdateReader reads the writes to an open database from its logs in the order of sequence numbers,
// concurrently with writers.
//
//      log 7 (recovered)      log 9 (settled)           log 12 (current)
//      [1..40]    end record  [pred: 7][41..60] . . .   [pred: 9][71..80][81..90]...
//                                      ^ 61..70 were    ^ the predecessor record says how long
//                                        not logged       log 9 is, and with which number 12 begins
//
// Log 7 is of an earlier opening; log 9 is settled: nothing is added to it any more.
//
// In this example a reader at 41 returns the batches of log 9 up to 60. At the end of log 9 it goes
// to log 12, whose predecessor record shows that nothing of log 9 is missing. So 61 to 70 were
// written without the log, and it returns a gap that is not marked as lost. If log 9 were
// truncated, the gap would be marked as lost.
//
// 1. The visible sequence number is read first, then the length of the log's complete part, then
//    the log up to there. A record whose last sequence number was visible is then completely in the
//    file, or in the bytes that manual_wal_flush holds back. So every visible record is read.
// 2. Only visible records are returned, so they can be read from the database, and their writes
//    have not failed. After a failed write nothing more of its log is returned; the rest of it is a
//    gap.
// 3. Sequence numbers that no record has are returned as a gap, and never skipped.
// 4. A LogHold keeps the log that is read, and all later ones, from deletion. Only the first log
//    may have been deleted already when the hold begins; it can still be read, since it is open.
// 5. Each number is returned once, in a batch or in a gap, in ascending order; next_ is the first
//    that was not. A gap ends before the next record or, if no log can have more, at the last
//    visible number.
// 6. The batch of a prepared transaction is returned at its commit, with the commit's sequence
//    numbers. Its updates may lie in an earlier log, which is therefore needed until then
//    (OldestLogNeeded).

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
#include "db/follow/transaction_assembler.h"
#include "db/wal/log_set.h"
#include "db/wal/log_tail.h"

namespace varve {

struct Engine;

// Thread safety: none. A reader shares the engine.
class UpdateReader {
 public:
  enum class Met : uint8_t {
    kBatch,
    kGap,      // No log has these numbers.
    kNothing,  // All visible records were returned.
    kLater,    // A visible record cannot be read yet; status() says why.
    kFailed,   // status() says why. The next call tries the same record again.
  };
  // Valid until the next call of Next.
  struct Update {
    SequenceNumber first = 0;
    SequenceNumber last = 0;  // first - 1 for a batch of nothing but log data.
    Slice batch;              // Set for kBatch; its header has `first`.
    uint64_t log = 0;         // Oldest log that a reader beginning here needs.
    // For kGap: a log may have had the numbers. False: they were not logged.
    bool lost = false;
  };

  struct Options {
    SequenceNumber from = 1;  // Sequence number in the first batch.
    bool durable_only = false;
    bool held_by_others = false;  // The caller keeps the logs from deletion.
    // The log to begin with, in which records before `from` are skipped. If it is 0, the reader
    // searches for the log that has `from`.
    uint64_t first_log = 0;
    // True if the caller has kept all logs since before `from` was written, so none that has this
    // number or a later one can be deleted.
    bool all_held = false;
  };
  UpdateReader(std::shared_ptr<Engine> engine, const Options& options);
  ~UpdateReader();

  // Finds the first record, unless that was done. Next calls it if necessary.
  Status Start();
  // Returns true if the log with the wanted numbers was deleted or not found, and false if that log
  // may only have records that manual_wal_flush holds back. Requires Start.
  bool begins_late() const { return begins_late_; }
  // Sets *update to the next batch or gap. Does not wait for new writes.
  Met Next(Update* update);
  // Returns the reason of kLater or kFailed.
  const Status& status() const { return status_; }
  // Returns the first sequence number that was not returned.
  SequenceNumber position() const { return next_; }
  // Returns the number of the oldest log that a reader beginning at the position needs. Requires
  // Start.
  uint64_t OldestLogNeeded() const;

 private:
  // Result of Judge: the record is returned, skipped, not visible yet, preceded by missing numbers,
  // or cannot be read.
  enum class Verdict : uint8_t { kGive, kSkip, kNotYet, kGap, kFailed };

  // Finds the log to begin with, and opens it.
  Status Begin();
  // Sets *first to the index in `numbers`, which must not be empty, of the log to begin with; also
  // sets begins_late_ and may_be_lost_.
  Status FindFirst(const std::vector<uint64_t>& numbers, size_t* first);
  // Sets *first to the sequence number of the log's first record that has one, or to 0. Smaller
  // numbers can only be in earlier logs.
  Status FirstSequence(uint64_t number, SequenceNumber* first);
  // Updates limit_ and view_, and reads on, from log to log. Returns kBatch with *record set to the
  // next record, or kGap if the numbers up to limit_ are in no log.
  Met Look(Slice* record);
  // Returns why visible records were not found.
  Met Missing(wal::LogTail::Met met);
  // Returns the offset up to which the current log is read.
  uint64_t End() const {
    return options_.durable_only ? std::min(view_.bytes, view_.synced_bytes) : view_.bytes;
  }
  // Goes to the next log, and returns kBatch if there is one. kGap: there is none, and in a
  // read-only database none will come with the visible numbers. kNothing: there is none yet.
  // `damaged`: the current log could not be read to its end.
  Met GoOn(bool damaged);
  // Opens a log, makes it the current one, and keeps it and later ones in the log set.
  Status MoveTo(uint64_t number);
  // Decides what to do with the next record, and sets *update for kGive and kGap.
  Verdict Judge(const Slice& record, Update* update);
  // Returns true if it is a predecessor record, with the length of the log before. Clears
  // may_be_lost_ if it proves that nothing is missing.
  bool TakePredecessor(const Slice& record);
  // Sets *batch to the batch that the record commits, in assembled_. NotFound: a log with a
  // prepared transaction of the record is gone. Corruption: the record, or an earlier one, is
  // malformed.
  Status AssembleBatch(const Slice& record, Slice* batch);
  // Finds the prepared transactions in logs before the current one. Returns NotFound if the log of
  // one of them is gone.
  Status SearchEarlierLogs(const std::set<std::string>& names);
  // Reads the prepared transactions of a whole log that are undecided at its end.
  Status ReadPrepared(uint64_t number, TransactionAssembler* transactions) const;
  // Sets *update to a gap from the position to `last`, and moves the position to `last` + 1.
  Met Gap(SequenceNumber last, bool lost, Update* update);
  // Sets status() and returns kFailed.
  Met Fail(Status status);

  const std::shared_ptr<Engine> engine_;
  const LogFiles files_;
  const Options options_;
  LogHold hold_;
  std::unique_ptr<wal::LogTail> tail_;
  LogSet::LogView view_;      // State of the log at tail_ at the last Look.
  bool settled_ = false;      // view_ cannot change any more.
  SequenceNumber limit_ = 0;  // Visible sequence number at the last Look.
  bool looked_ = false;       // Records within view_ can be read without a Look.
  bool begins_late_ = false;
  // No record at the position was read yet, so records that come now may lie before it.
  bool behind_ = true;
  SequenceNumber next_;
  // True if numbers between the last batch and the next may have been in a log that was not read
  // completely.
  bool may_be_lost_ = false;
  uint64_t lost_from_ = 0;  // The first such log; 0: one before all.
  // Damage of the log that was left, to be reported if visible numbers are missing.
  Status damage_;
  // The previous log, the offset up to which it was read, and whether that was without damage.
  uint64_t left_log_ = 0;
  uint64_t left_end_ = 0;
  bool left_whole_ = false;
  bool left_closed_ = false;    // It ends with an end record.
  bool at_end_record_ = false;  // The last record read is an end record.
  TransactionAssembler transactions_;
  std::string assembled_;
  Status status_;
};

}  // namespace varve
