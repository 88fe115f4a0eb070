// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much of a MANIFEST counts, where an opening goes back behind its end.

#include <cstdint>
#include <map>
#include <set>

namespace varve {

// Plain data. An atomic group of records counts as its last record does.
struct ManifestPoint {
  uint64_t manifest = 0;      // its number
  uint64_t end = UINT64_MAX;  // records at this offset and later ones are not read
  // By column family's id: records at that offset and later ones change no tables of it. Those that
  // are not named are as they are at the end.
  std::map<uint32_t, uint64_t> families;
  std::set<uint64_t> absent;  // tables that are left out where they are added

  // Whether tables of the family are changed by the record at that offset.
  bool Reaches(uint32_t family, uint64_t record) const {
    const auto bound = families.find(family);
    return bound == families.end() || record < bound->second;
  }
  bool whole() const { return end == UINT64_MAX && families.empty() && absent.empty(); }
};

}  // namespace varve
