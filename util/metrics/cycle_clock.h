// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures durations by the processor's cycle counter, for callers to whom a read of the system's
// clock would be a noticeable part of what they measure.

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "varve/system_clock.h"

namespace varve {

// Used only if the system itself keeps time by that counter: only then it has one rate on all
// cores.
//
// Thread safety: everything may be called by any thread at any time.
class CycleClock {
 public:
  // Measures the counter's rate, which takes less than a millisecond; further calls in a process
  // measure nothing. Until the first call has ended, and always if the counter is not reliable,
  // StandsFor returns false.
  static void Calibrate();

  // True if cycles may replace reads of `clock`, which is then the system's own.
  static bool StandsFor(const SystemClock* clock) {
    return stands_for_.load(std::memory_order_acquire) == clock;
  }
  // Returns the counter; 0 on other processors, for which StandsFor is always false.
  static uint64_t Now() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
  }
  // Returns the nanoseconds since `start`; zero if the counters of two cores differ so much that
  // time went backwards.
  static uint64_t NanosSince(uint64_t start) {
    const auto cycles = static_cast<int64_t>(Now() - start);
    if (cycles <= 0) return 0;
    return static_cast<uint64_t>(static_cast<double>(cycles) *
                                 nanos_per_cycle_.load(std::memory_order_relaxed));
  }

 private:
  static std::atomic<const SystemClock*> stands_for_;
  static std::atomic<double> nanos_per_cycle_;
};

}  // namespace varve
