// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_segments.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/aligned_buffer.h"

namespace varve::wal {

size_t LogSegments::BytesAt(uint64_t offset) {
  return static_cast<size_t>(std::clamp<uint64_t>(offset, kFirstBytes, kLargestBytes));
}

IOStatus LogSegments::Make(uint64_t offset, uint64_t unmapped,
                           std::unique_ptr<LogSegment>* segment) try {
  auto made = std::make_unique<LogSegment>();
  made->begin = offset;
  IOStatus s;
  if (unmapped != 0) {
    made->bytes = static_cast<size_t>(RoundUp(unmapped, MappedFile::kUnit));
  } else {
    made->bytes = BytesAt(offset);
    s = file_->Map(offset, made->bytes, &made->base);
  }
  if (s.ok()) *segment = std::move(made);
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

// A segment that was prepared ahead comes first, even if an unmapped one is asked for, since
// segments follow each other without a gap.
IOStatus LogSegments::Take(uint64_t unmapped, std::unique_ptr<LogSegment>* segment) {
  MutexLock lock(&mu_);
  // The other thread is mapping just the segment that is wanted.
  while (asked_) changed_.Wait();
  VARVE_ASSERT(!stop_);
  if (ready_ != nullptr) {
    *segment = std::move(ready_);
  } else {
    // No segment was prepared, or that failed: now the error is returned.
    IOStatus s = Make(next_offset_, unmapped, segment);
    if (!s.ok()) return s;
  }
  VARVE_ASSERT((*segment)->begin == next_offset_);
  VARVE_ASSERT((*segment)->bytes % MappedFile::kUnit == 0);
  next_offset_ = (*segment)->end();
  if (unmapped == 0 && BytesAt(next_offset_) >= kAheadBytes) AskAhead();
  return IOStatus::OK();
}

void LogSegments::AskAhead() {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { WorkAhead(); });
    } catch (...) {
      return;  // No thread can be started: segments are mapped when needed.
    }
  }
  asked_ = true;
  changed_.SignalAll();
}

// Maps the next segment and unmaps old ones, both of which take long, so that writers find a
// segment ready.
void LogSegments::WorkAhead() {
  MutexLock lock(&mu_);
  for (;;) {
    while (!asked_ && !stop_) changed_.Wait();
    if (stop_) break;
    const uint64_t offset = next_offset_;
    const std::vector<std::unique_ptr<LogSegment>> left = std::move(left_);
    left_.clear();
    lock.Unlock();
    std::unique_ptr<LogSegment> made;
    // The thread that needs the segment meets the failure again, and reports it.
    Make(offset, /*unmapped=*/0, &made).PermitUncheckedError();
    lock.Lock();
    ready_ = std::move(made);
    asked_ = false;
    changed_.SignalAll();
    // No thread waits for the unmapping, so it comes last.
    lock.Unlock();
    for (const auto& segment : left) Unmap(*segment);
    lock.Lock();
  }
  asked_ = false;
}

void LogSegments::Return(std::unique_ptr<LogSegment> segment) {
  // Unmapping takes long, so the thread that works ahead does it, if there is one.
  if (segment->base == nullptr || !thread_.joinable()) return Unmap(*segment);
  MutexLock lock(&mu_);
  try {
    left_.push_back(std::move(segment));
  } catch (...) {
    Unmap(*segment);
  }
}

// Waits until the thread has finished what it maps; the segment that it made is unmapped here.
void LogSegments::Stop() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  MutexLock lock(&mu_);
  for (const auto& segment : left_) Unmap(*segment);
  left_.clear();
  if (ready_ != nullptr) Unmap(*ready_);
  ready_.reset();
}

}  // namespace varve::wal
