// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines an entry of the block cache, and references to it from outside.
//
//      bucket -> entry -> older entry -> ...                  next
//      [ CacheEntry, 64 bytes | object, e.g. a block ]        embedded: one allocation
//      [ StandaloneEntry ]    [ object ]                      any other object
//
//      in the table  --Erase, eviction-->  removed, referenced  --last Release-->  retired
//           +------------- without references ------------------------------------->+
//
// Readers walk buckets without a lock, within an epoch. So a retired entry is freed only when every
// reader that may have seen it has left its epoch, and its `next` stays as it was.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "varve/cache.h"

#include "util/base/assert.h"

namespace varve {

struct CacheEntry;

// A pointer from outside the cache's table straight to an entry, so that a reader need not look it
// up. The entry's shard clears the slot before it drops the entry; an entry loaded from a slot
// lives until the reader leaves its epoch (util/sync/epoch.h). Loads use acquire order, so they see
// the entry's contents.
using BlockSlot = std::atomic<CacheEntry*>;

// An entry, which lies in front of its object or in memory of its own (StandaloneEntry).
//
// An entry goes through three states, and never back: in the table; removed, but still referenced;
// retired, when a thread is about to free it as soon as no reader can be looking at it.
//
// Members without a remark are constant once readers can find the entry.
struct CacheEntry {
  // Keys of blocks are that short; a longer key is a string of its own.
  static constexpr uint32_t kInlineKeyBytes = 16;
  static constexpr uint8_t kLongKey = kInlineKeyBytes + 1;

  // Flags of `state`; its other bits are the number of references.
  static constexpr uint32_t kRemoved = uint32_t{1} << 31;  // not in the table; no new references
  static constexpr uint32_t kRetired = uint32_t{1} << 30;  // removed and without references
  static constexpr uint32_t kRefs = kRetired - 1;

  // Older neighbour in the bucket. Does not change when the entry leaves the table, as a reader may
  // be passing through it.
  std::atomic<CacheEntry*> next{nullptr};
  // Hash of the key, which selects shard and bucket.
  uint64_t hash = 0;
  union {
    char inline_key[kInlineKeyBytes] = {};
    std::string* long_key;
  };
  // Guarded by the shard's lock. While the entry is in the table: the slot that refers to it, or
  // null. While it is retired: the next entry of its list.
  void* link = nullptr;
  const Cache::CacheItemHelper* helper = nullptr;
  size_t charge = 0;  // charge that the caller gave
  // Members that a hit reads and writes come last, next to the object that follows the entry.
  std::atomic<uint32_t> state{0};
  // True if the entry was looked up since the hand passed. Relaxed: only a hint for eviction.
  std::atomic<bool> used{false};
  // Number of times the hand passes before it evicts. Guarded by the shard's lock.
  uint8_t rounds = 0;
  uint8_t key_size = 0;      // length, or kLongKey
  uint8_t priority : 7 = 0;  // Cache::Priority, as inserted
  uint8_t embedded : 1 = 0;  // true: lies in the object's memory and is freed with it

  // Sets the key. Must be called once.
  void SetKey(const Slice& key) {
    VARVE_ASSERT(key_size == 0);
    if (key.size() > kInlineKeyBytes) {
      long_key = new std::string(key.data(), key.size());
      key_size = kLongKey;
    } else {
      memcpy(inline_key, key.data(), key.size());
      key_size = static_cast<uint8_t>(key.size());
    }
  }
  // Returns the key; valid as long as the entry.
  [[nodiscard]] Slice key() const {
    return key_size == kLongKey ? Slice(*long_key) : Slice(inline_key, key_size);
  }
  void SetPriority(Cache::Priority p) { priority = static_cast<uint8_t>(p) & 0x7f; }
  [[nodiscard]] bool Has(Cache::Priority p) const { return priority == static_cast<uint8_t>(p); }
  // True if the entry has left the table. May be out of date at once, unless the shard's lock is
  // held.
  [[nodiscard]] bool removed() const {
    return (state.load(std::memory_order_relaxed) & kRemoved) != 0;
  }
  // Returns the object, which lies behind the entry or elsewhere.
  [[nodiscard]] inline Cache::ObjectPtr value();

  // Marks the entry as used; called by readers.
  void Touch() {
    if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
  }
  // Adds a reference; called by a reader within an epoch. Returns false if the entry is removed.
  [[nodiscard]] bool TryRef() {
    uint32_t now = state.load(std::memory_order_relaxed);
    do {
      VARVE_ASSERT((now & kRetired) == 0 || (now & kRemoved) != 0);
      if ((now & kRemoved) != 0) return false;
      VARVE_ASSERT((now & kRefs) != kRefs);
      // Acquire: what the entry's maker wrote is seen by the holder of the reference.
    } while (!state.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    Touch();
    return true;
  }
};
static_assert(sizeof(CacheEntry) == 64, "blocks lie after entries, and begin on a line with them");

// An entry whose object lies elsewhere; the memory after other entries is their object.
struct StandaloneEntry : CacheEntry {
  Cache::ObjectPtr object = nullptr;
};

inline Cache::ObjectPtr CacheEntry::value() {
  return embedded != 0 ? static_cast<Cache::ObjectPtr>(this + 1)
                       : static_cast<StandaloneEntry*>(this)->object;
}

}  // namespace varve
