// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockSleeper lets a thread sleep until it is granted a lock, on a mutex and a condition variable
// of the C++ library or of the program.
//
// TransactionDBOptions::custom_mutex_factory lets a program supply its own mutexes and condition
// variables, for instance those of a scheduler of fibers. Such objects are slow to make, may fail,
// and must not be used under a latch. So the latch protects only a word, the WaitState of the
// waiter; the sleeper, which has the program's mutex, is borrowed for the time of a wait, and woken
// after the latch is released:
//
//      waiter:    latch { enqueue, state = waiting }    Sleep: mutex { still waiting? wait }
//      releaser:  latch { state = woken, BeginWaking }  Wake: mutex {}, notify, EndWaking
//
// No wake-up is lost: the state changes before the releaser takes the mutex, and the sleeper reads
// it under the mutex. A sleeper may be woken for an earlier wait, or for no reason; its caller
// always looks at the state again.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "varve/status.h"
#include "varve/utilities/transaction_db_mutex.h"

#include "db/transaction/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// State of a wait, changed under the latch of the part that the lock belongs to.
enum class WaitState : uint32_t {
  kWaiting,
  kWoken,    // The waiter must try again.
  kGranted,  // The lock is acquired.
};

// One thread sleeps, any number may wake it. A wake-up that was meant for an earlier sleep is
// harmless.
class LockSleeper {
 public:
  explicit LockSleeper(TransactionDBMutexFactory* factory)
      : mutex_(factory->AllocateMutex()), changed_(factory->AllocateCondVar()) {}

  // Sleeps until `state` is not kWaiting, for at most `micros` microseconds (negative: no limit);
  // returns OK in both cases, and may return OK earlier. Other statuses are errors of the mutex or
  // the condition variable; the sleeper has failed() then.
  Status Sleep(const std::atomic<WaitState>& state, int64_t micros);
  // Wakes the sleeping thread. Must be called after its state has changed.
  void Wake();

  // Announces a thread that is about to wake it; the sleeper must not be destroyed before
  // EndWaking.
  void BeginWaking() { wakers_.fetch_add(1, std::memory_order_relaxed); }
  void EndWaking() { wakers_.fetch_sub(1, std::memory_order_release); }
  bool has_wakers() const { return wakers_.load(std::memory_order_acquire) != 0; }
  // True if a sleep has failed. It is then unknown whether the mutex is held, so it must not be
  // used.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  // Marks the sleeper as unusable.
  Status Fail(Status s);

  const std::shared_ptr<TransactionDBMutex> mutex_;
  const std::shared_ptr<TransactionDBCondVar> changed_;
  // Number of threads between BeginWaking and EndWaking. The release of EndWaking is read with
  // acquire before the sleeper is destroyed.
  std::atomic<uint32_t> wakers_{0};
  // True once the program's mutex or condition variable has returned an error.
  std::atomic<bool> failed_{false};
};

// A pool of sleepers. Those that have failed are not reused, but destroyed as soon as no thread is
// about to wake them. A thread that wakes a sleeper needs no latch, and may be late.
class LockSleepers {
 public:
  // Makes an empty pool; a factory of nullptr stands for the C++ library's mutexes.
  explicit LockSleepers(std::shared_ptr<TransactionDBMutexFactory> factory);

  // Lends a sleeper that no thread uses, making one if there is none. Throws std::bad_alloc.
  std::unique_ptr<LockSleeper> Borrow() VARVE_EXCLUDES(mu_);
  // Takes a sleeper back. It may still be woken by a late thread, which does no harm.
  void Return(std::unique_ptr<LockSleeper> sleeper) noexcept VARVE_EXCLUDES(mu_);

 private:
  const std::shared_ptr<TransactionDBMutexFactory> factory_;
  Mutex mu_{kLockSleepersRank};
  // Each has capacity for all existing sleepers.
  std::vector<std::unique_ptr<LockSleeper>> free_ VARVE_GUARDED_BY(mu_);
  // Kept until no thread is about to wake them.
  std::vector<std::unique_ptr<LockSleeper>> failed_ VARVE_GUARDED_BY(mu_);
  // Number of sleepers that are borrowed.
  size_t lent_ VARVE_GUARDED_BY(mu_) = 0;
};

// Borrows a sleeper for a scope.
class BorrowedSleeper {
 public:
  explicit BorrowedSleeper(LockSleepers* pool) : pool_(pool), sleeper_(pool->Borrow()) {}
  ~BorrowedSleeper() { pool_->Return(std::move(sleeper_)); }
  BorrowedSleeper(const BorrowedSleeper&) = delete;
  BorrowedSleeper& operator=(const BorrowedSleeper&) = delete;

  LockSleeper* get() const { return sleeper_.get(); }

 private:
  LockSleepers* const pool_;
  std::unique_ptr<LockSleeper> sleeper_;
};

// The sleepers to wake after a latch is released. Holds a few; when it is full it wakes them at
// once.
class WakeList {
 public:
  WakeList() = default;
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;
  ~WakeList() { WakeAll(); }

  // Must be called under the latch under which the sleeper's state was changed.
  void Add(LockSleeper* sleeper) {
    if (count_ == kRoom) WakeAll();
    sleeper->BeginWaking();
    sleepers_[count_++] = sleeper;
  }
  // Must be called without a latch, except for the overflow in Add.
  void WakeAll() {
    for (size_t i = 0; i < count_; i++) {
      sleepers_[i]->Wake();
      sleepers_[i]->EndWaking();
    }
    count_ = 0;
  }

 private:
  static constexpr size_t kRoom = 8;
  size_t count_ = 0;
  LockSleeper* sleepers_[kRoom];
};

}  // namespace varve
