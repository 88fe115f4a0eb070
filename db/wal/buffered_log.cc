// SPDX-License-Identifier: Apache-2.0
#include "db/wal/buffered_log.h"

#include <utility>

#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve::wal {

BufferedLog::BufferedLog(std::unique_ptr<LogWriter> writer) : writer_(std::move(writer)) {}

BufferedLog::~BufferedLog() = default;

IOStatus BufferedLog::Reserve(size_t bytes, LogPlace* place) {
  MutexLock lock(&mu_);
  if (!error_.ok()) return error_;
  place->log = this;
  place->bytes = bytes;
  place->ticket = first_ticket_ + queue_.size();
  queue_.emplace_back();
  pending_bytes_ += bytes;
  return IOStatus::OK();
}

void BufferedLog::Fill(const LogPlace& place, const Slice& head, const Slice& tail) try {
  std::string bytes;
  bytes.reserve(head.size() + tail.size());
  bytes.append(head.data(), head.size()).append(tail.data(), tail.size());
  MutexLock lock(&mu_);
  Pending& pending = queue_[place.ticket - first_ticket_];
  pending.bytes = std::move(bytes);
  pending.filled = true;
  if (place.ticket == first_ticket_) changed_.SignalAll();
} catch (...) {
  // The place stays empty, so the log ends before it.
  MutexLock lock(&mu_);
  FailWith(status_to_io_status(CaughtException()));
}

void BufferedLog::FailWith(IOStatus error) {
  if (error_.ok()) error_ = std::move(error);
  changed_.SignalAll();
}

IOStatus BufferedLog::WaitWhole(const LogPlace& place) {
  MutexLock lock(&mu_);
  return WaitWritten(place.ticket);
}

IOStatus BufferedLog::WaitWritten(uint64_t ticket) {
  while (first_ticket_ <= ticket) {
    if (!error_.ok()) return error_;
    if (!writing_ && queue_.front().filled) {
      WriteFilled();
    } else {
      changed_.Wait();
    }
  }
  return IOStatus::OK();
}

// Appends the records from the front on that are complete. After a failure they stay in the queue:
// none of them, and nobody behind them, is told that it is written.
void BufferedLog::WriteFilled() {
  size_t count = 0;
  writing_ = true;
  IOStatus s = AddFilled(&count);
  writing_ = false;
  if (!s.ok()) return FailWith(std::move(s));
  for (size_t i = 0; i < count; i++) {
    pending_bytes_ -= queue_.front().bytes.size();
    queue_.pop_front();
  }
  first_ticket_ += count;
  changed_.SignalAll();
}

IOStatus BufferedLog::AddFilled(size_t* count) try {
  std::vector<Slice> records;
  for (const Pending& pending : queue_) {
    if (!pending.filled) break;
    records.emplace_back(pending.bytes);
  }
  *count = records.size();
  MutexUnlock unlock(&mu_);  // a deque's elements stay where they are while others are added
  return writer_->AddRecords(records.data(), records.size());
} catch (...) {
  return status_to_io_status(CaughtException());
}

IOStatus BufferedLog::AddTimestampSizes(const Slice& payload) {
  MutexLock lock(&mu_);
  if (!error_.ok()) return error_;
  VARVE_RETURN_IF_ERROR(WaitWritten(first_ticket_ + queue_.size() - 1));
  error_ = writer_->AddTimestampSizes(payload);
  return error_;
}

IOStatus BufferedLog::Flush() {
  {
    MutexLock lock(&mu_);
    if (!error_.ok()) return error_;
    VARVE_RETURN_IF_ERROR(WaitWritten(first_ticket_ + queue_.size() - 1));
  }
  IOStatus s = writer_->WriteBuffer();
  MutexLock lock(&mu_);
  if (!s.ok() && error_.ok()) error_ = s;
  return s;
}

IOStatus BufferedLog::Sync(bool use_fsync) {
  {
    MutexLock lock(&mu_);
    if (!error_.ok()) return error_;
    VARVE_RETURN_IF_ERROR(WaitWritten(first_ticket_ + queue_.size() - 1));
  }
  IOStatus s = writer_->Sync(use_fsync);
  MutexLock lock(&mu_);
  if (!s.ok() && error_.ok()) error_ = s;
  return s;
}

IOStatus BufferedLog::Seal() {
  IOStatus s = writer_->CutOff();
  MutexLock lock(&mu_);
  if (!s.ok() && error_.ok()) error_ = s;
  return s;
}

IOStatus BufferedLog::Close() {
  IOStatus s = Seal();
  IOStatus closed = writer_->Close();
  return s.ok() ? closed : s;
}

uint64_t BufferedLog::size() const {
  MutexLock lock(&mu_);
  return writer_->file_size() + pending_bytes_;
}

uint64_t BufferedLog::last_ticket() const {
  MutexLock lock(&mu_);
  return first_ticket_ + queue_.size() - 1;
}

bool BufferedLog::failed() const {
  MutexLock lock(&mu_);
  return !error_.ok();
}

}  // namespace varve::wal
