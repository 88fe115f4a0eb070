// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of the locks of table/: a thread takes them in ascending order.

#include "util/sync/mutex.h"

namespace varve {

// CacheShards: one thread asks the readers of all shards. Shards are tried under it only.
inline constexpr MutexRank kCacheSweepRank = kTableRanks + 10;
// CacheShard: what leaves the table of the shard. Of one shard at a time.
inline constexpr MutexRank kCacheShardRank = kTableRanks + 20;

}  // namespace varve
