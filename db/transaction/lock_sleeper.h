// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeping until a lock is acquired, with mutexes of the C++ library or of the program.

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

  // Returns OK when `state` is not kWaiting, after `micros` (negative: never), or spuriously; other
  // statuses are errors of the mutex.
  Status Sleep(const std::atomic<WaitState>& state, int64_t micros);
  // Must be called after the state has changed.
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
  Status Fail(Status s);

  const std::shared_ptr<TransactionDBMutex> mutex_;
  const std::shared_ptr<TransactionDBCondVar> changed_;
  std::atomic<uint32_t> wakers_{0};
  std::atomic<bool> failed_{false};
};

// A pool of sleepers. Those that have failed are not reused, but destroyed as soon as no thread is
// about to wake them. A thread that wakes a sleeper needs no latch, and may be late.
class LockSleepers {
 public:
  // nullptr: the C++ library's mutexes.
  explicit LockSleepers(std::shared_ptr<TransactionDBMutexFactory> factory);

  // Throws std::bad_alloc.
  std::unique_ptr<LockSleeper> Borrow() VARVE_EXCLUDES(mu_);
  void Return(std::unique_ptr<LockSleeper> sleeper) noexcept VARVE_EXCLUDES(mu_);

 private:
  const std::shared_ptr<TransactionDBMutexFactory> factory_;
  Mutex mu_{kLockSleepersRank};
  // Each has capacity for all existing sleepers.
  std::vector<std::unique_ptr<LockSleeper>> free_ VARVE_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<LockSleeper>> failed_ VARVE_GUARDED_BY(mu_);
  size_t lent_ VARVE_GUARDED_BY(mu_) = 0;
};

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

  void Add(LockSleeper* sleeper) {
    if (count_ == kRoom) WakeAll();
    sleeper->BeginWaking();
    sleepers_[count_++] = sleeper;
  }
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
