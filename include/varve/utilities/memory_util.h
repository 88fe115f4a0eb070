// SPDX-License-Identifier: Apache-2.0
#pragma once

// MemoryUtil adds up the memory that databases and caches hold.
//
//   std::map<varve::MemoryUtil::UsageType, uint64_t> usage;
//   varve::Status s =
//       varve::MemoryUtil::GetApproximateMemoryUsageByType({db}, {cache.get()}, &usage);

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Computes how much memory several databases and caches hold. Thread-safe. The types overlap:
// unflushed memtables are among all memtables, and caches may hold what
// DBOptions::write_buffer_manager charges to them.
class VARVE_EXPORT MemoryUtil {
 public:
  enum UsageType : int {
    // Bytes of all memtables: those written to, waiting for a flush, or pinned by readers.
    kMemTableTotal = 0,
    // Bytes of memtables that are not flushed yet.
    kMemTableUnFlushed = 1,
    // Bytes of index and filter blocks outside the caches, and of table properties.
    kTableReadersTotal = 2,
    // Bytes in use in the caches (Cache::GetUsage).
    kCacheTotal = 3,
    // Number of types; not a type itself.
    kNumUsageTypes = 4,
  };

  // Sets *usage_by_type to the bytes of each type, summed over these databases and caches,
  // approximately at one moment. A database counts all of its column families; null databases and
  // caches are skipped. Without any, their types have no entry. InvalidArgument if `usage_by_type`
  // is null.
  static Status GetApproximateMemoryUsageByType(const std::vector<DB*>& dbs,
                                                const std::unordered_set<const Cache*>& cache_set,
                                                std::map<UsageType, uint64_t>* usage_by_type);
};

}  // namespace varve
