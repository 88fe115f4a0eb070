// SPDX-License-Identifier: Apache-2.0

// The chunks' way round.

#include "db/compaction/entry_pipeline.h"

#include <utility>

#include "varve/system_clock.h"

#include "util/base/caught_exception.h"
#include "util/sync/give_way.h"

namespace varve {

EntryPipeline::EntryPipeline(Take take) : take_(std::move(take)) {
  try {
    thread_ = std::thread([this, pace = GiveWay::CurrentPace()] {
      const GiveWay at_pace(pace, GiveWay::Part::kHelper);
      Work();
    });
  } catch (...) {
    // No thread to be had: chunks are taken as they are handed over.
  }
}

EntryPipeline::~EntryPipeline() {
  {
    const MutexLock lock(&mu_);
    status_.UpdateIfOk(Status::Aborted("the compaction was given up"));
  }
  Stop();
}

uint64_t EntryPipeline::Stop() {
  {
    const MutexLock lock(&mu_);
    stop_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  const MutexLock lock(&mu_);
  return cpu_micros_;
}

bool EntryPipeline::HandOver() {
  const MutexLock lock(&mu_);
  handed_++;
  changed_.Signal();
  if (!thread_.joinable()) TakeOne();
  while (handed_ - taken_ == kChunks) changed_.Wait();
  filling_ = &chunks_[handed_ % kChunks];
  return status_.ok();
}

Status EntryPipeline::Sync() {
  if (!filling_->empty()) HandOver();
  const MutexLock lock(&mu_);
  while (taken_ < handed_) changed_.Wait();
  return status_;
}

void EntryPipeline::Work() {
  const MutexLock lock(&mu_);
  for (;;) {
    while (taken_ == handed_ && !stop_) changed_.Wait();
    if (taken_ == handed_) break;
    TakeOne();
  }
  cpu_micros_ = SystemClock::Default()->CPUMicros();
}

void EntryPipeline::TakeOne() {
  EntryChunk& chunk = chunks_[taken_ % kChunks];
  if (status_.ok()) {
    Status s;
    {
      const MutexUnlock unlocked(&mu_);
      s = TakeGuarded(chunk);
    }
    status_.UpdateIfOk(s);
  }
  chunk.Clear();
  taken_++;
  changed_.Signal();
}

// A user's comparator or file system may throw: in a thread of its own that would end the process.
Status EntryPipeline::TakeGuarded(const EntryChunk& chunk) {
  return Guarded([&] { return take_(chunk); });
}

}  // namespace varve
