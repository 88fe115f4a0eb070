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
  // Another thread is sweeping, and will free what this one would have, so this one does not wait.
  if (!sweep_mu_.TryLock()) return;
  CacheEntry* doomed = nullptr;
  // asked_ is the epoch at the last question whether readers have left. Readers that were inside
  // then usually leave soon: until they have, no new question is asked, and the sweep below frees
  // what is known to be free.
  if (Epoch::IsFree(asked_)) {
    Sweep(&doomed);
    if (some.bytes.load(std::memory_order_relaxed) > most) {
      asked_ = Epoch::Stamp();
      // This is the question; Sweep finds the answer in Epoch::KnownFree.
      (void)Epoch::IsFree(asked_);
    }
  }
  Sweep(&doomed);
  sweep_mu_.Unlock();
  // Deleters run with no lock held, because they are users' code. Any shard can run them.
  shards_[0].FreeAll(doomed);
}

void CacheShards::Sweep(CacheEntry** doomed) {
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  const uint64_t below = VARVE_CANARY(kFreeUnderReaders) ? Epoch::Stamp() + 1 : Epoch::KnownFree();
  if (below == swept_) return;
  VARVE_ASSERT(below > swept_);
  swept_ = below;
  for (size_t i = 0; i < count_; i++) shards_[i].TakeDropped(below, doomed);
}

// Called once, by the cache's destructor. Entries that are still referenced have shares of their
// own from now on, and the last one that is released deletes the shards.
void CacheShards::Close() {
  // An entry freed with one shard may be an index that has slots for entries of another.
  for (size_t i = 0; i < count_; i++) shards_[i].TakeSlotsBack();
  for (size_t i = 0; i < count_; i++) shards_[i].Clear();
  // A reader that loaded an entry from a slot before it was cleared may still be about to look at
  // it.
  Epoch::WaitForReaders();
  for (size_t i = 0; i < count_; i++) shards_[i].FreeDropped(Epoch::KnownFree());
  Unref();
}

}  // namespace varve
