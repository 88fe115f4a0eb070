// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine's side of IOStatsContext. Used beside system calls, where a call to reach the context
// does not matter.

#include <cstdint>

#include "varve/iostats_context.h"

#include "util/metrics/perf_counters.h"

namespace varve {

inline bool IOStatsCounts() {
  return PerfLevelAtLeast(kEnableCount) && !get_iostats_context()->disable_iostats;
}

// AddIOStats<&IOStatsContext::bytes_read>(n).
template <uint64_t IOStatsContext::*kCounter>
inline void AddIOStats(uint64_t n) {
  if (IOStatsCounts()) get_iostats_context()->*kCounter += n;
}

// Adds the wall time of its scope to a counter, from kEnableTimeExceptForMutex on.
template <uint64_t IOStatsContext::*kCounter>
class IOStatsTimer {
 public:
  IOStatsTimer()
      : start_(PerfLevelAtLeast(kEnableTimeExceptForMutex) && IOStatsCounts() ? PerfClockNanos()
                                                                              : 0) {}
  ~IOStatsTimer() {
    if (start_ != 0) get_iostats_context()->*kCounter += PerfClockNanos() - start_;
  }
  IOStatsTimer(const IOStatsTimer&) = delete;
  IOStatsTimer& operator=(const IOStatsTimer&) = delete;

 private:
  const uint64_t start_;  // 0 = not measuring
};

}  // namespace varve
