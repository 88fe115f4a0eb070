// SPDX-License-Identifier: Apache-2.0
#pragma once

// The timestamps between which a flush or a compaction keeps history.

#include <string>

namespace varve {

// Empty strings mean "not set".
struct HistoryBounds {
  std::string full_history_ts_low;  // only the newest of older versions may be read
  std::string trim_ts;              // versions after it are treated as never written
};

}  // namespace varve
