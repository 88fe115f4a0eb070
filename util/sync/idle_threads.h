// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the runnable threads of the machine that run only when no other thread wants a processor.
// cpu_demand.h subtracts them from all that are runnable: background work yields to threads that
// wait for a processor, but not to these, which themselves run only on an idle processor.
//
// The kernel has no such number, so the table of processes is read, a few of them at a time: a pass
// over 300 processes takes half a second, and its result stands until the next pass ends.

#include <dirent.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// One line of /proc/<process>/stat or /proc/<process>/task/<thread>/stat.
struct ThreadStat {
  bool runnable = false;
  bool idle_priority = false;  // SCHED_IDLE, or a nice value of 10 or more
  size_t threads = 0;          // of the process

  // False if the text is malformed.
  bool Parse(const char* text) noexcept;
};

// Counts the idle threads of a machine, pass by pass. Thread safety: all methods may be called from
// any thread.
class IdleThreads {
 public:
  // Returns the counter of this machine, which is never destroyed.
  static IdleThreads& OfMachine();

  // Requires that the name outlives this. `proc` is a mounted procfs.
  explicit IdleThreads(const char* proc) : proc_(proc) {}
  ~IdleThreads();
  IdleThreads(const IdleThreads&) = delete;
  IdleThreads& operator=(const IdleThreads&) = delete;

  // Returns the result of the last whole pass, 0 before. Goes on with the pass if that has rested
  // for long enough and no other thread does it.
  size_t Count() noexcept;

  // Goes on with the pass by one step. Returns true if that ended it.
  bool Step() noexcept;

 private:
  // Does what Step does, with the lock held.
  bool StepLocked() noexcept VARVE_REQUIRES(mu_);
  // Returns the number of runnable threads of idle priority of a process; 0 if the first thread of
  // the process has another priority. `process` is its id as text.
  size_t RunnableOf(const char* process) const noexcept;

  const char* const proc_;
  std::atomic<size_t> count_{0};              // The result of the last whole pass.
  std::atomic<uint64_t> next_step_nanos_{0};  // On the monotonic clock.
  // No thread waits for it. A child of fork() that finds it taken keeps its parent's last result.
  Mutex mu_{lock_ranks::kIdleThreads};
  // The position of the pass in `proc_`; null before the first. Owned.
  DIR* processes_ VARVE_GUARDED_BY(mu_) = nullptr;
  size_t so_far_ VARVE_GUARDED_BY(mu_) = 0;  // Threads that this pass has counted.
};

}  // namespace varve
