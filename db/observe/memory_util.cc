// SPDX-License-Identifier: Apache-2.0

// Sums the memory of several databases and caches.

#include "varve/utilities/memory_util.h"

#include <string>

#include "util/base/caught_exception.h"

namespace varve {

namespace {

using Usage = std::map<MemoryUtil::UsageType, uint64_t>;

// Adds the property of each of the databases to the entry of `type`, which is made if a database
// has the property.
void AddProperty(const std::vector<DB*>& dbs, const std::string& property,
                 MemoryUtil::UsageType type, Usage* usage) {
  for (DB* const db : dbs) {
    uint64_t value = 0;
    if (db != nullptr && db->GetAggregatedIntProperty(property, &value)) (*usage)[type] += value;
  }
}

}  // namespace

Status MemoryUtil::GetApproximateMemoryUsageByType(
    const std::vector<DB*>& dbs, const std::unordered_set<const Cache*>& cache_set,
    std::map<UsageType, uint64_t>* usage_by_type) try {
  if (usage_by_type == nullptr) {
    return Status::InvalidArgument("GetApproximateMemoryUsageByType: no place for the answer");
  }
  Usage usage;
  AddProperty(dbs, DB::Properties::kSizeAllMemTables, kMemTableTotal, &usage);
  AddProperty(dbs, DB::Properties::kCurSizeAllMemTables, kMemTableUnFlushed, &usage);
  AddProperty(dbs, DB::Properties::kEstimateTableReadersMem, kTableReadersTotal, &usage);
  // The caller passes a set, so a cache that databases share is counted once.
  for (const Cache* const cache : cache_set) {
    if (cache != nullptr) usage[kCacheTotal] += cache->GetUsage();
  }
  // The result is set at the end, so that it is unchanged after a failure.
  usage_by_type->swap(usage);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
