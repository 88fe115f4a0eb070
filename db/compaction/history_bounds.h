// SPDX-License-Identifier: Apache-2.0
#pragma once

// The timestamps between which a flush or a compaction keeps history.

#include <string>

namespace varve {

// Each is empty where nothing is said.
struct HistoryBounds {
  std::string full_history_ts_low;  // of versions before it nobody may ask for any but the newest
  std::string trim_ts;              // those after it are as if they had never been written
};

}  // namespace varve
