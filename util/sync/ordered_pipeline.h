// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines an ordered pipeline: a ring of items that threads prepare concurrently and that are
// finished one at a time, in the order in which they were pushed. The owner fills the ring
// meanwhile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "varve/status.h"

#include "util/sync/mutex.h"

namespace varve {

// The items are in an array of the owner: the pipeline identifies them by their index. An item
// belongs to the owner from Wait to Push, then to the thread that prepares it, then to the one that
// finishes it, and after that to the owner again; the pipeline's lock orders these.
//
// Thread safety: one thread, the owner, calls everything. Errors: the first error or exception of a
// stage is kept; later items are not processed.
class OrderedPipeline {
 public:
  struct Options {
    size_t threads = 1;  // The system may provide fewer; without any the owner does the work.
    size_t places = 2;   // Length of the ring.
    // Largest total weight in the ring; a single item may weigh more.
    uint64_t weight_max = UINT64_MAX;
    // Applies with `prepare`: a sleeping thread is woken when the ring is nearly full, not for each
    // item, because the owner helps at the end.
    bool wake_late = false;
  };
  // Both stages run without the lock.
  struct Stages {
    // Runs concurrently for several items. Null if there is nothing to prepare. If set, the owner
    // prepares items while it has to wait.
    std::function<Status(size_t place)> prepare;
    // Runs in order, one item at a time. *weight is the weight that the item was pushed with; the
    // stage replaces it by the actual one.
    std::function<Status(size_t place, uint64_t* weight)> finish;
  };

  OrderedPipeline(const Options& options, Stages stages);
  // Drops unfinished items.
  ~OrderedPipeline();
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  // Waits until the next place is free, its last item being finished, and there is room for
  // `weight`. Sets *place to it, and returns the first error of the stages so far, after which the
  // owner need not go on.
  Status Wait(uint64_t weight, size_t* place) VARVE_EXCLUDES(mu_);
  // Pushes the item in the place that the last Wait has set.
  void Push(uint64_t weight) VARVE_EXCLUDES(mu_);
  // Waits until every item is finished, and returns the first error of the stages.
  Status Drain() VARVE_EXCLUDES(mu_);
  // Ends the threads. Returns their processor time in microseconds. Requires a preceding Drain.
  uint64_t Stop() VARVE_EXCLUDES(mu_);

  // Returns the weight of all items pushed so far, as of the last Push or Drain; finished items
  // count with their actual weight.
  [[nodiscard]] uint64_t total_weight() const { return total_weight_; }

 private:
  // An item in the ring.
  struct Slot {
    uint64_t weight = 0;
    bool prepared = false;  // Also set if it was given up.
  };

  [[nodiscard]] size_t PlaceOf(uint64_t item) const {
    return static_cast<size_t>(item % options_.places);
  }
  // The loop of a thread.
  void Work() VARVE_EXCLUDES(mu_);
  // Called by the owner when it has to wait: prepares an item, or sleeps.
  void HelpOrWait() VARVE_REQUIRES(mu_);
  // Prepares the next item that waits, without the lock.
  void TakeOne() VARVE_REQUIRES(mu_);
  // Finishes prepared items in order, without the lock. Called only if no other thread does that.
  void FinishReady() VARVE_REQUIRES(mu_);
  // True if sleeping threads should be woken.
  [[nodiscard]] bool NearlyFull() const VARVE_REQUIRES(mu_);
  void SumWeights() VARVE_REQUIRES(mu_) { total_weight_ = finished_weight_ + weight_on_way_; }

  const Options options_;
  const Stages stages_;
  std::vector<std::thread> threads_;
  uint64_t total_weight_ = 0;  // Used by the owner only.

  Mutex mu_;
  CondVar work_{&mu_};      // Signals the threads: items wait, or stop_.
  CondVar progress_{&mu_};  // Signals the owner: an item is finished.
  // Items are numbered, and each counter is the number of items that have reached a stage: the ring
  // holds [finished_, pushed_), and [taken_, pushed_) wait for a thread.
  uint64_t pushed_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t taken_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t finished_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t weight_on_way_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t finished_weight_ VARVE_GUARDED_BY(mu_) = 0;
  std::vector<Slot> slots_ VARVE_GUARDED_BY(mu_);
  bool finishing_ VARVE_GUARDED_BY(mu_) = false;  // True while a thread is in FinishReady.
  bool owner_waits_ VARVE_GUARDED_BY(mu_) = false;
  size_t idle_ VARVE_GUARDED_BY(mu_) = 0;  // Number of threads that wait for work.
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
  uint64_t cpu_micros_ VARVE_GUARDED_BY(mu_) = 0;  // Time of the threads that have ended.
  Status status_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
