// SPDX-License-Identifier: Apache-2.0
#pragma once

// Carries state that threads share over a fork(), after which the child has one thread.

#include "util/sync/mutex.h"

namespace varve {

// An object that several threads use, guarded by one mutex. The mutex is held over every fork(), so
// that the child finds consistent state and a free mutex.
//
// All such mutexes are held at once, so this requires that their holders wait for nothing and
// neither create nor destroy a ForkWatch. A class whose holders call others or wait for a device
// passes no mutex to Watch; its InChild reconstructs mutex and state in place (std::construct_at),
// whatever another thread was doing to them.
//
// Thread safety: Watch and Forget may be called from any thread.
class ForkWatch {
 public:
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;

 protected:
  ForkWatch() = default;
  virtual ~ForkWatch() = default;

  // Begins the watch, at the end of a constructor. `mutex` is a leaf, or null if none is to be
  // held. Throws std::bad_alloc.
  void Watch(Mutex* mutex);
  // Ends the watch, at the start of the destructor of an object that does not live until the
  // process ends.
  void Forget();

 private:
  friend struct ForkWatches;

  // Called in the child, which has one thread, with all the mutexes still held (AssertHeld does not
  // know that): it resets what belonged to other threads. May allocate memory, but take no lock.
  virtual void InChild() {}

  Mutex* mutex_ = nullptr;
};

}  // namespace varve
