// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings what threads share within a process over a fork(), after which the child has one of them.

#include "util/sync/mutex.h"

namespace varve {

// Something that several threads use, guarded by one mutex. That is held over every fork(), so that
// the child finds what it guards whole, and the mutex free.
//
// That can be asked only of a mutex whose holders wait for nothing and neither make nor destroy a
// ForkWatch: all of them are held at once. Where holders call others or wait for a device, nothing
// is held, and InChild makes mutex and state anew in place (std::construct_at), whatever another
// thread was doing to them.
//
// Thread safety: Watch and Forget from any thread.
class ForkWatch {
 public:
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;

 protected:
  ForkWatch() = default;
  virtual ~ForkWatch() = default;

  // From here on, at the end of a constructor. `mutex` is a leaf, or null where none is to be held.
  // Throws std::bad_alloc.
  void Watch(Mutex* mutex);
  // At the start of a destructor, for what does not live for ever.
  void Forget();

 private:
  friend struct ForkWatches;

  // In the child, which has one thread, with all the mutexes still held, which AssertHeld does not
  // know: what other threads had is nobody's. May take memory, and no lock.
  virtual void InChild() {}

  Mutex* mutex_ = nullptr;
};

}  // namespace varve
