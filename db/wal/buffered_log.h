// SPDX-License-Identifier: Apache-2.0
#pragma once

// A commit log over any file: records are collected in memory, and one of the waiting writers
// appends all complete ones, in order, with a single append.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/lock_ranks.h"
#include "db/wal/commit_log.h"
#include "db/wal/log_writer.h"
#include "util/sync/mutex.h"

namespace varve::wal {

class BufferedLog final : public CommitLog {
 public:
  // `writer` must have manual_flush set if and only if records need not be handed over at once.
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
  struct Pending {
    std::string bytes;
    bool filled = false;
  };

  uint64_t LastTicket() const VARVE_REQUIRES(mu_) { return first_ticket_ + queue_.size() - 1; }
  // Waits for all records reserved so far; returns an error if the log has failed.
  IOStatus WaitAllWritten() VARVE_REQUIRES(mu_);
  IOStatus WaitWritten(uint64_t ticket) VARVE_REQUIRES(mu_);
  void WriteFilled() VARVE_REQUIRES(mu_);
  IOStatus AddFilled(size_t* count) VARVE_REQUIRES(mu_);
  void Passed(size_t count) VARVE_REQUIRES(mu_);
  void FailWith(IOStatus error) VARVE_REQUIRES(mu_);
  // Runs `step` without mu_ and returns its status or exception; a failure becomes the log's.
  template <typename Step>
  IOStatus Latched(Step step);

  const std::unique_ptr<LogWriter> writer_;
  mutable Mutex mu_{lock_ranks::kBufferedLog};
  CondVar changed_{&mu_};
  std::deque<Pending> queue_ VARVE_GUARDED_BY(mu_);  // Reserved, not yet appended; oldest first.
  // Ticket of queue_.front(); earlier records are written.
  uint64_t first_ticket_ VARVE_GUARDED_BY(mu_) = 1;
  uint64_t written_bytes_ VARVE_GUARDED_BY(mu_);  // End of the written records in the file.
  bool writing_ VARVE_GUARDED_BY(mu_) = false;    // A thread appends, without mu_.
  IOStatus error_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve::wal
