// SPDX-License-Identifier: Apache-2.0
#pragma once

// MemoryUtil: what databases and caches hold together.

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
    kMemTableTotal = 0,      // Memtables: those that are written, wait for a flush, or are pinned.
    kMemTableUnFlushed = 1,  // The same without those that are flushed already.
    kTableReadersTotal = 2,  // Index and filter blocks outside of the caches, tables' properties.
    kCacheTotal = 3,         // What lies in the caches.
    kNumUsageTypes = 4,
  };

  // Sets *usage_by_type to bytes of each type, over these databases and caches, about as they are
  // at one moment. Databases count all of their column families; null ones are passed over.
  // InvalidArgument if the place is null.
  static Status GetApproximateMemoryUsageByType(const std::vector<DB*>& dbs,
                                                const std::unordered_set<const Cache*>& cache_set,
                                                std::map<UsageType, uint64_t>* usage_by_type);
};

}  // namespace varve
