// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts a table's entries by kind, as a base of weights, scores and estimates.

#include <cstdint>

#include "varve/table_properties.h"

namespace varve {

struct TableCounts {
  uint64_t entries = 0;    // including range deletions; 0: the counts are unknown
  uint64_t deletions = 0;  // deletions of keys and of ranges
  uint64_t range_deletions = 0;
  uint64_t raw_key_bytes = 0;
  uint64_t raw_value_bytes = 0;
  // Number of entries beneath a newer one of their key in the same table. No property has it: 0 for
  // tables whose counts come from properties.
  uint64_t hidden = 0;
  // True if another compaction of the table alone would gain nothing: the one that made it had to
  // keep nothing for a snapshot, and had no data beneath or rewrote its inputs in their own level.
  bool settled = false;

  bool known() const { return entries != 0; }
  // Returns by how much deletions outnumber the other entries. A file with a surplus exists to free
  // space, not to hold data.
  uint64_t SurplusDeletions() const {
    return deletions * 2 > entries ? deletions * 2 - entries : 0;
  }
  uint64_t Values() const { return entries > deletions ? entries - deletions : 0; }

  bool operator==(const TableCounts&) const = default;
};

inline TableCounts CountsOf(const TableProperties& properties) {
  TableCounts counts;
  counts.entries = properties.num_entries;
  counts.deletions = properties.num_deletions;
  counts.range_deletions = properties.num_range_deletions;
  counts.raw_key_bytes = properties.raw_key_size;
  counts.raw_value_bytes = properties.raw_value_size;
  return counts;
}

}  // namespace varve
