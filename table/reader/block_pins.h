// SPDX-License-Identifier: Apache-2.0
#pragma once

// These classes keep the block of a returned value alive.
//
// A look-up that finds a large value returns a slice of the block instead of a copy, with a
// Cleanable that keeps the block. There are three kinds, by what the look-up itself has of the
// block: nothing but a slot within an epoch, a guard that it needs no more, or a guard that it goes
// on using for other keys.
//
// Thread safety: none. A pin is made and used within one call; what it gave to a value outlives
// it.

#include "varve/cleanable.h"

#include "table/block/block.h"
#include "table/block/point_search.h"
#include "table/cache/clock_cache.h"
#include "table/cache/handle_guard.h"
#include "util/base/assert.h"
#include "util/sync/epoch.h"

namespace varve {

// Pins a block that was reached through its slot, within the current epoch: each value that wants
// it gets a reference of its own. The entry stays readable until the epoch is left, though it may
// have been evicted meanwhile. Then no reference can be had, and the value is copied.
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

// Pins a block that was got for one look-up: the first value that wants it takes over the guard,
// and later values are copied. The guard must outlive this object, and not be empty at its start.
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

// Pins a block that was got for several look-ups: each value gets a reference of its own. The guard
// must outlive this object.
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
