// SPDX-License-Identifier: Apache-2.0

// Printed names of cache entry roles, as they appear in properties and option strings.

#include <array>
#include <cstddef>
#include <string>

#include "varve/cache.h"

namespace varve {

const std::string& GetCacheEntryRoleName(CacheEntryRole role) {
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

}  // namespace varve
