// SPDX-License-Identifier: Apache-2.0
#pragma once

// All shards of one block cache. They live as long as the cache and the references that it handed
// out.
//
// A user may release a handle after the cache object is gone, for instance with an iterator that is
// destroyed late. Entries would therefore have to keep their shard alive; a counter that every
// look-up changes would be a point of contention, though. Instead only the rare entries count:
//
//      in its table, referenced or not     no share     the cache's own share covers it
//      out of its table, referenced        one share    added when it leaves the table
//      out of its table, unreferenced      freed, or waiting for readers (CacheWaiting)
//
// Invariants
// 1. While an entry is in a table, the cache exists: Close empties the tables before the cache's
//    share goes.
// 2. The last share deletes the shards, so the thread that releases it must not touch them
//    afterwards. A call that releases a reference and goes on holds a CacheShardsShare.
// 3. Evicted entries are freed only when every reader that was inside at that time has left
//    (util/sync/epoch.h). sweep_mu_ lets one thread at a time find out.

#include <atomic>
#include <cstddef>
#include <memory>

#include "varve/memory_allocator.h"

#include "table/cache/cache_shard.h"
#include "table/lock_ranks.h"
#include "util/base/assert.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve {

// Reference-counted by shares. The cache has a share, and so has each entry that is out of its
// table but referenced; entries in a table, and references to them, have none. Close takes all
// entries that are referenced out of their tables.
//
// Thread safety: operator[], Ref and Unref may be called from any thread; Close is called by the
// cache's destructor.
class CacheShards final : private ForkWatch {
 public:
  // Creates the shards with one share. `allocator` is that of `options` and may be null.
  CacheShards(size_t count, const CacheShardOptions& options,
              std::shared_ptr<MemoryAllocator> allocator);
  CacheShards(const CacheShards&) = delete;
  CacheShards& operator=(const CacheShards&) = delete;

  CacheShard& operator[](size_t i) {
    VARVE_ASSERT(i < count_);
    return shards_[i];
  }

  // Adds a share. Requires a share of the caller, or of an owner that cannot release it meanwhile.
  void Ref() {
    [[maybe_unused]] const size_t before = shares_.fetch_add(1, std::memory_order_relaxed);
    VARVE_ASSERT(before != 0);
  }
  void Unref() {
    // Release: what was done under this share is complete; acquire: so is what others did.
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Frees the evicted entries of all shards that no reader can have any more; does nothing if
  // another thread does so already. If more than `most` bytes of `some` are left, asks the readers,
  // which is a system call, but not while a reader is known to be in the way. Requires that the
  // caller has a share.
  void FreeWaiting(const CacheWaiting& some, size_t most) VARVE_EXCLUDES(sweep_mu_);

  // Gives up the cache's share and frees what is not referenced. Afterwards references can only be
  // released.
  void Close();

 private:
  ~CacheShards() override { Forget(); }

  // Adds the evicted entries of all shards that no reader can have any more to the list *doomed, as
  // far as that is known without asking.
  void Sweep(CacheEntry** doomed) VARVE_REQUIRES(sweep_mu_);

  static constexpr size_t kWaitingCount = 4;

  const std::shared_ptr<MemoryAllocator> allocator_;  // allocator of the remaining entries
  // Number of shards, a power of two.
  const size_t count_;
  // Entries that wait for readers, counted for groups of shards, so that not all threads write to
  // one counter.
  CacheWaiting waiting_[kWaitingCount];
  // The shards; their number is count_.
  const std::unique_ptr<CacheShard[]> shards_;
  // One share for the cache, and one for each entry that was removed while referenced: the last
  // one deletes the shards.
  std::atomic<size_t> shares_{1};

  Mutex sweep_mu_{kCacheSweepRank};
  uint64_t asked_ VARVE_GUARDED_BY(sweep_mu_) = 0;  // stamp for which the readers were asked last
  uint64_t swept_ VARVE_GUARDED_BY(sweep_mu_) = 0;  // everything with a smaller stamp was freed
};

// Holds a share during a call that releases the reference which kept the shards.
class CacheShardsShare {
 public:
  explicit CacheShardsShare(CacheShards* shards) : shards_(shards) { shards_->Ref(); }
  ~CacheShardsShare() { shards_->Unref(); }
  CacheShardsShare(const CacheShardsShare&) = delete;
  CacheShardsShare& operator=(const CacheShardsShare&) = delete;

 private:
  CacheShards* const shards_;
};

}  // namespace varve
