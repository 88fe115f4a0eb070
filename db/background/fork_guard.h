// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an open database dead in a child that fork() makes: the child has no background threads,
// does not hold the lock, and shares file offsets and mappings with its parent.

#include "db/background/engine.h"

namespace varve {

// A handler of pthread_atfork marks every watched engine as closed, and as forked, in the child;
// calls look at that mark anyway, so that being watched costs nothing.
//
// Thread safety: Watch once, by whoever owns it.
class ForkGuard {
 public:
  ForkGuard() = default;
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  // `engine` outlives this.
  void Watch(Engine* engine);

 private:
  Engine* engine_ = nullptr;
};

}  // namespace varve
