// SPDX-License-Identifier: Apache-2.0
#pragma once

// One independently locked part of the block cache.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/cache.h"

#include "util/sync/mutex.h"

namespace varve {

struct LruEntry;

// A reference from outside the table straight to an entry, so that a reader need not look it up.
// The entry's shard takes it back before it drops the entry; what was loaded from it lives until
// the reader leaves its epoch (util/sync/epoch.h).
//
// Written under the entry's shard lock; loads acquire what the entry holds.
using BlockSlot = std::atomic<LruEntry*>;

// An entry, in memory of its own or in front of the object it stands for.
//
// An entry in the table is on the list, except that eviction takes those off that it finds
// referenced; the last release puts them back. An entry not in the table (erased, replaced) is not
// on the list and goes with its last reference.
//
// Guarded by its shard's lock, but for what never changes once it is in the table, and `used`.
struct LruEntry {
  static constexpr uint32_t kInlineKeyBytes = 16;

  LruEntry* chain = nullptr;  // next in the hash bucket; or next to free
  uint64_t hash = 0;          // constant
  const Cache::CacheItemHelper* helper = nullptr;
  size_t charge = 0;          // as the caller gave it
  LruEntry* newer = nullptr;  // neighbours on the list
  union {
    LruEntry* older = nullptr;
    uint64_t retired;  // Epoch::Stamp of when it was dropped
  };
  union {
    char inline_key[kInlineKeyBytes] = {};
    char* long_key;
  };
  BlockSlot* slot = nullptr;  // what refers to this entry
  uint32_t key_size = 0;
  uint8_t pool = 0;      // where on the list
  uint8_t priority = 0;  // Cache::Priority, as inserted
  bool in_table = false;
  bool on_list = false;
  // What a hit reads and writes lies last, beside an embedding object.
  Cache::ObjectPtr value = nullptr;  // constant
  uint32_t refs = 0;
  bool embedded = false;  // lies in the object's memory and goes with it
  bool had_slot = false;  // readers may have it without a reference
  bool ever_used = false;
  // Looked up since it was put on the list. Relaxed: a hint for eviction.
  std::atomic<bool> used{false};

  [[nodiscard]] Slice key() const {
    return Slice(key_size <= kInlineKeyBytes ? inline_key : long_key, key_size);
  }
  [[nodiscard]] bool Has(Cache::Priority p) const { return priority == static_cast<uint8_t>(p); }
  // By a reader that came through the slot.
  void Touch() {
    if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
  }
};

// Chained hash table of entries. Not thread-safe; owns nothing.
class LruTable {
 public:
  LruTable();
  // The link that points, or would point, to the entry.
  [[nodiscard]] LruEntry** Find(const Slice& key, uint64_t hash);
  // Returns the entry of the same key that was replaced, or null.
  LruEntry* Insert(LruEntry* entry);
  void Remove(LruEntry* entry);
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t bucket_count() const { return buckets_.size(); }
  template <typename F>
  void ForEach(F f) {
    for (LruEntry* entry : buckets_) {
      while (entry != nullptr) {
        LruEntry* const next = entry->chain;
        f(entry);
        entry = next;
      }
    }
  }

 private:
  void Grow();

  std::vector<LruEntry*> buckets_;  // a power of two
  size_t size_ = 0;
};

// A look-up does not move an entry on the list but marks it used: eviction then moves it to the
// newest end instead of taking it, so that a hit writes to no other entry's cache lines.
class alignas(64) LruShard {
 public:
  LruShard();
  LruShard(const LruShard&) = delete;
  LruShard& operator=(const LruShard&) = delete;
  ~LruShard();

  // Once, before use.
  void Init(size_t capacity, bool strict, double high_ratio, double low_ratio, bool charge_metadata,
            MemoryAllocator* allocator);

  // As Cache::Insert; takes `entry` over unless it fails.
  Status Insert(LruEntry* entry, bool want_handle);
  LruEntry* Lookup(const Slice& key, uint64_t hash);
  void Ref(LruEntry* entry);
  // For an entry that was loaded from its slot within the current epoch. False if it was dropped
  // meanwhile.
  bool TryRef(LruEntry* entry);
  // Makes `slot` refer to `entry`, which the caller references; or leaves it, if the entry is not
  // in the table or another slot has it.
  void Attach(LruEntry* entry, BlockSlot* slot);
  // Undoes that. Afterwards nothing here knows the slot.
  void Detach(LruEntry* entry, BlockSlot* slot);
  // From all entries. Before the first shard goes.
  void TakeSlotsBack();
  bool Release(LruEntry* entry, bool erase_if_last_ref);
  void Erase(const Slice& key, uint64_t hash);

  void SetCapacity(size_t capacity);
  void SetStrict(bool strict);
  void EraseUnreferenced();
  void Disown();

  [[nodiscard]] size_t usage() const;
  [[nodiscard]] size_t pinned_usage() const;
  [[nodiscard]] size_t entry_count() const;
  [[nodiscard]] size_t bucket_count() const;

  // With `charge_metadata`, that of the entry itself too.
  [[nodiscard]] size_t ChargeOf(const LruEntry& entry) const {
    return entry.charge + (charge_metadata_ ? sizeof(LruEntry) + entry.key_size : 0);
  }

  static LruEntry* NewEntry(const Slice& key);
  static void SetKey(LruEntry* entry, const Slice& key);
  // Not its value, and nothing if the entry is embedded in that.
  static void FreeEntryOnly(LruEntry* entry);

 private:
  // Pools in the order of eviction.
  enum Pool : uint8_t { kBottom, kLow, kHigh, kPoolCount };

  // To the newest end of the pool that suits the entry.
  void ListAppend(LruEntry* entry) VARVE_REQUIRES(mu_);
  void ListRemove(LruEntry* entry) VARVE_REQUIRES(mu_);
  // The entry that has waited longest in the lowest pool; null if the list is empty.
  LruEntry* Oldest() VARVE_REQUIRES(mu_);
  // Takes an unreferenced entry out of table and list.
  void Remove(LruEntry* entry, LruEntry** doomed) VARVE_REQUIRES(mu_);
  void Link(LruEntry* entry, Pool pool) VARVE_REQUIRES(mu_);
  void Demote(Pool from, size_t limit) VARVE_REQUIRES(mu_);
  // Evicts until `bytes` more fit or nothing is left to evict; what goes is chained to *doomed.
  void EvictFor(size_t bytes, LruEntry** doomed) VARVE_REQUIRES(mu_);
  // Puts the entry into table and list, in place of one of the same key.
  void AddToTable(LruEntry* entry, bool referenced, LruEntry** doomed) VARVE_REQUIRES(mu_);
  // For an entry that has been taken out of the table: off the list, and its slot is taken back.
  void LeaveTable(LruEntry* entry) VARVE_REQUIRES(mu_);
  static void TakeSlotBack(LruEntry* entry);
  // Hands an entry that nobody references on to *doomed, or to limbo if readers may have it.
  void Drop(LruEntry* entry, LruEntry** doomed) VARVE_REQUIRES(mu_);
  // Moves to *doomed what no reader can have any more.
  void EmptyLimbo(LruEntry** doomed) VARVE_REQUIRES(mu_);
  void SetPoolLimits() VARVE_REQUIRES(mu_);
  // Runs deleters; without the lock.
  void FreeAll(LruEntry* doomed) VARVE_EXCLUDES(mu_);

  mutable Mutex mu_;
  LruTable table_ VARVE_GUARDED_BY(mu_);
  // One circular list for each pool: head.older is the newest entry, head.newer the oldest.
  LruEntry heads_[kPoolCount] VARVE_GUARDED_BY(mu_);
  size_t pool_usage_[kPoolCount] VARVE_GUARDED_BY(mu_) = {};
  size_t high_limit_ VARVE_GUARDED_BY(mu_) = 0;
  size_t low_limit_ VARVE_GUARDED_BY(mu_) = 0;
  size_t capacity_ VARVE_GUARDED_BY(mu_) = 0;
  size_t usage_ VARVE_GUARDED_BY(mu_) = 0;   // everything not yet freed, referenced or not
  size_t pinned_ VARVE_GUARDED_BY(mu_) = 0;  // of that, what is referenced
  // Dropped entries that readers may still have, and their bytes, which count as used.
  LruEntry* limbo_ VARVE_GUARDED_BY(mu_) = nullptr;
  size_t limbo_usage_ VARVE_GUARDED_BY(mu_) = 0;
  bool strict_ VARVE_GUARDED_BY(mu_) = false;
  bool disowned_ VARVE_GUARDED_BY(mu_) = false;
  double high_ratio_ = 0;
  double low_ratio_ = 0;
  bool charge_metadata_ = false;
  MemoryAllocator* allocator_ = nullptr;
};

}  // namespace varve
