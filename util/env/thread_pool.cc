// SPDX-License-Identifier: Apache-2.0

// Invariants, all under mutex_
// 1. idle_ counts threads of threads_ that wait for a job or were just started for one; the others
//    are busy. A job is taken only if the busy ones and the reserved ones leave room in the limit
//    (MayTakeJob), and a thread ends only if it is surplus (IsSurplus).
// 2. A started thread counts as idle until it takes a job, so that two calls of Schedule do not
//    start two threads for one job, and each waiting job up to the limit has a thread.
// 3. Jobs run without the mutex and may call the pool. Nothing is joined under it: a thread that
//    ends moves itself to ended_, and the next caller of Schedule or SetLimit joins it, or the
//    destructor.
// 4. The destructor runs the waiting jobs, with one thread at least, before it ends the threads.
//
// One condition variable serves all who wait: threads for a job or an end, the destructor for
// threads. That is why a thread which ends wakes all: the one that was signalled for a job may be
// the surplus one.

#include "util/env/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "varve/iostats_context.h"

#include "util/env/thread_priority.h"
#include "util/env/thread_registry.h"

namespace varve {

ThreadPool::ThreadPool(std::string name, Env::Priority priority, int limit)
    : name_(std::move(name)), priority_(priority), limit_(std::max(limit, 0)) {
  Watch(&mutex_);
}

// Runs what is queued, even with limit 0 or every thread reserved: the owner of a job waits for it.
// Threads end by IsSurplus and move themselves to ended_, from where they are joined without the
// mutex, which they still need for a moment.
ThreadPool::~ThreadPool() {
  Forget();
  MutexLock lock(&mutex_);
  closing_ = true;
  if (!queue_.empty()) {
    limit_ = std::max(limit_, 1);
    reserved_ = 0;
    StartThreadsAsNeeded();
  }
  work_.SignalAll();
  while (!threads_.empty() || !ended_.empty()) {
    if (ended_.empty()) {
      work_.Wait();
      continue;
    }
    Threads joining;
    joining.swap(ended_);
    lock.Unlock();
    for (std::thread& t : joining) t.join();
    lock.Lock();
  }
}

void ThreadPool::Schedule(Function function, void* arg, void* tag, Function unschedule) {
  {
    MutexLock lock(&mutex_);
    queue_.push_back(Job{function, arg, tag, unschedule});
    try {
      StartThreadsAsNeeded();
    } catch (...) {
      // Existing threads will run the job. If there are none, it would never run.
      if (threads_.empty() && limit_ > 0) {
        queue_.pop_back();
        throw;
      }
    }
    work_.Signal();
  }
  JoinEnded();
}

// A job that a thread has taken already is not found here, and runs. The unschedule functions are
// called without the mutex, as they may schedule jobs.
int ThreadPool::Unschedule(void* tag) {
  std::vector<Job> removed;
  {
    MutexLock lock(&mutex_);
    const auto keep_end =
        std::stable_partition(queue_.begin(), queue_.end(),
                              [tag](const Job& job) { return tag == nullptr || job.tag != tag; });
    removed.assign(keep_end, queue_.end());
    queue_.erase(keep_end, queue_.end());
  }
  for (const Job& job : removed) {
    if (job.unschedule != nullptr) job.unschedule(job.arg);
  }
  return static_cast<int>(removed.size());
}

void ThreadPool::SetLimit(int limit) {
  {
    MutexLock lock(&mutex_);
    limit_ = std::max(limit, 0);
    StartThreadsAsNeeded();
    work_.SignalAll();
  }
  JoinEnded();
}

void ThreadPool::RaiseLimit(int limit) {
  MutexLock lock(&mutex_);
  if (limit <= limit_) return;
  limit_ = limit;
  StartThreadsAsNeeded();
  work_.SignalAll();
}

int ThreadPool::limit() const {
  MutexLock lock(&mutex_);
  return limit_;
}

size_t ThreadPool::queue_length() const {
  MutexLock lock(&mutex_);
  return queue_.size();
}

void ThreadPool::LowerIoPriority() {
  MutexLock lock(&mutex_);
  wanted_.idle_io = true;
}

void ThreadPool::LowerCpuPriority(CpuPriority priority) {
  MutexLock lock(&mutex_);
  wanted_.cpu = priority;
}

// Lowers the thread's own priorities. If that is not allowed, the job runs all the same, and it is
// not tried again.
void ThreadPool::Lower(Priorities* own, const Priorities& wanted) {
  if (wanted.cpu < own->cpu) {
    (void)varve::LowerCpuPriority(wanted.cpu);
    own->cpu = wanted.cpu;
  }
  if (wanted.idle_io && !own->idle_io) {
    (void)varve::LowerIoPriority();
    own->idle_io = true;
  }
}

// Busy threads keep their jobs; only what they leave free can be reserved.
int ThreadPool::Reserve(int threads) {
  MutexLock lock(&mutex_);
  const int busy = static_cast<int>(threads_.size()) - idle_;
  const int free = std::max(limit_ - busy - reserved_, 0);
  const int granted = std::clamp(threads, 0, free);
  reserved_ += granted;
  return granted;
}

int ThreadPool::Release(int threads) {
  MutexLock lock(&mutex_);
  const int released = std::clamp(threads, 0, reserved_);
  reserved_ -= released;
  StartThreadsAsNeeded();
  work_.SignalAll();
  return released;
}

void ThreadPool::StartThreadsAsNeeded() {
  // Each waiting job should find a thread, up to the limit. The queue's length is capped so that it
  // fits an int.
  int missing = static_cast<int>(std::min<size_t>(queue_.size(), 1u << 20)) - idle_;
  while (missing > 0 && static_cast<int>(threads_.size()) < limit_) {
    threads_.emplace_back();
    const auto self = std::prev(threads_.end());
    try {
      *self = std::thread([this, self] { Run(self); });
    } catch (...) {
      threads_.pop_back();
      throw;
    }
    // The thread counts as idle until it takes a job, so that the next call does not start another
    // for it.
    ++idle_;
    --missing;
  }
}

bool ThreadPool::MayTakeJob() const {
  const int busy = static_cast<int>(threads_.size()) - idle_;
  return !queue_.empty() && busy + reserved_ < limit_;
}

bool ThreadPool::IsSurplus() const {
  return static_cast<int>(threads_.size()) > limit_ || (closing_ && queue_.empty());
}

void ThreadPool::Run(Threads::iterator self) {
  // Linux allows 15 characters; a failure harmlessly leaves the process name.
  (void)::pthread_setname_np(::pthread_self(), ("varve:" + name_).substr(0, 15).c_str());
  get_iostats_context()->thread_pool_id = static_cast<uint64_t>(priority_);
  const ListedThread listed(priority_);
  Priorities own;
  MutexLock lock(&mutex_);
  for (;;) {
    while (!MayTakeJob() && !IsSurplus()) work_.Wait();
    if (IsSurplus()) break;
    const Job job = queue_.front();
    queue_.pop_front();
    --idle_;
    const Priorities wanted = wanted_;
    lock.Unlock();
    Lower(&own, wanted);
    job.function(job.arg);
    lock.Lock();
    ++idle_;
  }
  --idle_;
  ended_.splice(ended_.end(), threads_, self);
  // Another thread may be surplus too, or take the job this one was woken for; a destructor waits.
  work_.SignalAll();
}

void ThreadPool::InChild() {
  // The parent's threads can be neither joined nor detached, and the condition variable still
  // counts its waiters: both are leaked.
  (void)std::make_unique<Threads>(std::move(threads_)).release();
  (void)std::make_unique<Threads>(std::move(ended_)).release();
  threads_.clear();
  ended_.clear();
  std::construct_at(&work_, &mutex_);
  queue_.clear();
  idle_ = 0;
  reserved_ = 0;
  closing_ = false;
}

void ThreadPool::JoinEnded() {
  Threads joining;
  {
    MutexLock lock(&mutex_);
    joining.swap(ended_);
  }
  // A pool thread may run this in a job, but never one that has ended.
  for (std::thread& t : joining) t.join();
}

}  // namespace varve
