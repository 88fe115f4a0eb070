// SPDX-License-Identifier: Apache-2.0
#pragma once

// Disables an open database in a child made by fork(): the child has no background threads, does
// not hold the lock, and shares file offsets and mappings with its parent.

#include "db/engine/lifecycle.h"
#include "util/base/assert.h"
#include "util/sync/fork_watch.h"

namespace varve {

// Marks the database as forked in the child. Calls read that flag anyway, so the guard costs
// nothing.
//
// Thread safety: Watch is called once, by the owner.
class ForkGuard final : private ForkWatch {
 public:
  ForkGuard() = default;
  ~ForkGuard() {
    if (lifecycle_ != nullptr) Forget();
  }

  // `lifecycle` must outlive this object. No mutex has to be held over a fork: InChild only stores
  // flags.
  void Watch(Lifecycle* lifecycle) {
    VARVE_ASSERT(lifecycle_ == nullptr);
    lifecycle_ = lifecycle;
    ForkWatch::Watch(nullptr);
  }

 private:
  void InChild() override { lifecycle_->MarkForked(); }

  Lifecycle* lifecycle_ = nullptr;
};

}  // namespace varve
