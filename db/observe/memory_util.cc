// SPDX-License-Identifier: Apache-2.0

// Sums what several databases and caches hold.

#include "varve/utilities/memory_util.h"

#include <string>

#include "util/base/caught_exception.h"

namespace varve {

namespace {

uint64_t SumOfProperty(const std::vector<DB*>& dbs, const std::string& property) {
  uint64_t sum = 0;
  for (DB* const db : dbs) {
    uint64_t value = 0;
    if (db != nullptr && db->GetAggregatedIntProperty(property, &value)) sum += value;
  }
  return sum;
}

}  // namespace

Status MemoryUtil::GetApproximateMemoryUsageByType(
    const std::vector<DB*>& dbs, const std::unordered_set<const Cache*>& cache_set,
    std::map<UsageType, uint64_t>* usage_by_type) try {
  if (usage_by_type == nullptr) {
    return Status::InvalidArgument("GetApproximateMemoryUsageByType: no place for the answer");
  }
  std::map<UsageType, uint64_t> usage;
  usage[kMemTableTotal] = SumOfProperty(dbs, DB::Properties::kSizeAllMemTables);
  usage[kMemTableUnFlushed] = SumOfProperty(dbs, DB::Properties::kCurSizeAllMemTables);
  usage[kTableReadersTotal] = SumOfProperty(dbs, DB::Properties::kEstimateTableReadersMem);
  uint64_t& caches = usage[kCacheTotal];
  for (const Cache* const cache : cache_set) caches += cache != nullptr ? cache->GetUsage() : 0;
  usage_by_type->swap(usage);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
