// SPDX-License-Identifier: Apache-2.0
#include "table/cache/cache_shards.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/sync/epoch.h"

namespace varve {

CacheShards::CacheShards(size_t count, const CacheShardOptions& options,
                         std::shared_ptr<MemoryAllocator> allocator)
    : allocator_(std::move(allocator)), count_(count), shards_(new CacheShard[count]) {
  VARVE_ASSERT(std::has_single_bit(count));
  const size_t groups = std::min(count, kWaitingCount);  // both powers of two
  for (size_t i = 0; i < count; i++) {
    shards_[i].Init(options, this, &waiting_[i % groups], count / groups);
  }
  Watch(&sweep_mu_);
}

void CacheShards::FreeWaiting(const CacheWaiting& some, size_t most) {
  if (!sweep_mu_.TryLock()) return;
  CacheEntry* doomed = nullptr;
  // A reader that was inside when they were asked usually leaves soon, which is seen without asking
  // again.
  if (Epoch::IsFree(asked_)) {
    Sweep(&doomed);
    if (some.bytes.load(std::memory_order_relaxed) > most) {
      asked_ = Epoch::Stamp();
      (void)Epoch::IsFree(asked_);
    }
  }
  Sweep(&doomed);
  sweep_mu_.Unlock();
  shards_[0].FreeAll(doomed);
}

void CacheShards::Sweep(CacheEntry** doomed) {
  const uint64_t below = VARVE_CANARY(kFreeUnderReaders) ? Epoch::Stamp() + 1 : Epoch::KnownFree();
  if (below == swept_) return;
  VARVE_ASSERT(below > swept_);
  swept_ = below;
  for (size_t i = 0; i < count_; i++) shards_[i].TakeDropped(below, doomed);
}

void CacheShards::Close() {
  // An entry freed with one shard may be an index that has slots for entries of another.
  for (size_t i = 0; i < count_; i++) shards_[i].TakeSlotsBack();
  for (size_t i = 0; i < count_; i++) shards_[i].Clear();
  Epoch::WaitForReaders();
  for (size_t i = 0; i < count_; i++) shards_[i].FreeDropped(Epoch::KnownFree());
  Unref();
}

}  // namespace varve
