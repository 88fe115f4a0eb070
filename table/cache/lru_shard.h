// SPDX-License-Identifier: Apache-2.0
#pragma once

// One independently locked part of the block cache.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/cache.h"

#include "util/sync/mutex.h"

namespace varve {

// An entry. What a look-up reads and writes lies in the first cache line.
//
// An entry in the table is on the list, except that eviction takes those off that it finds
// referenced; the last release puts them back. An entry not in the table (erased, replaced) is not
// on the list and goes with its last reference.
struct LruEntry {
  static constexpr uint32_t kInlineKeyBytes = 16;

  LruEntry* chain = nullptr;  // next in the hash bucket; or next to free
  uint64_t hash = 0;
  Cache::ObjectPtr value = nullptr;
  uint32_t refs = 0;
  uint32_t key_size = 0;
  bool in_table = false;
  bool on_list = false;
  bool used = false;  // looked up since it was put on the list
  bool ever_used = false;
  uint8_t pool = 0;                                 // where on the list
  Cache::Priority priority = Cache::Priority::LOW;  // as inserted
  union {
    char inline_key[kInlineKeyBytes];
    char* long_key;
  };

  const Cache::CacheItemHelper* helper = nullptr;
  LruEntry* newer = nullptr;  // neighbours on the list
  LruEntry* older = nullptr;
  size_t charge = 0;        // as the caller gave it
  size_t total_charge = 0;  // with the entry's own bytes, if they are charged

  [[nodiscard]] Slice key() const {
    return Slice(key_size <= kInlineKeyBytes ? inline_key : long_key, key_size);
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
  void Init(size_t capacity, bool strict, double high_ratio, double low_ratio,
            MemoryAllocator* allocator);

  // As Cache::Insert; takes `entry` over unless it fails.
  Status Insert(LruEntry* entry, bool want_handle);
  LruEntry* Lookup(const Slice& key, uint64_t hash);
  void Ref(LruEntry* entry);
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

  static LruEntry* NewEntry(const Slice& key);
  // Not its value.
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
  void Drop(LruEntry* entry, LruEntry** doomed) VARVE_REQUIRES(mu_);
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
  bool strict_ VARVE_GUARDED_BY(mu_) = false;
  bool disowned_ VARVE_GUARDED_BY(mu_) = false;
  double high_ratio_ = 0;
  double low_ratio_ = 0;
  MemoryAllocator* allocator_ = nullptr;
};

}  // namespace varve
