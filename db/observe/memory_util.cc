// SPDX-License-Identifier: Apache-2.0

// Sums what several databases and caches hold.

#include "varve/utilities/memory_util.h"

#include <string>

#include "util/base/caught_exception.h"

namespace varve {

namespace {

using Usage = std::map<MemoryUtil::UsageType, uint64_t>;

// Adds the property of these databases to the type, which gets an entry if one of them has it.
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
  // The caller names the caches, so a cache that databases share is in the set once.
  for (const Cache* const cache : cache_set) {
    if (cache != nullptr) usage[kCacheTotal] += cache->GetUsage();
  }
  // The result is exchanged at the end: after a failure it is as it was.
  usage_by_type->swap(usage);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
