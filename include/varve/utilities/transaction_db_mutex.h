// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mutexes and condition variables with which transactions wait for locks. Programs implement
// them in order to see those waits (to count them, or to run another fiber).

#include <cstdint>
#include <memory>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// A mutex that is not recursive. Implementations must not throw.
class VARVE_EXPORT TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() = default;

  // Locks the mutex. If this does not return OK, the mutex is not held, and the operation that
  // needs it fails with that status.
  virtual Status Lock() = 0;

  // Waits for at most `timeout_time` microseconds; negative: for ever. Returns TimedOut if the
  // mutex was not acquired.
  virtual Status TryLockFor(int64_t timeout_time) = 0;

  // Unlocks the mutex. Requires that this thread holds it.
  virtual void UnLock() = 0;
};

// A condition variable. Waits may end without a notification.
class VARVE_EXPORT TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() = default;

  // Releases `mutex`, which the caller holds, and waits for a notification. Returns OK with the
  // mutex held again. With any other status the wait for the lock ends with that status; the mutex
  // may then be held or not, since neither object is used again. All waiters of one condition
  // variable pass the same mutex.
  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;

  // Like Wait, but for at most `timeout_time` microseconds; negative: for ever. Returns OK or
  // TimedOut with the mutex held.
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) = 0;

  // Wake one waiter, or all of them.
  virtual void Notify() = 0;
  virtual void NotifyAll() = 0;
};

// Makes those objects. Any thread may call it.
class VARVE_EXPORT TransactionDBMutexFactory {
 public:
  virtual ~TransactionDBMutexFactory() = default;

  // Return a new object, never null.
  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;
  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;
};

}  // namespace varve
