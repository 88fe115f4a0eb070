// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB 7's Java glue makes the cache that was removed from RocksDB since; it gets an LRU cache,
// as it does from RocksDB 7 itself.

#include "varve/cache.h"

namespace varve {

inline std::shared_ptr<Cache> NewClockCache(size_t capacity, int num_shard_bits = -1,
                                            bool strict_capacity_limit = false) {
  return NewLRUCache(capacity, num_shard_bits, strict_capacity_limit);
}

}  // namespace varve
