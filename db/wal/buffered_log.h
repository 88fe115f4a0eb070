// SPDX-License-Identifier: Apache-2.0
#pragma once

// A commit log over any file: records are collected in memory, and one of the waiting writers
// appends all complete ones, in order, with a single append.
//
//      queue_:   [ 57 filled ][ 58 filled ][ 59 reserved ][ 60 filled ]
//                 ^ first_ticket_             ^ stops the append: 59 must come before 60
//      one writer appends 57 and 58 without mu_; the writers of 59 and 60 wait on changed_
//
// The thread that finds nobody writing becomes the writer of all filled records at the head, so a
// group of writers costs one system call. With manual_wal_flush records stay in the writer's buffer
// until Flush.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/lock_ranks.h"
#include "db/wal/commit_log.h"
#include "db/wal/log_writer.h"
#include "util/sync/mutex.h"

namespace varve::wal {

// Locking and errors: as in CommitLog.
class BufferedLog final : public CommitLog {
 public:
  // Requires that `writer` has manual_flush set exactly if WaitWhole need not hand records to the
  // operating system (DBOptions::manual_wal_flush).
  explicit BufferedLog(std::unique_ptr<LogWriter> writer);
  ~BufferedLog() override;

  IOStatus Reserve(size_t bytes, LogReservation* place) override;
  using CommitLog::Fill;
  using CommitLog::Sync;
  void Fill(const LogReservation& place, const Slice& head, const Slice& tail) override;
  IOStatus WaitWhole(const LogReservation& place) override;
  IOStatus AddTimestampSizes(const Slice& payload) override;
  IOStatus Flush() override;
  IOStatus HandOver(uint64_t* end) override;
  uint64_t held_back() const override;
  IOStatus Sync(bool use_fsync, LogExtent* covered) override;
  IOStatus Seal() override;
  IOStatus Close() override;

  uint64_t number() const override { return writer_->log_number(); }
  uint64_t size() const override;
  uint64_t last_ticket() const override;
  bool failed() const override;
  bool recyclable() const override { return writer_->recyclable(); }

 private:
  // A record that was reserved: its bytes, and true once they are complete.
  struct Pending {
    std::string bytes;
    bool filled = false;
  };

  // Returns the ticket of the newest reservation.
  uint64_t LastTicket() const VARVE_REQUIRES(mu_) { return first_ticket_ + queue_.size() - 1; }
  // Waits for all records reserved so far; returns an error if the log has failed.
  IOStatus WaitAllWritten() VARVE_REQUIRES(mu_);
  // Waits until the record is with `writer_`: in the file, or with manual_flush in its buffer.
  // Writes it in this thread if no other thread writes. Releases mu_ meanwhile.
  IOStatus WaitWritten(uint64_t ticket) VARVE_REQUIRES(mu_);
  // Writes the filled records at the queue's head. Requires that no thread writes.
  void WriteFilled() VARVE_REQUIRES(mu_);
  // Appends these to the file, without mu_. Sets *count to their number.
  IOStatus AddFilled(size_t* count) VARVE_REQUIRES(mu_);
  // Moves first_ticket_ over `count` tickets whose bytes are with `writer_` and that are not in the
  // queue any more. Steps that are no record, but need a sync, use up a ticket in the same way.
  void Passed(size_t count) VARVE_REQUIRES(mu_);
  // Makes the error the log's, and wakes all that wait.
  void FailWith(IOStatus error) VARVE_REQUIRES(mu_);
  // Runs `step` without mu_ and returns its status or exception; a failure becomes the log's.
  template <typename Step>
  IOStatus Latched(Step step);

  const std::unique_ptr<LogWriter> writer_;
  mutable Mutex mu_{lock_ranks::kBufferedLog};
  // Signalled when records were written, or the log has failed.
  CondVar changed_{&mu_};
  std::deque<Pending> queue_ VARVE_GUARDED_BY(mu_);  // Reserved, not yet appended; oldest first.
  // Ticket of queue_.front(); earlier records are written.
  uint64_t first_ticket_ VARVE_GUARDED_BY(mu_) = 1;
  uint64_t written_bytes_ VARVE_GUARDED_BY(mu_);  // End of the written records in the file.
  bool writing_ VARVE_GUARDED_BY(mu_) = false;    // A thread appends, without mu_.
  // The first failure; afterwards every call returns it, since the end of the file is not known.
  IOStatus error_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve::wal
