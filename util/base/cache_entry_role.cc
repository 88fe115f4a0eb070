// SPDX-License-Identifier: Apache-2.0

// Defines the printed names of cache entry roles, as they appear in properties and option strings.

#include <array>
#include <cstddef>
#include <string>

#include "varve/cache.h"

namespace varve {

const std::string& GetCacheEntryRoleName(CacheEntryRole role) {
  // The order is that of the enumeration.
  static const std::array<std::string, kNumCacheEntryRoles> kNames = {
      "data-block",          "filter-block",
      "filter-meta-block",   "deprecated-filter-block",
      "index-block",         "other-block",
      "write-buffer",        "compression-dictionary-building-buffer",
      "filter-construction", "block-based-table-reader",
      "file-metadata",       "blob-value",
      "blob-cache",          "misc",
  };
  const auto i = static_cast<size_t>(role);
  return i < kNames.size() ? kNames[i] : kNames.back();
}

const std::string& BlockCacheEntryStatsMapKeys::CacheId() {
  static const std::string kName = "id";
  return kName;
}

const std::string& BlockCacheEntryStatsMapKeys::CacheCapacityBytes() {
  static const std::string kName = "capacity";
  return kName;
}

const std::string& BlockCacheEntryStatsMapKeys::LastCollectionDurationSeconds() {
  static const std::string kName = "secs_for_last_collection";
  return kName;
}

const std::string& BlockCacheEntryStatsMapKeys::LastCollectionAgeSeconds() {
  static const std::string kName = "secs_since_last_collection";
  return kName;
}

std::string BlockCacheEntryStatsMapKeys::EntryCount(CacheEntryRole role) {
  return "count." + GetCacheEntryRoleName(role);
}

std::string BlockCacheEntryStatsMapKeys::UsedBytes(CacheEntryRole role) {
  return "bytes." + GetCacheEntryRoleName(role);
}

std::string BlockCacheEntryStatsMapKeys::UsedPercent(CacheEntryRole role) {
  return "percent." + GetCacheEntryRoleName(role);
}

}  // namespace varve
