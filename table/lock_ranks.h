// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the order of the locks of table/: a thread takes them in ascending order.

#include "util/sync/mutex.h"

namespace varve {

// Lock of CacheShards: held by the one thread that asks the readers of all shards. A shard's lock
// is only tried while it is held.
inline constexpr MutexRank kCacheSweepRank = kTableRanks + 10;
// Lock of CacheShard: guards removal from the shard's table. A thread holds that of one shard at a
// time.
inline constexpr MutexRank kCacheShardRank = kTableRanks + 20;

}  // namespace varve
