// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeping until a lock is had: on mutexes of the C++ library, or on the program's own.

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

// What a wait has come to: changed under the latch of the part that the lock belongs to.
enum class WaitState : uint32_t {
  kWaiting,
  kWoken,    // look again
  kGranted,  // the lock is had
};

// One sleeps, any number wake. A wake-up that was meant for an earlier sleep does no harm.
class LockSleeper {
 public:
  explicit LockSleeper(TransactionDBMutexFactory* factory)
      : mutex_(factory->AllocateMutex()), changed_(factory->AllocateCondVar()) {}

  // Returns OK when `state` is not kWaiting, or after `micros` (negative: never), or for no reason;
  // an error is the mutex's own.
  Status Sleep(const std::atomic<WaitState>& state, int64_t micros);
  // After the state was changed.
  void Wake();

  // Somebody is going to wake it, and has not done so yet: it does not go before.
  void BeginWaking() { wakers_.fetch_add(1, std::memory_order_relaxed); }
  void EndWaking() { wakers_.fetch_sub(1, std::memory_order_release); }
  bool has_wakers() const { return wakers_.load(std::memory_order_acquire) != 0; }
  // A sleep has failed. Whether the mutex is held since then is not known, so nobody may touch it.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  Status Fail(Status s);

  const std::shared_ptr<TransactionDBMutex> mutex_;
  const std::shared_ptr<TransactionDBCondVar> changed_;
  std::atomic<uint32_t> wakers_{0};
  std::atomic<bool> failed_{false};
};

// Sleepers are used again, but for those that have failed: these go as soon as nobody is about to
// wake them. A thread that wakes one needs no latch, and may come late.
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
  // Each has room for all that there are.
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

// Those to be woken once a latch is given back. Holds a few; when it is full it wakes at once.
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
