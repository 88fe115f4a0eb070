// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeping until a lock is had: on mutexes of the C++ library, or on the program's own.

#include <atomic>
#include <cstdint>
#include <memory>
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

 private:
  const std::shared_ptr<TransactionDBMutex> mutex_;
  const std::shared_ptr<TransactionDBCondVar> changed_;
};

// Sleepers are used again and never freed before the pool: a thread that wakes one needs no latch,
// and may come late.
class LockSleepers {
 public:
  // nullptr: the C++ library's mutexes.
  explicit LockSleepers(std::shared_ptr<TransactionDBMutexFactory> factory);

  LockSleeper* Borrow() VARVE_EXCLUDES(mu_);
  void Return(LockSleeper* sleeper) VARVE_EXCLUDES(mu_);

 private:
  const std::shared_ptr<TransactionDBMutexFactory> factory_;
  Mutex mu_{kLockSleepersRank};
  std::vector<std::unique_ptr<LockSleeper>> all_ VARVE_GUARDED_BY(mu_);
  std::vector<LockSleeper*> free_ VARVE_GUARDED_BY(mu_);
};

class BorrowedSleeper {
 public:
  explicit BorrowedSleeper(LockSleepers* pool) : pool_(pool), sleeper_(pool->Borrow()) {}
  ~BorrowedSleeper() { pool_->Return(sleeper_); }
  BorrowedSleeper(const BorrowedSleeper&) = delete;
  BorrowedSleeper& operator=(const BorrowedSleeper&) = delete;

  LockSleeper* get() const { return sleeper_; }

 private:
  LockSleepers* const pool_;
  LockSleeper* const sleeper_;
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
    sleepers_[count_++] = sleeper;
  }
  void WakeAll() {
    for (size_t i = 0; i < count_; i++) sleepers_[i]->Wake();
    count_ = 0;
  }

 private:
  static constexpr size_t kRoom = 8;
  size_t count_ = 0;
  LockSleeper* sleepers_[kRoom];
};

}  // namespace varve
