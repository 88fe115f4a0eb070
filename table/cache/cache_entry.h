// SPDX-License-Identifier: Apache-2.0
#pragma once

// One entry of the block cache, and references to it from outside.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "varve/cache.h"

#include "util/base/assert.h"

namespace varve {

struct CacheEntry;

// A reference from outside the table straight to an entry, so that a reader need not look it up.
// The entry's shard takes it back before it drops the entry; what was loaded from it lives until
// the reader leaves its epoch (util/sync/epoch.h). Loads acquire what the entry holds.
using BlockSlot = std::atomic<CacheEntry*>;

// In front of the object it stands for, or in memory of its own (StandaloneEntry).
//
// It is in the table; or gone, but referenced; or retired: a thread is about to free it, once no
// reader can be looking at it. There is no way back.
//
// What has no other remark is constant once readers can find the entry.
struct CacheEntry {
  static constexpr uint32_t kInlineKeyBytes = 16;
  static constexpr uint8_t kLongKey = kInlineKeyBytes + 1;

  // `state`: the number of references, and:
  static constexpr uint32_t kGone = uint32_t{1} << 31;     // out of the table; no new references
  static constexpr uint32_t kRetired = uint32_t{1} << 30;  // and without references
  static constexpr uint32_t kRefs = kRetired - 1;

  // Next in the bucket, older. Stays as it was when the entry leaves the table: a reader may be on
  // its way through.
  std::atomic<CacheEntry*> next{nullptr};
  uint64_t hash = 0;
  union {
    char inline_key[kInlineKeyBytes] = {};
    std::string* long_key;
  };
  // Under the shard's lock. In the table: the slot that refers to this entry, or null. Retired: the
  // next of its list.
  void* link = nullptr;
  const Cache::CacheItemHelper* helper = nullptr;
  size_t charge = 0;  // as the caller gave it
  // What a hit reads and writes lies last, beside an object that follows the entry.
  std::atomic<uint32_t> state{0};
  // Looked up since the hand passed. Relaxed: a hint for eviction.
  std::atomic<bool> used{false};
  // How often the hand passes before it evicts. Under the shard's lock.
  uint8_t rounds = 0;
  uint8_t key_size = 0;      // or kLongKey
  uint8_t priority : 7 = 0;  // Cache::Priority, as inserted
  uint8_t embedded : 1 = 0;  // lies in the object's memory and goes with it

  // Once.
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
  [[nodiscard]] Slice key() const {
    return key_size == kLongKey ? Slice(*long_key) : Slice(inline_key, key_size);
  }
  void SetPriority(Cache::Priority p) { priority = static_cast<uint8_t>(p) & 0x7f; }
  [[nodiscard]] bool Has(Cache::Priority p) const { return priority == static_cast<uint8_t>(p); }
  [[nodiscard]] bool gone() const { return (state.load(std::memory_order_relaxed) & kGone) != 0; }
  [[nodiscard]] inline Cache::ObjectPtr value();

  // By a reader.
  void Touch() {
    if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
  }
  // One more reference, by a reader within an epoch. False if the entry is gone.
  [[nodiscard]] bool TryRef() {
    uint32_t now = state.load(std::memory_order_relaxed);
    do {
      VARVE_ASSERT((now & kRetired) == 0 || (now & kGone) != 0);
      if ((now & kGone) != 0) return false;
      VARVE_ASSERT((now & kRefs) != kRefs);
    } while (!state.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    Touch();
    return true;
  }
};
static_assert(sizeof(CacheEntry) == 64, "blocks lie after entries, and begin on a line with them");

struct StandaloneEntry : CacheEntry {
  Cache::ObjectPtr object = nullptr;
};

inline Cache::ObjectPtr CacheEntry::value() {
  return embedded != 0 ? static_cast<Cache::ObjectPtr>(this + 1)
                       : static_cast<StandaloneEntry*>(this)->object;
}

}  // namespace varve
