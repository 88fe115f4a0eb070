// SPDX-License-Identifier: Apache-2.0

// Implements the ring, its threads, and the finishing of items.

#include "util/sync/ordered_pipeline.h"

#include <utility>

#include "varve/system_clock.h"

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/sync/give_way.h"

namespace varve {

OrderedPipeline::OrderedPipeline(const Options& options, Stages stages)
    : options_(options), stages_(std::move(stages)), slots_(options.places) {
  VARVE_ASSERT(!options_.wake_late || stages_.prepare);
  threads_.reserve(options.threads);
  try {
    for (size_t i = 0; i < options.threads; i++) {
      threads_.emplace_back([this, pace = GiveWay::CurrentPace()] {
        const GiveWay at_pace(pace, GiveWay::Part::kHelper);
        Work();
      });
    }
  } catch (...) {
    // The owner does the work of missing threads.
  }
}

OrderedPipeline::~OrderedPipeline() {
  {
    const MutexLock lock(&mu_);
    status_.UpdateIfOk(Status::Aborted("the pipeline was given up"));
  }
  Stop();
}

uint64_t OrderedPipeline::Stop() {
  {
    const MutexLock lock(&mu_);
    VARVE_ASSERT(finished_ == pushed_ || !status_.ok());
    stop_ = true;
    work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const MutexLock lock(&mu_);
  return cpu_micros_;
}

Status OrderedPipeline::Wait(uint64_t weight, size_t* place) {
  const MutexLock lock(&mu_);
  while (pushed_ - finished_ == options_.places ||
         (pushed_ > finished_ && weight_on_way_ + weight > options_.weight_max)) {
    HelpOrWait();
  }
  *place = PlaceOf(pushed_);
  return status_;
}

void OrderedPipeline::Push(uint64_t weight) {
  const MutexLock lock(&mu_);
  VARVE_ASSERT(pushed_ - finished_ < options_.places);
  slots_[PlaceOf(pushed_)].weight = weight;
  pushed_++;
  weight_on_way_ += weight;
  SumWeights();
  if (idle_ > 0 && (!options_.wake_late || NearlyFull())) work_.Signal();
}

Status OrderedPipeline::Drain() {
  const MutexLock lock(&mu_);
  // Threads that wake_late has left asleep help now; a single item is left to this thread.
  if (pushed_ - taken_ > 1) work_.SignalAll();
  while (finished_ < pushed_) HelpOrWait();
  SumWeights();
  return status_;
}

bool OrderedPipeline::NearlyFull() const {
  return 4 * (pushed_ - taken_) >= 3 * options_.places ||
         weight_on_way_ >= options_.weight_max / 4 * 3;
}

void OrderedPipeline::HelpOrWait() {
  // If there is nothing to prepare, items only have to be finished, which one thread does at a
  // time: that is left to the pipeline's threads.
  const bool helps = threads_.empty() || stages_.prepare != nullptr;
  if (helps && taken_ < pushed_) {
    TakeOne();
    return;
  }
  owner_waits_ = true;
  progress_.Wait();
  owner_waits_ = false;
}

void OrderedPipeline::Work() {
  const MutexLock lock(&mu_);
  while (!stop_) {
    if (taken_ < pushed_) {
      TakeOne();
    } else {
      idle_++;
      work_.Wait();
      idle_--;
    }
  }
  cpu_micros_ += SystemClock::Default()->CPUMicros();
}

// Prepares one item. An exception of a stage becomes a status, because nothing else would catch it
// in the thread.
void OrderedPipeline::TakeOne() {
  VARVE_ASSERT(finished_ <= taken_ && taken_ < pushed_);
  const size_t place = PlaceOf(taken_++);
  VARVE_ASSERT(!slots_[place].prepared);
  if (stages_.prepare != nullptr && status_.ok()) {
    Status s;
    {
      const MutexUnlock unlocked(&mu_);
      s = Guarded([&] { return stages_.prepare(place); });
      GiveWay::Step();
    }
    status_.UpdateIfOk(s);
  }
  slots_[place].prepared = true;
  if (!finishing_) FinishReady();
}

// The thread that finds the oldest item prepared finishes it, and the prepared items after it.
void OrderedPipeline::FinishReady() {
  finishing_ = true;
  while (finished_ < taken_ && slots_[PlaceOf(finished_)].prepared) {
    const size_t place = PlaceOf(finished_);
    uint64_t weight = slots_[place].weight;
    if (status_.ok()) {
      Status s;
      {
        const MutexUnlock unlocked(&mu_);
        s = Guarded([&] { return stages_.finish(place, &weight); });
      }
      status_.UpdateIfOk(s);
    }
    VARVE_ASSERT(weight_on_way_ >= slots_[place].weight);
    weight_on_way_ -= slots_[place].weight;
    finished_weight_ += weight;
    slots_[place].prepared = false;
    finished_++;
    if (owner_waits_) progress_.Signal();
  }
  finishing_ = false;
}

}  // namespace varve
