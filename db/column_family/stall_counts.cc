// SPDX-License-Identifier: Apache-2.0

// Durations of stalls are counted for the whole database (StallControl), as one family's stall
// delays or stops the writes of all.

#include "db/column_family/stall_counts.h"

#include <iterator>
#include <numeric>

namespace varve {

void StallCounts::Count(WriteStallCondition condition, WriteStallCause cause, bool compacting_l0) {
  const auto row = static_cast<size_t>(cause);
  // The causes within a family come first in the enum; others, such as the write-buffer manager,
  // are counted elsewhere.
  if (condition == WriteStallCondition::kNormal || row >= kCauses) return;
  const bool stop = condition == WriteStallCondition::kStopped;
  (stop ? stops : delays)[row]++;
  if (cause == WriteStallCause::kL0FileCountLimit && compacting_l0) {
    (stop ? l0_stops_while_compacting : l0_delays_while_compacting)++;
  }
}

uint64_t StallCounts::total_stops() const {
  return std::accumulate(std::begin(stops), std::end(stops), uint64_t{0});
}

uint64_t StallCounts::total_delays() const {
  return std::accumulate(std::begin(delays), std::end(delays), uint64_t{0});
}

std::map<std::string, std::string> StallCounts::ToMap() const {
  // The names are those of RocksDB's property cf-write-stall-stats, in the order of the enum.
  static constexpr const char* kNames[kCauses] = {"memtable-limit", "l0-file-count-limit",
                                                  "pending-compaction-bytes"};
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < kCauses; i++) {
    result[std::string(kNames[i]) + "-stops"] = std::to_string(stops[i]);
    result[std::string(kNames[i]) + "-delays"] = std::to_string(delays[i]);
  }
  const std::string l0 = kNames[static_cast<size_t>(WriteStallCause::kL0FileCountLimit)];
  result[l0 + "-stops-with-ongoing-compaction"] = std::to_string(l0_stops_while_compacting);
  result[l0 + "-delays-with-ongoing-compaction"] = std::to_string(l0_delays_while_compacting);
  result["total-stops"] = std::to_string(total_stops());
  result["total-delays"] = std::to_string(total_delays());
  return result;
}

}  // namespace varve
