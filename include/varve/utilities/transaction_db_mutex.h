// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mutexes and condition variables that transactions wait for locks with, for programs that must
// see those waits (to count them, or to let another fiber run).

#include <cstdint>
#include <memory>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Not recursive. Implementations do not throw.
class VARVE_EXPORT TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() = default;

  // Any status but OK: the mutex is not held, and the operation that wanted it ends with that
  // status.
  virtual Status Lock() = 0;

  // Waits for at most `timeout_time` microseconds; negative: for ever. TimedOut if it was not had.
  virtual Status TryLockFor(int64_t timeout_time) = 0;

  // By the thread that holds it.
  virtual void UnLock() = 0;
};

// Waits may end without a notification.
class VARVE_EXPORT TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() = default;

  // The caller holds `mutex`, and holds it again when this returns OK. With any other status the
  // wait for the lock ends with it; whether the mutex is held then does not matter, as it and this
  // are not used again. All who wait for one condition variable name the same mutex.
  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;

  // The same for at most `timeout_time` microseconds; negative: for ever. OK or TimedOut with the
  // mutex held.
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) = 0;

  virtual void Notify() = 0;
  virtual void NotifyAll() = 0;
};

// Called by any thread.
class VARVE_EXPORT TransactionDBMutexFactory {
 public:
  virtual ~TransactionDBMutexFactory() = default;

  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;
  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;
};

}  // namespace varve
