// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many entries of which kind a table holds: what weights, scores and estimates are made of.

#include <cstdint>

#include "varve/table_properties.h"

namespace varve {

struct TableCounts {
  uint64_t entries = 0;    // range deletions included; 0: the counts are not known
  uint64_t deletions = 0;  // of keys and of ranges
  uint64_t range_deletions = 0;
  uint64_t raw_key_bytes = 0;
  uint64_t raw_value_bytes = 0;
  // Entries beneath a newer one of their key in the same table. No property says it: 0 for tables
  // whose counts come from there.
  uint64_t hidden = 0;
  // Nothing held back the compaction that made the table, and nothing lay beneath: another one
  // would gain nothing.
  bool settled = false;

  bool known() const { return entries != 0; }
  // Deletions that more than outnumber the other entries: a file with any is on its way to free
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
