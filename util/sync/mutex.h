// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a mutex that clang's analysis understands, its scoped guards, and a condition variable.
//
// Ranks prevent deadlocks between locks of the engine: all threads take ranked locks in ascending
// order, so no two threads can each wait for a lock that the other one holds.
//
//      rank      locks of
//      1000 +    db          taken first, as it calls the other layers
//      3000 +    table
//      4000 +    memtable
//      5000 +    util        taken last; nothing else is taken under them
//
// A debug build checks the order at each Lock, whether or not another thread holds the lock: one
// run of a test that takes two locks in the wrong order is enough to find the fault, without a
// deadlock. TryLock imposes no order, because it never waits.

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "util/sync/thread_annotations.h"

namespace varve {

// Position of a lock in the global order. A thread takes ranked locks in ascending order only;
// locks of rank kUnranked are outside the order.
using MutexRank = uint16_t;
inline constexpr MutexRank kUnranked = 0;

// First rank of each layer: code of a higher layer takes locks of lower layers while it holds its
// own. Each layer's lock_ranks.h orders its own locks.
inline constexpr MutexRank kDbRanks = 1000;
inline constexpr MutexRank kTableRanks = 3000;
inline constexpr MutexRank kMemtableRanks = 4000;
inline constexpr MutexRank kUtilRanks = 5000;

namespace lock_checks {

#ifdef NDEBUG
inline constexpr bool kEnabled = false;
#else
inline constexpr bool kEnabled = true;
#endif

// Record the locks that this thread holds, for the order check; called in debug builds only. A
// violation prints its details and aborts.
void BeforeLock(const void* lock, MutexRank rank);
void AfterLock(const void* lock, MutexRank rank);
void AfterUnlock(const void* lock);
void AssertHeld(const void* lock);

}  // namespace lock_checks

// A mutual exclusion lock. Not recursive.
//
// Debug builds abort if a thread takes a ranked Mutex while it holds one of equal or higher rank,
// takes one twice, or unlocks one that it does not hold.
class VARVE_CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(MutexRank rank = kUnranked) : rank_(rank) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Waits until the lock is free, and takes it.
  void Lock() VARVE_ACQUIRE() {
    if constexpr (lock_checks::kEnabled) lock_checks::BeforeLock(this, rank_);
    mu_.lock();
    if constexpr (lock_checks::kEnabled) lock_checks::AfterLock(this, rank_);
  }

  // Takes the lock only if that needs no waiting; imposes no order.
  [[nodiscard]] bool TryLock() VARVE_TRY_ACQUIRE(true) {
    if (!mu_.try_lock()) return false;
    if constexpr (lock_checks::kEnabled) lock_checks::AfterLock(this, rank_);
    return true;
  }

  // Releases the lock, which the calling thread must hold.
  void Unlock() VARVE_RELEASE() {
    if constexpr (lock_checks::kEnabled) lock_checks::AfterUnlock(this);
    mu_.unlock();
  }

  // Tells the analysis that the lock is held; debug builds verify it.
  void AssertHeld() const VARVE_ASSERT_CAPABILITY(this) {
    if constexpr (lock_checks::kEnabled) lock_checks::AssertHeld(this);
  }

 private:
  friend class CondVar;
  friend struct ForkWatches;  // Holds more of them than the checks support.

  std::mutex mu_;
  // Position in the global order; checked in debug builds only.
  const MutexRank rank_;
};

// Holds a Mutex while it lives; Unlock() releases it early and Lock() takes it again.
class VARVE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mu) VARVE_ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() VARVE_RELEASE() {
    if (held_) mu_->Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() VARVE_RELEASE() {
    held_ = false;
    mu_->Unlock();
  }
  void Lock() VARVE_ACQUIRE() {
    mu_->Lock();
    held_ = true;
  }

 private:
  Mutex* const mu_;
  bool held_ = true;
};

// Releases a Mutex that the caller holds while this object lives, for I/O or callbacks in the
// middle of a locked function.
class MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mu) VARVE_NO_THREAD_SAFETY_ANALYSIS : mu_(mu) { mu_->Unlock(); }
  ~MutexUnlock() VARVE_NO_THREAD_SAFETY_ANALYSIS { mu_->Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex* const mu_;
};

// A condition variable bound to one Mutex. Wakeups may be spurious: wait in a loop.
//
// Thread safety: Wait and WaitFor require the Mutex; Signal and SignalAll may be called with or
// without it. Lifetime: the Mutex outlives the CondVar.
class CondVar {
 public:
  explicit CondVar(Mutex* mu) : mu_(mu) {}
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases the mutex, sleeps until signalled, and takes the mutex again.
  void Wait();
  // Like Wait, for at most `micros`; returns false if the time ran out. Uses the monotonic clock.
  bool WaitFor(uint64_t micros);
  // Wake one waiter, or all.
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
  Mutex* const mu_;
};

}  // namespace varve
