// SPDX-License-Identifier: Apache-2.0
#pragma once

// MemoryUtil adds up the memory that databases and caches hold.

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class VARVE_EXPORT MemoryUtil {
 public:
  enum UsageType : int {
    kMemTableTotal = 0,      // Memtables: written to, waiting for a flush, or pinned.
    kMemTableUnFlushed = 1,  // Memtables that are not flushed yet.
    kTableReadersTotal = 2,  // Index and filter blocks outside the caches, and table properties.
    kCacheTotal = 3,         // Contents of the caches.
    kNumUsageTypes = 4,
  };

  // Sets *usage_by_type to the bytes of each type, summed over these databases and caches,
  // approximately at one moment. A database counts all of its column families; null databases are
  // skipped. InvalidArgument if `usage_by_type` is null.
  static Status GetApproximateMemoryUsageByType(const std::vector<DB*>& dbs,
                                                const std::unordered_set<const Cache*>& cache_set,
                                                std::map<UsageType, uint64_t>* usage_by_type);
};

}  // namespace varve
