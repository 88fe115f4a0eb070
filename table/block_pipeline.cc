// SPDX-License-Identifier: Apache-2.0

// The ring, its threads, and who writes.

#include "table/block_pipeline.h"

#include <algorithm>
#include <string>

#include "varve/system_clock.h"

#include "table/format/block_handle.h"
#include "util/base/caught_exception.h"
#include "util/sync/give_way.h"

namespace varve {
namespace {

// Enough for a thread to sleep through many blocks before it is needed, little enough to stay in a
// core's cache.
constexpr uint64_t kRingBytes = 256 << 10;
constexpr size_t kSlotsMax = 128;

size_t SlotCount(size_t threads, uint64_t block_bytes) {
  const size_t wanted = static_cast<size_t>(kRingBytes / std::max<uint64_t>(block_bytes, 1));
  return std::max(std::min(wanted, kSlotsMax), 2 * threads + 2);
}

}  // namespace

BlockPipeline::BlockPipeline(BlockWriter* writer, const Slice& dictionary, size_t threads,
                             uint64_t block_bytes)
    : writer_(writer),
      dictionary_(dictionary),
      slots_(SlotCount(threads, block_bytes)),
      ring_bytes_(std::max(kRingBytes, (threads + 2) * block_bytes)),
      bytes_bound_(writer->offset()),
      file_bytes_(writer->offset()) {
  threads_.reserve(threads);
  try {
    for (size_t i = 0; i < threads; i++) {
      threads_.emplace_back([this, pace = GiveWay::CurrentPace()] {
        const GiveWay at_pace(pace, GiveWay::Part::kHelper);
        Work();
      });
    }
  } catch (...) {
    // The maker does what there is no thread for.
  }
}

BlockPipeline::~BlockPipeline() {
  {
    const MutexLock lock(&mu_);
    status_.UpdateIfOk(Status::Aborted("the table was given up"));
  }
  Stop();
}

uint64_t BlockPipeline::Stop() {
  {
    const MutexLock lock(&mu_);
    stop_ = true;
    work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const MutexLock lock(&mu_);
  return cpu_micros_;
}

Status BlockPipeline::Push(const Slice& raw) {
  MutexLock lock(&mu_);
  while (pushed_ - written_ == slots_.size() ||
         (pushed_ > written_ && waiting_bytes_ + raw.size() > ring_bytes_)) {
    HelpOrWait();
  }
  if (!status_.ok()) return status_;
  // A free slot is the maker's: it is filled without the lock.
  Slot& slot = SlotAt(pushed_);
  lock.Unlock();
  slot.raw.assign(raw.data(), raw.size());
  slot.raw.append(kBlockTrailerBytes, '\0');
  slot.bytes_max = slot.raw.size() + writer_->padding_max();
  slot.written = &results_.emplace_back();
  lock.Lock();
  pushed_++;
  waiting_bytes_ += slot.bytes_max;
  UpdateBound();
  // A thread that slept is woken for many blocks, not for each.
  if (idle_ > 0 &&
      (4 * (pushed_ - taken_) >= 3 * slots_.size() || 4 * waiting_bytes_ >= 3 * ring_bytes_)) {
    work_.Signal();
  }
  return Status::OK();
}

Status BlockPipeline::Drain(std::deque<Written>* written) {
  const MutexLock lock(&mu_);
  if (pushed_ - taken_ > 1) work_.SignalAll();
  while (written_ < pushed_) HelpOrWait();
  written->clear();
  written->swap(results_);
  UpdateBound();
  return status_;
}

void BlockPipeline::HelpOrWait() {
  if (taken_ < pushed_) {
    PackOne();
    return;
  }
  maker_waits_ = true;
  progress_.Wait();
  maker_waits_ = false;
}

void BlockPipeline::UpdateBound() {
  bytes_bound_ = file_bytes_ + waiting_bytes_;
}

void BlockPipeline::Work() {
  const MutexLock lock(&mu_);
  while (!stop_) {
    if (taken_ < pushed_) {
      PackOne();
    } else {
      idle_++;
      work_.Wait();
      idle_--;
    }
  }
  cpu_micros_ += SystemClock::Default()->CPUMicros();
}

void BlockPipeline::PackOne() {
  Slot& slot = SlotAt(taken_++);
  if (status_.ok()) {
    Status s;
    {
      const MutexUnlock unlocked(&mu_);
      s = Pack(&slot);
      GiveWay::Step();
    }
    status_.UpdateIfOk(s);
  }
  slot.done = true;
  if (!writing_) WriteReady();
}

// Whoever finds the oldest block packed writes it, and those behind it that are packed as well.
void BlockPipeline::WriteReady() {
  writing_ = true;
  while (written_ < taken_ && SlotAt(written_).done) {
    Slot& slot = SlotAt(written_);
    if (status_.ok()) {
      Status s;
      {
        const MutexUnlock unlocked(&mu_);
        s = Append(&slot);
      }
      status_.UpdateIfOk(s);
      file_bytes_ = writer_->offset();
    }
    waiting_bytes_ -= slot.bytes_max;
    slot.done = false;
    written_++;
    if (maker_waits_) progress_.Signal();
  }
  writing_ = false;
}

// What a file system or an allocator throws must not end a thread that nobody watches.
Status BlockPipeline::Pack(Slot* slot) {
  try {
    return writer_->Pack(slot->raw.data(), slot->raw.size() - kBlockTrailerBytes, dictionary_,
                         &slot->scratch, &slot->packed);
  } catch (...) {
    return CaughtException();
  }
}

Status BlockPipeline::Append(Slot* slot) {
  try {
    slot->written->raw_bytes = slot->raw.size() - kBlockTrailerBytes;
    slot->written->outcome = slot->packed.outcome;
    Status s = writer_->AppendData(slot->packed, &slot->written->handle);
    // The next block here may be one of the usual size again.
    if (slot->raw.capacity() + slot->scratch.capacity() > ring_bytes_) {
      slot->raw = std::string();
      slot->scratch = std::string();
    }
    return s;
  } catch (...) {
    return CaughtException();
  }
}

}  // namespace varve
