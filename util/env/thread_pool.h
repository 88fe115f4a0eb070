// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a pool of background threads that run jobs in the order of their arrival.

#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "varve/env.h"

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// Threads start when a job finds none idle, up to the limit, and stay; a lower limit ends the
// surplus after their current jobs. Thread-safe; jobs may call back into the pool. In a child of
// fork() a pool is like new: its threads and jobs were the parent's.
class ThreadPool final : private ForkWatch {
 public:
  using Function = void (*)(void* arg);

  // `name` (at most 8 characters) is part of the threads' names; `priority` classifies their I/O
  // counts. With limit 0 jobs only queue up.
  ThreadPool(std::string name, Env::Priority priority, int limit);
  // Runs the waiting jobs, then joins the threads.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Adds a job. One with a null `tag` cannot be unscheduled; `unschedule` may be null. Throws,
  // without adding the job, if there is no memory, or no thread and none can start.
  void Schedule(Function function, void* arg, void* tag, Function unschedule);
  // Removes the waiting jobs of `tag`, calls their unschedule functions without holding the lock,
  // and returns their number.
  int Unschedule(void* tag);

  // Set the number of threads; RaiseLimit never lowers it. Waiting jobs get new threads at once; a
  // negative limit counts as 0.
  void SetLimit(int limit);
  void RaiseLimit(int limit);
  int limit() const;
  size_t queue_length() const;

  // Lower the priority of the pool's threads, each from its next job on. A thread's priority is
  // never raised again: a higher value set later applies to threads that start later.
  void LowerIoPriority();
  void LowerCpuPriority(CpuPriority priority);

  // Reserves idle capacity of the limit, which jobs then do not use; returns the number of threads
  // reserved.
  int Reserve(int threads);
  // Releases reserved threads; returns the number released.
  int Release(int threads);

 private:
  // A scheduled call, with the arguments of Schedule.
  struct Job {
    Function function;
    void* arg;
    void* tag;
    Function unschedule;
  };
  using Threads = std::list<std::thread>;
  // The wanted priorities, or those that a thread has set for itself.
  struct Priorities {
    CpuPriority cpu = CpuPriority::kNormal;
    bool idle_io = false;
  };

  // Throws if a thread cannot be started; those started before stay.
  void StartThreadsAsNeeded() VARVE_REQUIRES(mutex_);
  // Takes jobs until the pool closes or the thread is surplus.
  void Run(Threads::iterator self);
  // Gives the calling thread the wanted priorities, as far as they are lower than its own.
  static void Lower(Priorities* own, const Priorities& wanted);
  // True if a job waits, and running it would not use a reserved thread.
  bool MayTakeJob() const VARVE_REQUIRES(mutex_);
  // True if a thread should end: there are more than the limit, or the pool closes and no job is
  // left.
  bool IsSurplus() const VARVE_REQUIRES(mutex_);
  // Joins the threads that have ended, without holding the lock meanwhile.
  void JoinEnded() VARVE_EXCLUDES(mutex_);

  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  const std::string name_;
  const Env::Priority priority_;
  mutable Mutex mutex_{lock_ranks::kThreadPool};
  // Signalled when a job arrives, a limit changes, or the pool closes; and when a thread ends.
  CondVar work_{&mutex_};
  std::deque<Job> queue_ VARVE_GUARDED_BY(mutex_);
  Threads threads_ VARVE_GUARDED_BY(mutex_);
  // Threads that have left the loop and wait to be joined.
  Threads ended_ VARVE_GUARDED_BY(mutex_);
  int limit_ VARVE_GUARDED_BY(mutex_);
  // Threads that wait for a job, or were just started for one.
  int idle_ VARVE_GUARDED_BY(mutex_) = 0;
  int reserved_ VARVE_GUARDED_BY(mutex_) = 0;  // how many of the limit jobs may not use
  bool closing_ VARVE_GUARDED_BY(mutex_) = false;
  Priorities wanted_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
