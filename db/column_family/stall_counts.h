// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts how often a column family entered each stall condition since the opening or ResetStats.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "varve/types.h"

namespace varve {

// Guarded by the DB mutex, as part of the family.
struct StallCounts {
  static constexpr size_t kCauses =
      static_cast<size_t>(WriteStallCause::kCFScopeWriteStallCauseEnumMax);
  // Indexed by cause.
  uint64_t stops[kCauses] = {};
  uint64_t delays[kCauses] = {};
  uint64_t l0_stops_while_compacting = 0;  // while a compaction of L0 was running
  uint64_t l0_delays_while_compacting = 0;

  // Counts that the family has entered a condition.
  void Count(WriteStallCondition condition, WriteStallCause cause, bool compacting_l0);
  // Return the sums over all causes.
  uint64_t total_stops() const;
  uint64_t total_delays() const;
  // Returns the counts under the names of the properties cf-write-stall-stats and cfstats.
  std::map<std::string, std::string> ToMap() const;
};

}  // namespace varve
