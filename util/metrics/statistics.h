// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine's side of Statistics: recording through a pointer that is usually null. A null pointer
// costs one branch; no clock is read unless the result will be kept.

#include <cstdint>

#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "util/metrics/perf_counters.h"

namespace varve {

inline void RecordTick(Statistics* statistics, uint32_t ticker, uint64_t n = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, n);
}

inline void RecordInHistogram(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->recordInHistogram(histogram, value);
}

// For values that are durations.
inline void RecordTimeToHistogram(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->reportTimeToHistogram(histogram, value);
}

// Whether durations for `histogram` are wanted, and with that reading the clock.
inline bool TimesHistogram(const Statistics* statistics, uint32_t histogram,
                           StatsLevel from = kExceptDetailedTimers) {
  return statistics != nullptr && statistics->get_stats_level() >= from &&
         statistics->HistEnabledForType(histogram);
}

// Records the microseconds of its scope in a histogram. `clock` and `statistics` outlive it;
// `statistics` may be null.
class StopWatch {
 public:
  StopWatch(SystemClock* clock, Statistics* statistics, uint32_t histogram,
            StatsLevel from = kExceptDetailedTimers)
      : clock_(clock),
        statistics_(TimesHistogram(statistics, histogram, from) ? statistics : nullptr),
        histogram_(histogram),
        start_nanos_(statistics_ != nullptr ? clock_->NowNanos() : 0) {}
  ~StopWatch() {
    if (statistics_ != nullptr) {
      statistics_->reportTimeToHistogram(histogram_, (clock_->NowNanos() - start_nanos_) / 1000);
    }
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  SystemClock* const clock_;
  Statistics* const statistics_;  // null = not measuring
  const uint32_t histogram_;
  const uint64_t start_nanos_;
};

// Adds the nanoseconds of its scope to a ticker, from a level on.
class TickerTimer {
 public:
  TickerTimer(Statistics* statistics, uint32_t ticker, StatsLevel from)
      : statistics_(statistics != nullptr && statistics->get_stats_level() >= from ? statistics
                                                                                   : nullptr),
        ticker_(ticker),
        start_(statistics_ != nullptr ? PerfClockNanos() : 0) {}
  ~TickerTimer() {
    if (statistics_ != nullptr) statistics_->recordTick(ticker_, PerfClockNanos() - start_);
  }
  TickerTimer(const TickerTimer&) = delete;
  TickerTimer& operator=(const TickerTimer&) = delete;

 private:
  Statistics* const statistics_;  // null = not measuring
  const uint32_t ticker_;
  const uint64_t start_;
};

}  // namespace varve
