// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the engine's side of IOStatsContext: what the calling thread reads and writes. Bytes are
// counted at every perf level, times from the levels on that ask for times.

#include <cstdint>

#include "varve/iostats_context.h"
#include "varve/types.h"

#include "util/metrics/perf_counters.h"

namespace varve {

// Accessed without a call, like thread_perf. Null until the thread counted something.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local IOStatsContext* thread_iostats;

// Creates the calling thread's counters. Called once a thread.
IOStatsContext* FirstThreadIOStats();

// Returns the calling thread's counters, which live until the thread ends.
inline IOStatsContext* ThreadIOStats() {
  IOStatsContext* const stats = thread_iostats;
  return stats != nullptr ? stats : FirstThreadIOStats();
}

// Adds to one of the calling thread's counters, unless the thread has set disable_iostats.
template <uint64_t IOStatsContext::*kCounter>
inline void AddIOCount(uint64_t n) {
  IOStatsContext* const stats = ThreadIOStats();
  if (!stats->disable_iostats) stats->*kCounter += n;
}

// Counts one read of a file of that temperature.
void CountFileRead(Temperature temperature, uint64_t bytes);

// Adds the wall time of its scope to a counter, and the processor time to another if one is named.
template <uint64_t IOStatsContext::*kCounter, uint64_t IOStatsContext::*kCpuCounter = nullptr>
class IOTimer {
 public:
  IOTimer() : start_(PerfLevelAtLeast(kEnableTimeExceptForMutex) ? PerfClockNanos() : 0) {
    if constexpr (kCpuCounter != nullptr) {
      if (PerfLevelAtLeast(kEnableTimeAndCPUTimeExceptForMutex)) cpu_start_ = PerfCpuNanos();
    }
  }
  ~IOTimer() {
    if (start_ == 0) [[likely]]
      return;
    AddIOCount<kCounter>(PerfClockNanos() - start_);
    if constexpr (kCpuCounter != nullptr) {
      if (cpu_start_ != 0) AddIOCount<kCpuCounter>(PerfCpuNanos() - cpu_start_);
    }
  }
  IOTimer(const IOTimer&) = delete;
  IOTimer& operator=(const IOTimer&) = delete;

 private:
  const uint64_t start_;  // 0 if not measuring.
  uint64_t cpu_start_ = 0;
};

}  // namespace varve
