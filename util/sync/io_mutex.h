// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a mutex that is held during I/O. A user's file system, or a listener of file operations,
// may call the database from there and reach the mutex that its own thread holds: Lock throws then,
// where another mutex would deadlock.

#include <atomic>

#include "util/base/refused_call.h"
#include "util/sync/mutex.h"

namespace varve {

class VARVE_CAPABILITY("mutex") IoMutex final : public Mutex {
 public:
  IoMutex() = default;

  // Takes the lock. Throws RefusedCall if this thread holds it already.
  void Lock() VARVE_ACQUIRE() VARVE_NO_THREAD_SAFETY_ANALYSIS {
    if (owner_.load(std::memory_order_relaxed) == &self_) [[unlikely]] {
      throw RefusedCall{
          Status::Busy("called in a callback",
                       "of a file, it would wait for that operation; call it from another thread")};
    }
    Mutex::Lock();
    owner_.store(&self_, std::memory_order_relaxed);
  }
  // Forgets the owner first: afterwards another thread may store its own.
  void Unlock() VARVE_RELEASE() VARVE_NO_THREAD_SAFETY_ANALYSIS {
    owner_.store(nullptr, std::memory_order_relaxed);
    Mutex::Unlock();
  }

 private:
  // Its address identifies the thread.
  static inline constinit thread_local char self_ = 0;

  std::atomic<const char*> owner_{nullptr};  // A thread stores only its own address.
};

// Holds the mutex for a scope.
class VARVE_SCOPED_CAPABILITY IoMutexLock {
 public:
  explicit IoMutexLock(IoMutex* mu) VARVE_ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~IoMutexLock() VARVE_RELEASE() { mu_->Unlock(); }
  IoMutexLock(const IoMutexLock&) = delete;
  IoMutexLock& operator=(const IoMutexLock&) = delete;

 private:
  IoMutex* const mu_;
};

}  // namespace varve
