// SPDX-License-Identifier: Apache-2.0
#pragma once

// One part of the block cache: its entries, what they are charged, and which of them go.
//
// Finding and adding take no lock. Eviction takes one, one thread at a time: a hand goes round the
// table, passes over what is referenced or was used since it last came by, and takes the rest out.
// What was taken out waits in limbo until no reader can be looking at it. Readers are asked for all
// shards at once, when together enough waits.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/cache.h"

#include "table/cache/cache_entry.h"
#include "table/cache/cache_table.h"
#include "table/lock_ranks.h"
#include "util/sync/epoch.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve {

class CacheShards;

// What waits for readers in some of the shards: few, so that many threads do not meet in one.
struct alignas(64) CacheWaiting {
  std::atomic<size_t> bytes{0};  // relaxed
};

struct CacheShardOptions {
  size_t capacity = 0;  // bytes
  bool strict = false;  // refuse rather than exceed it
  // Shares of the capacity up to which entries of high, and of low, priority stay as long as others
  // can go.
  double high_ratio = 0;
  double low_ratio = 0;
  bool charge_metadata = false;
  size_t expected_entries = 0;
  size_t waiting_bytes = 0;  // what may wait for readers of a small capacity, up to a sixteenth
  MemoryAllocator* allocator = nullptr;
};

// Thread safety: everything may be called from any thread. Deleters run without the lock. In a
// child of fork() the shard is whole; what other threads had referenced stays referenced for ever.
class alignas(64) CacheShard final : private ForkWatch {
 public:
  CacheShard() = default;
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;
  ~CacheShard() override;

  // Once, before use. `all` has this shard; see there for how long that lives. `waiting` is that of
  // `sharers` shards.
  void Init(const CacheShardOptions& options, CacheShards* all, CacheWaiting* waiting,
            size_t sharers);

  // As Cache::Insert; takes `entry`, whose hash is set, over unless it fails. `slot`, if not null
  // and empty, refers to it from then on.
  Status Insert(CacheEntry* entry, BlockSlot* slot, bool want_handle);
  // Whether so much can come in without waiting for readers or for another thread that evicts. For
  // those who can do without.
  bool Welcomes(size_t charge);
  // Asks for the memory of what will probably have to go for what comes next.
  void PrefetchVictim() const {
    const Epoch::Guard guard;
    table_.PrefetchBucket(hand_.load(std::memory_order_relaxed) + 1);
  }
  // With a reference.
  CacheEntry* Lookup(const Slice& key, uint64_t hash);
  // Makes `slot` refer to `entry`, which the caller references; or leaves it, if the entry is gone
  // or another slot has it.
  void Attach(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // Undoes that, for an entry that was loaded from the slot within the current epoch. Afterwards
  // nothing here knows the slot.
  void Detach(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // The same, and nobody finds the entry any more.
  void Drop(CacheEntry* entry, BlockSlot* slot) VARVE_EXCLUDES(mu_);
  // Frees of what was dropped what is stamped with less.
  void FreeDropped(uint64_t below) VARVE_EXCLUDES(mu_);
  // Moves it to *doomed, unless another thread has the lock.
  void TakeDropped(uint64_t below, CacheEntry** doomed) VARVE_EXCLUDES(mu_);
  // Runs deleters of what a shard has given up.
  void FreeAll(CacheEntry* doomed) VARVE_EXCLUDES(mu_);
  // From all entries. Before the first shard is cleared.
  void TakeSlotsBack() VARVE_EXCLUDES(mu_);
  // Takes all entries out of the table. Nobody looks for them any more.
  void Clear() VARVE_EXCLUDES(mu_);
  // The cache may be gone already, and all shards may go with this reference.
  bool Release(CacheEntry* entry, bool erase_if_last_ref);
  void Erase(const Slice& key, uint64_t hash) VARVE_EXCLUDES(mu_);

  void SetCapacity(size_t capacity);
  void SetStrict(bool strict) { strict_.store(strict, std::memory_order_relaxed); }
  void EraseUnreferenced() VARVE_EXCLUDES(mu_);

  // Calls f(entry) for what is in the table, with the lock held: nothing leaves meanwhile.
  template <typename F>
  void ForEach(F f) VARVE_EXCLUDES(mu_) {
    const MutexLock lock(&mu_);
    table_.ForEach(f);
  }

  // Bytes of everything not yet freed.
  [[nodiscard]] size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  // Of that, what is referenced. Goes over all entries.
  [[nodiscard]] size_t PinnedUsage() VARVE_EXCLUDES(mu_);
  // Of that, what was evicted and waits for readers.
  [[nodiscard]] size_t limbo_usage() const { return limbo_usage_.load(std::memory_order_relaxed); }
  [[nodiscard]] size_t entry_count() const { return table_.size(); }
  [[nodiscard]] size_t bucket_count() const { return table_.bucket_count(); }
  // With `charge_metadata`, that of the entry itself too.
  [[nodiscard]] size_t ChargeOf(const CacheEntry& entry) const;

  // Not its object, and nothing of the entry itself if it is embedded in that.
  static void FreeEntryOnly(CacheEntry* entry);

 private:
  // How patiently the hand looks for something to evict.
  struct Search {
    bool recency = true;     // what was used gets another round
    uint8_t rounds = 0;      // what has more than so many left gets them
    bool priorities = true;  // so do those of a priority whose share is not used up
  };
  enum class Effort { kSome, kAll };

  // Evicts until the usage is within the capacity; false if that cannot be. Unless it must, it does
  // not wait for another thread that evicts.
  bool MakeRoom(Effort effort, bool must) VARVE_EXCLUDES(mu_);
  bool Evict(Effort effort, CacheEntry** doomed) VARVE_REQUIRES(mu_);
  // Whether something went.
  bool SweepBucket(size_t bucket, Search search) VARVE_REQUIRES(mu_);
  [[nodiscard]] bool IsProtected(const CacheEntry& entry) const;
  // Counts what an entry takes of its priority's share.
  void CountShare(const CacheEntry& entry, bool comes);

  // Counts bytes that come as used, and evicts for them. False, with nothing counted, if they must
  // fit and do not. With `strict` it tries hard.
  bool Reserve(size_t charge, bool strict, bool must);
  void AddToTable(CacheEntry* entry) VARVE_EXCLUDES(mu_);
  // Ends the life in the table of one that hides behind `entry`.
  void DropHidden(const CacheEntry* entry) VARVE_EXCLUDES(mu_);
  void GrowTable() VARVE_EXCLUDES(mu_);
  // Release, where more is to do than to count.
  bool ReleaseSlow(CacheEntry* entry, bool erase_if_last_ref);
  // Of a reference to an entry that should go with the last. Requires a share in all shards.
  bool ReleaseUnwanted(CacheEntry* entry, bool at_once) VARVE_EXCLUDES(mu_);
  // Gives a reference up; true if that was the last to an entry that is gone, which is the caller's
  // then. Otherwise *last says whether the entry has none left, and this may be gone.
  static bool DropReference(CacheEntry* entry, bool* last);
  // False if readers are in the way.
  bool FreeLimbo() VARVE_EXCLUDES(mu_);
  // The same, and waits for readers for that if this thread may: an object may stand for more
  // than memory, such as an open file.
  void FreeNow() VARVE_EXCLUDES(mu_);
  // For one that is marked retired and was gone before: its share in all shards is given up.
  void FreeGone(CacheEntry* entry) VARVE_EXCLUDES(mu_);
  // Takes an entry out of the table; it goes with its last reference.
  void MakeGone(CacheEntry* entry) VARVE_REQUIRES(mu_);
  // Out of the table, and its slot cleared.
  void LeaveTable(CacheEntry* entry) VARVE_REQUIRES(mu_);
  static void TakeSlotBack(CacheEntry* entry);
  // For one that is marked retired and out of the table.
  void AddToLimbo(CacheEntry* entry) VARVE_REQUIRES(mu_);
  // Moves to *doomed what no reader can have any more. Costs a system call.
  void EmptyLimbo(CacheEntry** doomed) VARVE_REQUIRES(mu_);
  void EmptyLimbo(uint64_t below, CacheEntry** doomed) VARVE_REQUIRES(mu_);
  // How much of the capacity is left free for what waits in limbo, so that readers are asked once
  // for many entries.
  // The capacity may change between two looks at it: what belongs together asks once.
  [[nodiscard]] size_t Slack(size_t capacity) const;
  // Several go at once: the hand, which looks for so long only, must not pass what is used more
  // often than others come.
  static size_t EvictedAtOnce(size_t slack) { return slack / 4; }
  // How much may wait in the shards that share `waiting_`: what comes in and can do without is sent
  // away instead.
  [[nodiscard]] size_t WaitingMost(size_t slack) const { return slack * sharers_; }
  [[nodiscard]] bool WaitingHasRoom(size_t charge) const {
    const size_t bytes = waiting_->bytes.load(std::memory_order_relaxed);
    const size_t slack = Slack(capacity());
    return bytes == 0 || bytes + charge + EvictedAtOnce(slack) <= WaitingMost(slack);
  }
  // Has readers asked when it is time.
  void FreeWaitingIfMany() VARVE_EXCLUDES(mu_);
  // By more than what other threads have counted and not yet made room for.
  [[nodiscard]] bool FarOverCapacity() const;
  [[nodiscard]] size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  // Bytes that are not in limbo.
  [[nodiscard]] size_t LiveUsage() const {
    const size_t all = usage();
    const size_t limbo = limbo_usage();
    return all > limbo ? all - limbo : 0;
  }

  // Dropped entries, newest first: all are free once the stamp, that of the newest, has passed.
  struct Limbo {
    CacheEntry* first = nullptr;
    uint64_t stamp = 0;
    size_t usage = 0;
  };
  void EmptyLimbo(Limbo* limbo, uint64_t below, CacheEntry** doomed) VARVE_REQUIRES(mu_);

  CacheTable table_;
  CacheShards* all_ = nullptr;
  // Relaxed: settings and sums.
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> limbo_usage_{0};
  std::atomic<size_t> high_usage_{0};  // of the entries of high priority
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
  std::atomic<size_t> hand_{0};  // the bucket that was looked at last; moved under the lock
  size_t gone_usage_ VARVE_GUARDED_BY(mu_) = 0;  // of entries that are gone, but referenced
  // New ones go to the second. When that has an older stamp, it becomes the first, if that is
  // empty: an entry that comes while readers are asked does not make those before it wait longer.
  Limbo limbo_[2] VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
