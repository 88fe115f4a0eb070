// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keep alive the block of a value that is returned.

#include "varve/cleanable.h"

#include "table/block/block.h"
#include "table/block/point_search.h"
#include "table/cache/clock_cache.h"
#include "table/cache/handle_guard.h"
#include "util/base/assert.h"
#include "util/sync/epoch.h"

namespace varve {

// Pins a block that was reached through its slot, within the current epoch: each value that wants
// it gets a reference of its own.
class SlotPin final : public ValuePin {
 public:
  SlotPin(ClockCache* cache, CacheEntry* entry) : cache_(cache), entry_(entry) {}

  Cleanable* Renew() override {
    Cache::Handle* handle = nullptr;
    VARVE_ASSERT(Epoch::Inside());
    if (!cleanable_.HasCleanups() && cache_->TryRef(entry_, &handle)) {
      cache_->MoveTo(handle, &cleanable_);
    }
    return cleanable_.HasCleanups() ? &cleanable_ : nullptr;
  }

 private:
  ClockCache* const cache_;
  CacheEntry* const entry_;
  Cleanable cleanable_;
};

// Pins a block that is held for one look-up: the first value that wants it takes over the hold,
// later values are copied.
class GuardedBlockPin final : public ValuePin {
 public:
  explicit GuardedBlockPin(HandleGuard<Block>* held) : held_(held) {
    VARVE_ASSERT(held_->get() != nullptr);
  }

  Cleanable* Renew() override {
    // The bytes of a mapped file go with its reader, which may be destroyed before the value.
    if (*held_ && (*held_)->owns_bytes()) held_->MoveTo(&cleanable_);
    return cleanable_.HasCleanups() ? &cleanable_ : nullptr;
  }

 private:
  HandleGuard<Block>* const held_;  // empty once it was handed over
  Cleanable cleanable_;
};

// Pins a block that is held for several look-ups: each value gets a reference of its own.
class SharedBlockPin final : public ValuePin {
 public:
  explicit SharedBlockPin(const HandleGuard<Block>* held) : held_(held) {}

  Cleanable* Renew() override {
    // An object outside the cache has one owner, which may be destroyed before the values; the
    // bytes of a mapped file go with its reader.
    if (!held_->shareable()) return nullptr;
    if (!cleanable_.HasCleanups()) held_->Share(&cleanable_);
    return &cleanable_;
  }

 private:
  const HandleGuard<Block>* const held_;
  Cleanable cleanable_;
};

}  // namespace varve
