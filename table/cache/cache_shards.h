// SPDX-License-Identifier: Apache-2.0
#pragma once

// All shards of one block cache. They go with the cache, or with the last reference that it handed
// out, whichever comes later.

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

// Counted. The cache has a share, and each entry that is out of its table but referenced has one:
// entries in a table, and references to them, cost none. Close makes all that is referenced such an
// entry.
//
// Thread safety: operator[], Ref and Unref from any thread; Close as the cache's destructor.
class CacheShards final : private ForkWatch {
 public:
  // With one share. `allocator`, which may be null, is that of `options`.
  CacheShards(size_t count, const CacheShardOptions& options,
              std::shared_ptr<MemoryAllocator> allocator);
  CacheShards(const CacheShards&) = delete;
  CacheShards& operator=(const CacheShards&) = delete;

  CacheShard& operator[](size_t i) {
    VARVE_ASSERT(i < count_);
    return shards_[i];
  }

  // Requires a share, of the caller or of an owner that cannot release it meanwhile.
  void Ref() {
    [[maybe_unused]] const size_t before = shares_.fetch_add(1, std::memory_order_relaxed);
    VARVE_ASSERT(before != 0);
  }
  void Unref() {
    // Release: what was done under this share is done; acquire: under all others, too.
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Frees what was evicted in any shard and what no reader can have any more, unless another thread
  // is at it. If of `some` more than `most` bytes are left, asks the readers: a system call, but
  // not while one is in the way. Requires a share.
  void FreeWaiting(const CacheWaiting& some, size_t most) VARVE_EXCLUDES(sweep_mu_);

  // Gives the share of the cache up: frees what nobody references. Afterwards references can only
  // be released.
  void Close();

 private:
  ~CacheShards() override { Forget(); }

  void Sweep(CacheEntry** doomed) VARVE_REQUIRES(sweep_mu_);

  static constexpr size_t kWaitingCount = 4;

  const std::shared_ptr<MemoryAllocator> allocator_;  // of the entries that are left
  const size_t count_;
  CacheWaiting waiting_[kWaitingCount];
  const std::unique_ptr<CacheShard[]> shards_;
  std::atomic<size_t> shares_{1};

  Mutex sweep_mu_{kCacheSweepRank};
  uint64_t asked_ VARVE_GUARDED_BY(sweep_mu_) = 0;  // stamp of what readers were asked for last
  uint64_t swept_ VARVE_GUARDED_BY(sweep_mu_) = 0;  // what has a smaller stamp was freed
};

// A share for the time of one call that gives up the reference which kept the shards.
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
