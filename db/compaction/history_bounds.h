// SPDX-License-Identifier: Apache-2.0
#pragma once

// The timestamps between which a flush or a compaction keeps history.

#include <string>

namespace varve {

// Timestamps of the family's comparator; an empty string means that there is no such bound.
struct HistoryBounds {
  // Reads as of a time before this one are refused, so of the versions that are older than it only
  // the newest of each key is kept. Empty: all are kept.
  std::string full_history_ts_low;
  // Versions newer than this one are dropped as if they had never been written.
  std::string trim_ts;
};

}  // namespace varve
