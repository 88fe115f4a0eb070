// SPDX-License-Identifier: Apache-2.0
#pragma once

// The DB mutex: one for each open database, and shared by the many classes whose state it guards.
//
// Each of them reaches the mutex by a pointer of its own, and clang's analysis cannot know that
// these pointers are equal. So for the analysis there is one capability, kDbMutex, that stands for
// the mutex of whichever database; that it is the right one is checked in debug builds, by
// AssertHeld.
//
// Nothing waits for a device while it holds the mutex, and no listener is called. A user's
// comparator or partitioner may be, so these must not call the database; the mutex notices when
// they do.

#include <atomic>

#include "db/active_work.h"
#include "db/lock_ranks.h"
#include "util/metrics/perf_counters.h"
#include "util/sync/mutex.h"

namespace varve {

class Statistics;

// Stands for the DB mutex of whichever database is meant, in annotations of code that has no mutex
// object at hand.
struct VARVE_CAPABILITY("DB mutex") DbMutexCapability {};
inline constexpr DbMutexCapability kDbMutex;

class DbMutex final : public Mutex {
 public:
  DbMutex() : Mutex(lock_ranks::kDbMutex) {}

  // From now on also adds the time of waits for the mutex to `statistics`, if their level asks for
  // it; null: no statistics. They must outlive the mutex. PerfContext counts waits in any case.
  void CountWaits(Statistics* statistics) {
    statistics_.store(statistics, std::memory_order_relaxed);
  }
  // Throws where the thread holds it already: a function of a user's that was called under it, as a
  // comparator may be, calls the database.
  void Lock() VARVE_ACQUIRE(kDbMutex) VARVE_NO_THREAD_SAFETY_ANALYSIS {
    if (active_work::mutex == this) [[unlikely]]
      throw RefusedCall{HeldUp("database", "the database's mutex,")};
    if (PerfLevelAtLeast(kEnableTime) || statistics_.load(std::memory_order_relaxed) != nullptr) {
      LockTimed();
    } else {
      Mutex::Lock();
    }
    active_work::mutex = this;
  }
  void Unlock() VARVE_RELEASE(kDbMutex) VARVE_NO_THREAD_SAFETY_ANALYSIS {
    active_work::mutex = nullptr;
    Mutex::Unlock();
  }

  // Also tells the analysis that the mutex is held. A lambda that needs it must assert it, as it is
  // analysed as a function of its own.
  void AssertHeld() const VARVE_ASSERT_CAPABILITY(kDbMutex) { Mutex::AssertHeld(); }

 private:
  // Takes the mutex and records how long that took.
  void LockTimed() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  // Set by CountWaits. Relaxed, as it is set once at the opening.
  std::atomic<Statistics*> statistics_{nullptr};
};

// Tells the analysis, without a check, that a lambda runs while its caller holds the DB mutex.
inline void AssumeDbMutexHeld() VARVE_ASSERT_CAPABILITY(kDbMutex) {}

// Holds the DB mutex while it lives; Unlock() gives it back early.
class VARVE_SCOPED_CAPABILITY DbLock {
 public:
  explicit DbLock(DbMutex* mu) VARVE_ACQUIRE(kDbMutex) : mu_(mu) { mu_->Lock(); }
  ~DbLock() VARVE_RELEASE() {
    if (held_) mu_->Unlock();
  }
  DbLock(const DbLock&) = delete;
  DbLock& operator=(const DbLock&) = delete;

  void Unlock() VARVE_RELEASE() {
    held_ = false;
    mu_->Unlock();
  }

 private:
  DbMutex* const mu_;
  bool held_ = true;
};

// Gives the DB mutex up, which the caller holds, while it lives: for I/O or callbacks in the middle
// of a locked function.
class VARVE_SCOPED_CAPABILITY DbUnlock {
 public:
  explicit DbUnlock(DbMutex* mu) VARVE_RELEASE(kDbMutex) : mu_(mu) { mu_->Unlock(); }
  ~DbUnlock() VARVE_RELEASE() VARVE_NO_THREAD_SAFETY_ANALYSIS { mu_->Lock(); }
  DbUnlock(const DbUnlock&) = delete;
  DbUnlock& operator=(const DbUnlock&) = delete;

 private:
  DbMutex* const mu_;
};

}  // namespace varve
