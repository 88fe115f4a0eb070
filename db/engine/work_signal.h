// SPDX-License-Identifier: Apache-2.0
#pragma once

// The condition that calls and jobs wait for under the DB mutex: a job has ended, an error was set
// or lifted, or a stall may have ended.

#include <atomic>
#include <cstdint>

#include "db/db_mutex.h"

namespace varve {

// One condition for all changes of background work under the DB mutex. Changes are rare, so each
// waiter wakes at all of them and looks if its own has come.
class WorkSignal {
 public:
  explicit WorkSignal(DbMutex* mu) : changed_(mu) {}
  WorkSignal(const WorkSignal&) = delete;
  WorkSignal& operator=(const WorkSignal&) = delete;

  // Wakes all waiters. Must be called under the DB mutex, after a change that one of them may wait
  // for.
  void SignalAll() { changed_.SignalAll(); }

  // Wait until SignalAll is called, or for at most `micros`; they release the mutex meanwhile. They
  // may return without a change, so the caller asks for its condition again.
  void Wait() VARVE_REQUIRES(kDbMutex) {
    const PerfTimer<&PerfContext::db_condition_wait_nanos, kEnableTime> timer;
    changed_.Wait();
  }
  void WaitFor(uint64_t micros) VARVE_REQUIRES(kDbMutex) {
    const PerfTimer<&PerfContext::db_condition_wait_nanos, kEnableTime> timer;
    changed_.WaitFor(micros);
  }

  // Must be called instead of Wait and WaitFor by a caller that needs the result of a flush or
  // compaction: IsAwaited is true meanwhile, and such work then does not slow itself down
  // (db/background/work_paces.h).
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
  // True if a thread waits in AwaitWork or AwaitWorkFor. Any thread may ask.
  bool IsAwaited() const { return waiting_calls_.load(std::memory_order_relaxed) > 0; }

 private:
  // Belongs to the DB mutex.
  CondVar changed_;
  std::atomic<int> waiting_calls_{0};  // publishes no other data
};

}  // namespace varve
