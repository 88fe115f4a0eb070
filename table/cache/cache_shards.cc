// SPDX-License-Identifier: Apache-2.0
#include "table/cache/cache_shards.h"

#include <utility>

#include "util/sync/epoch.h"

namespace varve {

CacheShards::CacheShards(size_t count, const CacheShardOptions& options,
                         std::shared_ptr<MemoryAllocator> allocator)
    : allocator_(std::move(allocator)), count_(count), shards_(new CacheShard[count]) {
  for (size_t i = 0; i < count; i++) shards_[i].Init(options, this);
}

void CacheShards::Close() {
  // What goes with one shard may be an index that has slots for entries of another.
  for (size_t i = 0; i < count_; i++) shards_[i].TakeSlotsBack();
  for (size_t i = 0; i < count_; i++) shards_[i].Clear();
  Epoch::WaitForReaders();
  for (size_t i = 0; i < count_; i++) shards_[i].FreeDropped(Epoch::KnownFree());
  Unref();
}

}  // namespace varve
