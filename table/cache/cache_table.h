// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hash table of one shard of the block cache: finding and adding take no lock.
//
// Buckets are chains, newest entry first. Adding exchanges the head of one. Removing and growing
// are done by one thread at a time, while any number of threads find and add. Growing closes the
// buckets one by one: a caller that meets a closed bucket, or a chain that is just being split, is
// told so and tries again when the larger table is complete.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "varve/slice.h"

#include "table/cache/cache_entry.h"
#include "util/mem/prefetch.h"
#include "util/sync/mutex.h"

namespace varve {

// Owns its buckets, not the entries.
//
// Thread safety: Find and Push may be called from any thread within an epoch. "By the owner" means
// with the shard's lock held, which debug builds verify.
class CacheTable {
 public:
  CacheTable() = default;
  CacheTable(const CacheTable&) = delete;
  CacheTable& operator=(const CacheTable&) = delete;
  ~CacheTable();

  // Must be called once, before use. `entries` is the expected number of entries, for which the
  // table begins with twice as many buckets, within limits; `owner` is the shard's lock. Throws
  // std::bad_alloc.
  void Init(size_t entries, const Mutex* owner);

  // Result of Find and Push. kTableGrows: there is no answer until the table has grown.
  enum class Outcome { kDone, kTableGrows };

  // Sets *found to the newest entry of that key, or to null: there is none (kDone), or that is not
  // known yet (kTableGrows). Must be called within an epoch, or by the owner.
  Outcome Find(const Slice& key, uint64_t hash, CacheEntry** found) const;
  // Adds `entry`, whose key and hash must be set. With kDone, sets *hides to true if an older entry
  // of the same key is, or may be, after it, and to false otherwise; leaves *hides with
  // kTableGrows. Must be called within an epoch.
  Outcome Push(CacheEntry* entry, bool* hides);

  // Called by the owner. Removes an entry that is in the table.
  void Unlink(CacheEntry* entry);
  // Called by the owner. Returns an older entry of the same key, or null if there is none or
  // `entry` is not in the table.
  [[nodiscard]] CacheEntry* HiddenBy(const CacheEntry* entry) const;
  // Called by the owner. Doubles the number of buckets; keeps the number if memory is out.
  void Grow();
  // Called by the owner. Frees the bucket arrays that were replaced at a stamp (Epoch::Stamp)
  // smaller than `below`.
  void FreeOld(uint64_t below);

  // Called by the owner. ForBucket calls f(entry) for the bucket's entries, and ForEach for all
  // entries; f may remove its entry.
  template <typename F>
  void ForBucket(size_t bucket, F f) {
    owner_->AssertHeld();
    CacheEntry* entry =
        buckets_.load(std::memory_order_relaxed)->heads[bucket].load(std::memory_order_acquire);
    while (entry != nullptr) {
      CacheEntry* const next = entry->next.load(std::memory_order_acquire);
      f(entry);
      entry = next;
    }
  }
  template <typename F>
  void ForEach(F f) {
    owner_->AssertHeld();
    for (size_t i = 0; i < bucket_count(); i++) ForBucket(i, f);
  }
  // Called by the owner or within an epoch. Prefetches the first entry of a bucket.
  void PrefetchBucket(size_t bucket) const {
    const Buckets* const buckets = buckets_.load(std::memory_order_acquire);
    const CacheEntry* const entry =
        buckets->heads[bucket & buckets->mask].load(std::memory_order_relaxed);
    if (entry == nullptr) return;
    PrefetchLine(entry);
    PrefetchLine(&entry->state);  // it is on the next line
  }

  [[nodiscard]] size_t size() const { return size_.load(std::memory_order_relaxed); }
  // Exact while the owner does not grow the table.
  [[nodiscard]] size_t bucket_count() const {
    return bucket_count_.load(std::memory_order_relaxed);
  }
  // True if the table is more than half full: a bucket rarely holds two entries, and each further
  // entry costs a cache miss.
  [[nodiscard]] bool crowded() const { return size() > bucket_count() / 2; }

 private:
  // The array of chains; it is replaced as a whole when the table grows.
  struct Buckets {
    explicit Buckets(size_t count)
        : mask(count - 1), heads(new (std::nothrow) std::atomic<CacheEntry*>[count]()) {}

    const size_t mask;
    const std::unique_ptr<std::atomic<CacheEntry*>[]> heads;
    // Stored with release before the first chain is split, so that a reader which was led to the
    // wrong chain sees it.
    std::atomic<bool> closing{false};
    Buckets* older = nullptr;  // the next array to free
    uint64_t retired = 0;      // Epoch::Stamp at the time larger ones took over
  };

  // Head of a closed bucket. Its contents are never read.
  static CacheEntry closed_;
  // Distributes the chain of an old bucket over the two that replace it.
  static void Split(CacheEntry* chain, size_t bit, std::atomic<CacheEntry*>* low,
                    std::atomic<CacheEntry*>* high);

  const Mutex* owner_ = nullptr;
  // Published with release order.
  std::atomic<Buckets*> buckets_{nullptr};
  Buckets* old_ = nullptr;
  std::atomic<size_t> bucket_count_{0};
  // Written whenever an entry is added or removed, so kept off the line that every look-up reads.
  // Relaxed.
  alignas(64) std::atomic<size_t> size_{0};
};

}  // namespace varve
