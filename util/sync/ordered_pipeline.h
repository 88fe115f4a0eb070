// SPDX-License-Identifier: Apache-2.0
#pragma once

// An ordered pipeline: a ring of items that threads prepare side by side and that are finished one
// at a time, in the order in which they came in. What fills the ring goes on meanwhile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "varve/status.h"

#include "util/sync/mutex.h"

namespace varve {

// The items are the owner's, in an array: the pipeline knows them by their place in it. An item
// belongs to the owner from Wait to Push, then to the thread that prepares it, then to the one that
// finishes it, and after that to the owner again; the lock of the pipeline passes it on.
//
// Thread safety: one thread, the owner, calls everything. Errors: the first one in time of a stage,
// or what it threw, stays; items that come after it are not worked on.
class OrderedPipeline {
 public:
  struct Options {
    size_t threads = 1;  // as many as the system gives; without any the owner does the work
    size_t places = 2;   // length of the ring
    // So much may be on its way; one item may have more.
    uint64_t weight_max = UINT64_MAX;
    // With `prepare`: a thread that sleeps is woken when the ring is nearly full, not for each
    // item, as the owner lends a hand at the end.
    bool wake_late = false;
  };
  // Both run without the lock.
  struct Stages {
    // Beside those of other items. Null: there is nothing to prepare. With it the owner lends a
    // hand while it has to wait.
    std::function<Status(size_t place)> prepare;
    // In order, one at a time. *weight is the item's, and becomes what it turned out to be.
    std::function<Status(size_t place, uint64_t* weight)> finish;
  };

  OrderedPipeline(const Options& options, Stages stages);
  // Drops what is not finished.
  ~OrderedPipeline();
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  // Waits until the next place is free, its last item being finished, and `weight` more may come.
  Status Wait(uint64_t weight, size_t* place) VARVE_EXCLUDES(mu_);
  // Hands the item in that place over.
  void Push(uint64_t weight) VARVE_EXCLUDES(mu_);
  // Waits until every item is finished.
  Status Drain() VARVE_EXCLUDES(mu_);
  // Ends the threads, after Drain. Returns their processor time in microseconds.
  uint64_t Stop() VARVE_EXCLUDES(mu_);

  // Of all items so far, as of the last Push or Drain.
  [[nodiscard]] uint64_t total_weight() const { return total_weight_; }

 private:
  struct Slot {
    uint64_t weight = 0;
    bool prepared = false;  // or given up
  };

  [[nodiscard]] size_t PlaceOf(uint64_t item) const {
    return static_cast<size_t>(item % options_.places);
  }
  void Work() VARVE_EXCLUDES(mu_);
  void HelpOrWait() VARVE_REQUIRES(mu_);
  void TakeOne() VARVE_REQUIRES(mu_);
  void FinishReady() VARVE_REQUIRES(mu_);
  [[nodiscard]] bool NearlyFull() const VARVE_REQUIRES(mu_);
  void SumWeights() VARVE_REQUIRES(mu_) { total_weight_ = finished_weight_ + weight_on_way_; }

  const Options options_;
  const Stages stages_;
  std::vector<std::thread> threads_;
  uint64_t total_weight_ = 0;  // the owner's

  Mutex mu_;
  CondVar work_{&mu_};      // to the threads: items wait, or stop_
  CondVar progress_{&mu_};  // to the owner: an item is finished
  // Items are numbered; each counter says how many have come that far: the ring holds
  // [finished_, pushed_), and [taken_, pushed_) wait for a thread.
  uint64_t pushed_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t taken_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t finished_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t weight_on_way_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t finished_weight_ VARVE_GUARDED_BY(mu_) = 0;
  std::vector<Slot> slots_ VARVE_GUARDED_BY(mu_);
  bool finishing_ VARVE_GUARDED_BY(mu_) = false;  // some thread is in FinishReady
  bool owner_waits_ VARVE_GUARDED_BY(mu_) = false;
  size_t idle_ VARVE_GUARDED_BY(mu_) = 0;  // threads that wait for work
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
  uint64_t cpu_micros_ VARVE_GUARDED_BY(mu_) = 0;  // of the threads that have ended
  Status status_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
