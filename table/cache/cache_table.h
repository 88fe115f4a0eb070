// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hash table of one shard of the block cache: finding and adding take no lock.
//
// Buckets are chains, newest entry first. Adding exchanges the head of one; taking out and growing
// are for one thread at a time, beside any number that find and add. Growing closes the buckets one
// by one: a caller that meets a closed one, or a chain that is just being taken apart, is told so
// and tries again when the larger table stands.

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

// Owns its buckets, not the entries. "By the owner": with the lock of the shard held, which debug
// builds verify.
class CacheTable {
 public:
  CacheTable() = default;
  CacheTable(const CacheTable&) = delete;
  CacheTable& operator=(const CacheTable&) = delete;
  ~CacheTable();

  // Once, before use. For so many entries to begin with; `owner` is the lock of the shard.
  void Init(size_t entries, const Mutex* owner);

  // What Find and Push may find instead of an answer.
  enum class Outcome { kDone, kTableGrows };

  // Within an epoch: the newest entry of that key, or null.
  Outcome Find(const Slice& key, uint64_t hash, CacheEntry** found) const;
  // Within an epoch. `entry` has key and hash. *hides: an older entry of the same key is, or may
  // be, after it.
  Outcome Push(CacheEntry* entry, bool* hides);

  // By the owner: takes out what is in the table.
  void Unlink(CacheEntry* entry);
  // By the owner: an older entry of the same key, null if there is none or `entry` is not here.
  [[nodiscard]] CacheEntry* HiddenBy(const CacheEntry* entry) const;
  // By the owner: twice as many buckets, or as many as before if there is no memory for that.
  void Grow();
  // By the owner: frees the buckets of before a growth with a smaller stamp than this.
  void FreeOld(uint64_t below);

  // By the owner, for f(entry), which may take its entry out.
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
  // By the owner or within an epoch: asks for the first entry of a bucket.
  void PrefetchBucket(size_t bucket) const {
    const Buckets* const buckets = buckets_.load(std::memory_order_acquire);
    const CacheEntry* const entry =
        buckets->heads[bucket & buckets->mask].load(std::memory_order_relaxed);
    if (entry == nullptr) return;
    PrefetchLine(entry);
    PrefetchLine(&entry->state);  // on the next line
  }

  [[nodiscard]] size_t size() const { return size_.load(std::memory_order_relaxed); }
  // While the owner does not grow it.
  [[nodiscard]] size_t bucket_count() const {
    return bucket_count_.load(std::memory_order_relaxed);
  }
  // Half full: a bucket rarely holds two, and each further entry is a further cache miss.
  [[nodiscard]] bool crowded() const { return size() > bucket_count() / 2; }

 private:
  struct Buckets {
    explicit Buckets(size_t count)
        : mask(count - 1), heads(new (std::nothrow) std::atomic<CacheEntry*>[count]()) {}

    const size_t mask;
    const std::unique_ptr<std::atomic<CacheEntry*>[]> heads;
    // Release before the first chain is taken apart: a reader that was led astray sees it.
    std::atomic<bool> closing{false};
    Buckets* older = nullptr;  // of those to free
    uint64_t retired = 0;      // Epoch::Stamp of when larger ones took over
  };

  // What the head of a closed bucket points to. Never looked into.
  static CacheEntry closed_;
  // Hands the chain of the old bucket out to the two that take its place.
  static void Split(CacheEntry* chain, size_t bit, std::atomic<CacheEntry*>* low,
                    std::atomic<CacheEntry*>* high);

  const Mutex* owner_ = nullptr;
  // Published with release.
  std::atomic<Buckets*> buckets_{nullptr};
  Buckets* old_ = nullptr;
  std::atomic<size_t> bucket_count_{0};
  // Written with every entry that comes and goes: not beside what every look-up reads. Relaxed.
  alignas(64) std::atomic<size_t> size_{0};
};

}  // namespace varve
