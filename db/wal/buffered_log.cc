// SPDX-License-Identifier: Apache-2.0

// Records wait in a queue, in the order of their reservation, until they are filled. A writer that
// waits for its record and finds nobody writing appends all filled records from the head on,
// without the mutex, and wakes the others: one append for a group of writers. The first record that
// is not filled ends the group, since the file must be a prefix of the order at any moment.
//
// A failed append leaves the end of the file unknown. The error is kept, every later call returns
// it, and the database begins another log.

#include "db/wal/buffered_log.h"

#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve::wal {

BufferedLog::BufferedLog(std::unique_ptr<LogWriter> writer)
    : writer_(std::move(writer)), written_bytes_(writer_->file_size()) {}

BufferedLog::~BufferedLog() = default;

IOStatus BufferedLog::Reserve(size_t bytes, LogReservation* place) {
  MutexLock lock(&mu_);
  if (!error_.ok()) return error_;
  place->log = this;
  place->bytes = bytes;
  queue_.emplace_back();
  place->ticket = LastTicket();
  return IOStatus::OK();
}

void BufferedLog::Fill(const LogReservation& place, const Slice& head, const Slice& tail) try {
  std::string bytes;
  bytes.reserve(head.size() + tail.size());
  bytes.append(head.data(), head.size()).append(tail.data(), tail.size());
  MutexLock lock(&mu_);
  VARVE_ASSERT(place.log == this);
  VARVE_ASSERT(place.ticket >= first_ticket_ && place.ticket <= LastTicket());
  VARVE_ASSERT(bytes.size() == place.bytes);
  Pending& pending = queue_[place.ticket - first_ticket_];
  VARVE_ASSERT(!pending.filled);
  pending.bytes = std::move(bytes);
  pending.filled = true;
  // Places are written in order, so only the first one can let a waiting writer go on.
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

IOStatus BufferedLog::WaitWhole(const LogReservation& place) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(place.ticket <= LastTicket());
  return WaitWritten(place.ticket);
}

IOStatus BufferedLog::WaitAllWritten() {
  if (!error_.ok()) return error_;
  return WaitWritten(LastTicket());
}

IOStatus BufferedLog::WaitWritten(uint64_t ticket) {
  while (first_ticket_ <= ticket) {
    if (!error_.ok()) return error_;
    // A thread that waits and finds work does it, for all complete records at the front.
    if (!writing_ && queue_.front().filled) {
      WriteFilled();
    } else {
      changed_.Wait();
    }
  }
  return IOStatus::OK();
}

// Appends the complete records at the front. After a failure they stay in the queue: neither they
// nor later records are reported as written.
void BufferedLog::WriteFilled() {
  VARVE_ASSERT(!writing_);
  size_t count = 0;
  writing_ = true;
  IOStatus s = AddFilled(&count);
  writing_ = false;
  if (!s.ok()) return FailWith(std::move(s));
  VARVE_ASSERT(count > 0 && count <= queue_.size());
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  Passed(count);
  changed_.SignalAll();
}

// Requires that no thread appends at this moment, so that the file's size is the records' end.
void BufferedLog::Passed(size_t count) {
  first_ticket_ += count;
  VARVE_ASSERT(writer_->file_size() >= written_bytes_);
  written_bytes_ = writer_->file_size();
}

IOStatus BufferedLog::AddFilled(size_t* count) try {
  std::vector<Slice> records;
  for (const Pending& pending : queue_) {
    if (!pending.filled) break;
    records.emplace_back(pending.bytes);
  }
  *count = records.size();
  MutexUnlock unlock(&mu_);  // Adding to a deque does not move its elements.
  return writer_->AddRecords(records.data(), records.size());
} catch (...) {
  return status_to_io_status(CaughtException());
}

// A failure of the file leaves its end unknown, so it is the log's from then on.
template <typename Step>
IOStatus BufferedLog::Latched(Step step) {
  IOStatus s;
  try {
    s = step();
  } catch (...) {
    s = status_to_io_status(CaughtException());
  }
  if (s.ok()) return s;
  MutexLock lock(&mu_);
  FailWith(s);
  return s;
}

// Writes the record past the queue, which is empty and stays so: the caller keeps other threads
// from reserving. The record uses up a ticket of its own, as it needs a sync.
IOStatus BufferedLog::AddTimestampSizes(const Slice& payload) {
  {
    MutexLock lock(&mu_);
    VARVE_RETURN_IF_ERROR(WaitAllWritten());
    VARVE_ASSERT(queue_.empty());
  }
  VARVE_RETURN_IF_ERROR(Latched([&] { return writer_->AddTimestampSizes(payload); }));
  MutexLock lock(&mu_);
  Passed(1);
  return IOStatus::OK();
}

IOStatus BufferedLog::Flush() {
  {
    MutexLock lock(&mu_);
    VARVE_RETURN_IF_ERROR(WaitAllWritten());
  }
  return Latched([&] { return writer_->WriteBuffer(); });
}

// Records added meanwhile may be in the file partly; they are not counted.
IOStatus BufferedLog::HandOver(uint64_t* end) {
  uint64_t written = 0;
  {
    MutexLock lock(&mu_);
    VARVE_RETURN_IF_ERROR(WaitAllWritten());
    written = written_bytes_;
  }
  VARVE_RETURN_IF_ERROR(Latched([&] { return writer_->WriteBuffer(); }));
  *end = written;
  return IOStatus::OK();
}

// The sync covers whatever is written before it begins, which may be more than was reserved at the
// call.
IOStatus BufferedLog::Sync(bool use_fsync, LogExtent* covered) {
  LogExtent written;
  {
    MutexLock lock(&mu_);
    VARVE_RETURN_IF_ERROR(WaitAllWritten());
    written = LogExtent{first_ticket_ - 1, written_bytes_};
  }
  VARVE_RETURN_IF_ERROR(Latched([&] { return writer_->Sync(use_fsync); }));
  *covered = written;
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (VARVE_CANARY(kSyncCoversLater)) {
    MutexLock lock(&mu_);
    *covered = LogExtent{LastTicket(), written_bytes_};
  }
  return IOStatus::OK();
}

// The new end of a recycled log becomes durable by a sync, like a record.
IOStatus BufferedLog::Seal() {
  if (!writer_->recyclable()) return IOStatus::OK();
  VARVE_RETURN_IF_ERROR(Latched([&] { return writer_->CutOff(); }));
  MutexLock lock(&mu_);
  Passed(1);
  return IOStatus::OK();
}

IOStatus BufferedLog::Close() {
  IOStatus s = Seal();
  IOStatus closed = writer_->Close();
  return s.ok() ? closed : s;
}

uint64_t BufferedLog::size() const {
  MutexLock lock(&mu_);
  return written_bytes_;
}

uint64_t BufferedLog::held_back() const {
  MutexLock lock(&mu_);
  return writer_->held_back();
}

uint64_t BufferedLog::last_ticket() const {
  MutexLock lock(&mu_);
  return LastTicket();
}

bool BufferedLog::failed() const {
  MutexLock lock(&mu_);
  return !error_.ok();
}

}  // namespace varve::wal
