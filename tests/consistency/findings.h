// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects findings of any thread. The first finding stops the run.

#include <atomic>
#include <string>

#include "varve/status.h"

#include "util/sync/mutex.h"

namespace varve::testing {

// Thread-safe.
class Findings {
 public:
  void Report(const std::string& what) {
    MutexLock lock(&mutex_);
    count_.fetch_add(1, std::memory_order_relaxed);
    if (first_.empty()) first_ = what;
  }
  // Adds a finding if a call that must succeed has failed.
  void Expect(const Status& status, const char* call) {
    if (!status.ok()) Report(std::string(call) + ": " + status.ToString());
  }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  bool any() const { return count() != 0; }
  std::string first() const {
    MutexLock lock(&mutex_);
    return first_;
  }

 private:
  // Relaxed: threads poll it to stop early.
  std::atomic<uint64_t> count_{0};
  mutable Mutex mutex_;
  std::string first_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::testing
