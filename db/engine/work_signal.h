// SPDX-License-Identifier: Apache-2.0
#pragma once

// The condition that calls and jobs wait for under the DB mutex: a job has ended, an error was set
// or lifted, or a stall may have ended.

#include <atomic>
#include <cstdint>

#include "db/db_mutex.h"

namespace varve {

class WorkSignal {
 public:
  explicit WorkSignal(DbMutex* mu) : changed_(mu) {}
  WorkSignal(const WorkSignal&) = delete;
  WorkSignal& operator=(const WorkSignal&) = delete;

  void SignalAll() { changed_.SignalAll(); }

  void Wait() VARVE_REQUIRES(kDbMutex) {
    const PerfTimer<&PerfContext::db_condition_wait_nanos, kEnableTime> timer;
    changed_.Wait();
  }
  void WaitFor(uint64_t micros) VARVE_REQUIRES(kDbMutex) {
    const PerfTimer<&PerfContext::db_condition_wait_nanos, kEnableTime> timer;
    changed_.WaitFor(micros);
  }

  // Like Wait and WaitFor, for calls that wait for background work, which then does not yield.
  void AwaitWork() VARVE_REQUIRES(kDbMutex) {
    waiting_calls_.fetch_add(1, std::memory_order_relaxed);
    Wait();
    waiting_calls_.fetch_sub(1, std::memory_order_relaxed);
  }
  void AwaitWorkFor(uint64_t micros) VARVE_REQUIRES(kDbMutex) {
    waiting_calls_.fetch_add(1, std::memory_order_relaxed);
    WaitFor(micros);
    waiting_calls_.fetch_sub(1, std::memory_order_relaxed);
  }
  // True if such a call waits. Any thread.
  bool IsAwaited() const { return waiting_calls_.load(std::memory_order_relaxed) > 0; }

 private:
  CondVar changed_;
  std::atomic<int> waiting_calls_{0};  // publishes no other data
};

}  // namespace varve
