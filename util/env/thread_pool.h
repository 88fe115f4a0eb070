// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns a pool of background threads that run jobs in the order of their arrival.

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
// surplus after the jobs at hand. Thread-safe; jobs may call back into the pool. In a child of
// fork() a pool is as new: its threads and jobs were the parent's.
class ThreadPool final : private ForkWatch {
 public:
  using Function = void (*)(void* arg);

  // `name` (at most 8 characters) goes into the threads' names, `priority` into what they count of
  // their I/O. With limit 0 jobs only queue up.
  ThreadPool(std::string name, Env::Priority priority, int limit);
  // Runs the jobs that wait, then joins the threads.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Null `tag` cannot be unscheduled; `unschedule` may be null. Throws when there is no memory, or
  // no thread for it and none to come: then the job is not there.
  void Schedule(Function function, void* arg, void* tag, Function unschedule);
  // Removes the waiting jobs of `tag`, calls their unschedule functions without holding the lock,
  // and returns their number.
  int Unschedule(void* tag);

  // Negative counts as 0.
  void SetLimit(int limit);
  void RaiseLimit(int limit);
  int limit() const;
  size_t queue_length() const;

  // Of its threads, each from its next job on. Threads never go up again: what is set after a lower
  // priority is for those that start later.
  void LowerIoPriority();
  void LowerCpuPriority(CpuPriority priority);

  // Holds idle capacity back from jobs; returns how many threads that was possible for.
  int Reserve(int threads);
  // Returns how many were given back.
  int Release(int threads);

 private:
  struct Job {
    Function function;
    void* arg;
    void* tag;
    Function unschedule;
  };
  using Threads = std::list<std::thread>;
  // What one thread is to be, or has made itself.
  struct Priorities {
    CpuPriority cpu = CpuPriority::kNormal;
    bool idle_io = false;
  };

  // Throws when one cannot be had; those started before stay.
  void StartThreadsAsNeeded() VARVE_REQUIRES(mutex_);
  void Run(Threads::iterator self);
  static void Lower(Priorities* own, const Priorities& wanted);
  bool MayTakeJob() const VARVE_REQUIRES(mutex_);
  bool IsSurplus() const VARVE_REQUIRES(mutex_);
  // Joins threads that have ended; releases the lock meanwhile.
  void JoinEnded() VARVE_EXCLUDES(mutex_);

  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  const std::string name_;
  const Env::Priority priority_;
  mutable Mutex mutex_{lock_ranks::kThreadPool};
  CondVar work_{&mutex_};
  std::deque<Job> queue_ VARVE_GUARDED_BY(mutex_);
  Threads threads_ VARVE_GUARDED_BY(mutex_);
  // Have left the loop, wait to be joined.
  Threads ended_ VARVE_GUARDED_BY(mutex_);
  int limit_ VARVE_GUARDED_BY(mutex_);
  int idle_ VARVE_GUARDED_BY(mutex_) = 0;
  int reserved_ VARVE_GUARDED_BY(mutex_) = 0;
  bool closing_ VARVE_GUARDED_BY(mutex_) = false;
  Priorities wanted_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
