// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says how much of a MANIFEST is applied, for an opening at an earlier state.

#include <cstdint>
#include <map>
#include <set>

namespace varve {

// Plain data. An atomic group of records counts at the offset of its last record.
struct ManifestPoint {
  uint64_t manifest = 0;      // number of the MANIFEST
  uint64_t end = UINT64_MAX;  // records at this offset and later ones are not read
  // Maps a family's id to an offset from which on records do not change its tables. Families that
  // are not listed are read to the end.
  std::map<uint32_t, uint64_t> families;
  std::set<uint64_t> absent;  // tables that are skipped when they are added

  // True if the record at that offset changes tables of the family.
  bool Reaches(uint32_t family, uint64_t record) const {
    const auto bound = families.find(family);
    return bound == families.end() || record < bound->second;
  }
  bool whole() const { return end == UINT64_MAX && families.empty() && absent.empty(); }
};

}  // namespace varve
