// SPDX-License-Identifier: Apache-2.0
#pragma once

// One part of the block cache: its entries, their charges, and the choice of what to evict.
//
// Finding and adding take no lock. Eviction takes one, so that one thread evicts at a time: a hand
// goes round the table, passes over entries that are referenced or were used since it last passed,
// and retires the others. Retired entries wait until no reader can be looking at them. Readers are
// asked for all shards at once, when enough entries wait in all of them together.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/cache.h"

#include "table/cache/cache_entry.h"
#include "table/cache/cache_table.h"
#include "table/cache/recent_misses.h"
#include "table/lock_ranks.h"
#include "util/sync/epoch.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve {

class CacheShards;

// Counts what waits for readers in a group of shards. There are several counters, so that threads
// do not contend for one.
struct alignas(64) CacheWaiting {
  std::atomic<size_t> bytes{0};  // relaxed
};

// Arguments of a shard, as its cache has divided them.
struct CacheShardOptions {
  size_t capacity = 0;  // bytes
  bool strict = false;  // true: an insertion fails rather than exceed the capacity
  // Shares of the capacity reserved for entries of high and of low priority: up to these, such
  // entries stay as long as others can be evicted.
  double high_ratio = 0;
  double low_ratio = 0;
  bool charge_metadata = false;
  size_t expected_entries = 0;  // sizes the table at first; 0: unknown
  // Evicted entries wait until no reader can have them. They may take a fiftieth of the capacity,
  // or this many bytes if that is more, but no more than a sixteenth.
  size_t waiting_bytes = 0;
  MemoryAllocator* allocator = nullptr;
};

// Thread safety: every method may be called from any thread. Deleters run without the lock. In a
// child of fork() the shard is consistent; what other threads had referenced stays referenced
// forever.
class alignas(64) CacheShard final : private ForkWatch {
 public:
  CacheShard() = default;
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;
  ~CacheShard() override;

  // Must be called once, before use. `all` owns this shard; see CacheShards for how long that
  // lives. `sharers` shards share `waiting`.
  void Init(const CacheShardOptions& options, CacheShards* all, CacheWaiting* waiting,
            size_t sharers);

  // Adds the entry; an older one with the same key is removed. Requires that the entry's object,
  // helper, hash, key, charge and priority are set. Takes ownership of entry and object, except
  // after an error. With `want_handle` the caller gets a reference; without it, the object is
  // deleted, and OK returned, if there is no room. If `slot` is not null and is empty, it refers to
  // the entry afterwards; that requires an embedded entry. MemoryLimit: a handle is wanted, the
  // limit is strict, and there is no room.
  Status Insert(CacheEntry* entry, BlockSlot* slot, bool want_handle);
  // True if this many bytes can be added without waiting for readers or for another thread that
  // evicts. Used by callers that can do without the insertion.
  bool Welcomes(size_t charge);
  // True if an entry with this hash and about this charge should be added: there is room for it, or
  // it was asked for a short while ago, too, or the limit is strict, so that its insertion must
  // fail. Used once per miss by callers that can do without the insertion.
  bool Admits(uint64_t hash, size_t charge) VARVE_EXCLUDES(mu_);
  // Prefetches the entry that the next insertion will probably evict.
  void PrefetchVictim() const {
    const Epoch::Guard guard;
    table_.PrefetchBucket(hand_.load(std::memory_order_relaxed) + 1);
  }
  // Returns the newest entry of the key with one reference added, or null.
  CacheEntry* Lookup(const Slice& key, uint64_t hash);
  // Makes `slot` refer to `entry`, which the caller references. Does nothing if the slot refers to
  // an entry already, or if the entry is removed, not embedded, or in another slot.
  void Attach(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // Clears `slot` if it still refers to `entry`. Requires that the caller loaded the entry from the
  // slot within the current epoch. Afterwards the shard does not use the slot.
  void Detach(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // If `slot` still refers to `entry`, takes the entry out of the table, which clears the slot.
  // Requires the same as Detach.
  void Drop(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // Frees the dropped entries with a stamp smaller than `below`, which is a result of
  // Epoch::FreeBelow or KnownFree. Here and below, a stamp is that of Epoch::Stamp when the entry
  // was dropped.
  void FreeDropped(uint64_t below) VARVE_EXCLUDES(mu_);
  // Adds the dropped entries with a stamp smaller than `below` to the list *doomed. Does nothing if
  // another thread has the lock.
  void TakeDropped(uint64_t below, CacheEntry** doomed) VARVE_EXCLUDES(mu_);
  // Frees a list of entries that the shard has given up, linked by CacheEntry::link, and runs their
  // deleters. `doomed` is its head, and may be null.
  void FreeAll(CacheEntry* doomed) VARVE_EXCLUDES(mu_);
  // Clears the slots of all entries. Must be called for all shards before the first is cleared.
  void TakeSlotsBack() VARVE_EXCLUDES(mu_);
  // Takes all entries out of the table. Requires that no other thread calls Lookup or Insert any
  // more.
  void Clear() VARVE_EXCLUDES(mu_);
  // Releases a reference. The cache may be gone already, and all shards may be deleted with this
  // reference. Returns true if the entry was given up.
  bool Release(CacheEntry* entry, bool erase_if_last_ref);
  // Takes the entries with the key out of the table. Waits for readers, unless this thread is one,
  // so that the object is deleted before the return if there is no reference to it.
  void Erase(const Slice& key, uint64_t hash) VARVE_EXCLUDES(mu_);

  // Changes the capacity, and evicts at once what exceeds it.
  void SetCapacity(size_t capacity);
  void SetStrict(bool strict) { strict_.store(strict, std::memory_order_relaxed); }
  // Drops every entry without a reference.
  void EraseUnreferenced() VARVE_EXCLUDES(mu_);

  // Calls f(entry) for each entry of the table with the lock held, so that none leaves meanwhile.
  template <typename F>
  void ForEach(F f) VARVE_EXCLUDES(mu_) {
    const MutexLock lock(&mu_);
    table_.ForEach(f);
  }

  // Returns the charges of all entries that are not freed yet.
  [[nodiscard]] size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  // Returns the part of usage() that is referenced. Visits all entries.
  [[nodiscard]] size_t PinnedUsage() VARVE_EXCLUDES(mu_);
  // Returns the part of usage() that was evicted and waits for readers.
  [[nodiscard]] size_t retired_usage() const {
    return retired_usage_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] size_t entry_count() const { return table_.size(); }
  [[nodiscard]] size_t bucket_count() const { return table_.bucket_count(); }
  // Returns the entry's charge, which with `charge_metadata` includes the entry itself.
  [[nodiscard]] size_t ChargeOf(const CacheEntry& entry) const;

  // Frees the entry but not its object. Frees nothing if the entry is embedded in the object.
  static void FreeEntryOnly(CacheEntry* entry);

 private:
  // Says how patiently the hand looks for something to evict.
  struct Search {
    bool recency = true;     // true: entries used since the last pass get another round
    uint8_t rounds = 0;      // entries with more rounds left than this stay
    bool priorities = true;  // true: so do entries of a priority whose share is not used up
  };
  enum class Effort {
    kSome,  // gives up after a number of buckets without success
    kAll,   // goes round the whole table, and asks the readers of what waits
  };

  // Evicts until the usage is within the capacity; returns false if that is impossible. Waits for
  // another evicting thread only if `must` is true.
  bool MakeRoom(Effort effort, bool must) VARVE_EXCLUDES(mu_);
  // Does the part of MakeRoom that needs the lock. Adds what can be freed to the list *doomed.
  // Returns true if the usage is within the capacity afterwards.
  bool Evict(Effort effort, CacheEntry** doomed) VARVE_REQUIRES(mu_);
  // Returns true if an entry was evicted.
  bool SweepBucket(size_t bucket, Search search) VARVE_REQUIRES(mu_);
  // True if the share of the entry's priority is not used up.
  [[nodiscard]] bool IsProtected(const CacheEntry& entry) const;
  // Adds the entry's charge to the usage of its priority's share, or subtracts it.
  void CountShare(const CacheEntry& entry, bool comes);

  // Counts `charge` as used, and evicts to make room for it. With `must`, returns false, with
  // nothing counted, if the capacity has no room for the charge; waiting retired entries take room
  // only with `strict`, which also searches longer. Without `must`, always counts it and returns
  // true.
  bool Reserve(size_t charge, bool strict, bool must);
  // Adds the entry, removes an older one of its key, and enlarges the table if it is crowded.
  void AddToTable(CacheEntry* entry) VARVE_EXCLUDES(mu_);
  // Takes the older entry that `entry` hides out of the table.
  void DropHidden(const CacheEntry* entry) VARVE_EXCLUDES(mu_);
  // Enlarges the table, unless another thread has the lock or has done so.
  void GrowTable() VARVE_EXCLUDES(mu_);
  // Does Release for a reference whose release does more than decrement a count.
  bool ReleaseSlow(CacheEntry* entry, bool erase_if_last_ref);
  // Releases a reference to an entry that is to be dropped with its last reference. Requires that
  // the caller has a share in all shards. Returns true if this was the last reference.
  bool ReleaseUnwanted(CacheEntry* entry, bool at_once) VARVE_EXCLUDES(mu_);
  // Drops a reference. Returns true, with *last false, if that was the last one of an entry that is
  // removed; the entry then belongs to the caller. Otherwise returns false; *last is true if the
  // entry, still in the table, has no references left. This shard may be deleted already.
  static bool DropReference(CacheEntry* entry, bool* last);
  // Frees the waiting retired entries. Returns false if readers are in the way.
  bool FreeRetired() VARVE_EXCLUDES(mu_);
  // Like FreeRetired, but waits for readers if this thread may wait: an object may stand for more
  // than memory, such as an open file.
  void FreeNow() VARVE_EXCLUDES(mu_);
  // Frees an entry that was removed before and is now marked retired, and gives up its share in all
  // shards.
  void FreeRemoved(CacheEntry* entry) VARVE_EXCLUDES(mu_);
  // Takes an entry out of the table; it is freed with its last reference.
  void Remove(CacheEntry* entry) VARVE_REQUIRES(mu_);
  // Unlinks an entry from the table and clears its slot.
  void LeaveTable(CacheEntry* entry) VARVE_REQUIRES(mu_);
  // Clears the slot that refers to the entry, if there is one.
  static void TakeSlotBack(CacheEntry* entry);
  // Makes an entry wait to be freed. Requires that it is retired and not in the table.
  void Retire(CacheEntry* entry) VARVE_REQUIRES(mu_);
  // Adds the entries that no reader can have any more to the list *doomed. The form without `below`
  // asks the readers, which is a system call.
  void TakeFreeable(CacheEntry** doomed) VARVE_REQUIRES(mu_);
  void TakeFreeable(uint64_t below, CacheEntry** doomed) VARVE_REQUIRES(mu_);
  // Returns how much of the capacity is left free for retired entries that wait, so that readers
  // are asked once for many entries. The capacity may change between two calls, so a decision must
  // read it only once.
  [[nodiscard]] size_t Slack(size_t capacity) const;
  // Number of bytes evicted at once. It is limited because the hand, whose search is bounded, must
  // not pass used entries more often than new ones arrive.
  static size_t EvictedAtOnce(size_t slack) { return slack / 4; }
  // Returns how much may wait in the shards that share `waiting_`. Beyond that, insertions that the
  // caller can do without are refused.
  [[nodiscard]] size_t WaitingMost(size_t slack) const { return slack * sharers_; }
  [[nodiscard]] bool WaitingHasRoom(size_t charge) const {
    const size_t bytes = waiting_->bytes.load(std::memory_order_relaxed);
    const size_t slack = Slack(capacity());
    return bytes == 0 || bytes + charge + EvictedAtOnce(slack) <= WaitingMost(slack);
  }
  // Asks the readers if enough bytes wait.
  void FreeWaitingIfMany() VARVE_EXCLUDES(mu_);
  // True if the usage exceeds the capacity by more than what other threads have counted and not yet
  // made room for.
  [[nodiscard]] bool FarOverCapacity() const;
  [[nodiscard]] size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  // Returns the bytes that are not of waiting retired entries.
  [[nodiscard]] size_t LiveUsage() const {
    const size_t all = usage();
    const size_t retired = retired_usage();
    return all > retired ? all - retired : 0;
  }

  // Dropped entries, newest first. All may be freed once `stamp`, that of the newest, has passed.
  struct RetiredList {
    CacheEntry* first = nullptr;
    uint64_t stamp = 0;
    size_t usage = 0;
  };
  // Adds the entries of a list to the list *doomed if its stamp is smaller than `below`.
  void TakeFreeable(RetiredList* retired, uint64_t below, CacheEntry** doomed) VARVE_REQUIRES(mu_);

  CacheTable table_;
  RecentMisses misses_;  // misses that were not followed by an insertion
  CacheShards* all_ = nullptr;
  // Relaxed, as these are only settings and sums.
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> retired_usage_{0};
  std::atomic<size_t> high_usage_{0};  // bytes of entries with high priority
  std::atomic<size_t> low_usage_{0};
  alignas(64) std::atomic<size_t> capacity_{0};
  std::atomic<bool> strict_{false};
  double high_ratio_ = 0;
  double low_ratio_ = 0;
  bool charge_metadata_ = false;
  size_t waiting_bytes_ = 0;
  CacheWaiting* waiting_ = nullptr;
  size_t sharers_ = 1;
  MemoryAllocator* allocator_ = nullptr;

  alignas(64) Mutex mu_{kCacheShardRank};
  std::atomic<size_t> hand_{0};  // the bucket visited last; changed under the lock
  size_t removed_usage_ VARVE_GUARDED_BY(mu_) =
      0;  // bytes of entries that are removed, but referenced
  // New entries go to the second list. If that has an older stamp, it becomes the first, provided
  // that the first is empty: so an entry that arrives while readers are asked does not make earlier
  // ones wait longer.
  RetiredList retired_lists_[2] VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
