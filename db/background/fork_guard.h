// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an open database dead in a child that fork() makes: the child has no background threads,
// does not hold the lock, and shares file offsets and mappings with its parent.

#include "db/background/engine.h"
#include "util/sync/fork_watch.h"

namespace varve {

// Marks the engine as closed, and as forked, in the child; calls look at that mark anyway, so that
// being watched costs nothing.
//
// Thread safety: Watch once, by whoever owns it.
class ForkGuard final : private ForkWatch {
 public:
  ForkGuard() = default;
  ~ForkGuard() {
    if (engine_ != nullptr) Forget();
  }

  // `engine` outlives this.
  void Watch(Engine* engine) {
    engine_ = engine;
    ForkWatch::Watch(nullptr);
  }

 private:
  void InChild() override {
    engine_->forked.store(true, std::memory_order_release);
    engine_->closed.store(true, std::memory_order_release);
    engine_->shutting_down.store(true, std::memory_order_release);
  }

  Engine* engine_ = nullptr;
};

}  // namespace varve
