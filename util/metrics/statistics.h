// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the engine's side of Statistics: recording through a pointer that is usually null. A
// null pointer costs one branch, with the recording code out of line; no clock is read unless the
// result will be kept. Statistics of CreateDBStatistics() are counted in the thread's own share,
// without a call.
//
//      statistics null                        one branch
//      the share of this thread serves it     StatisticsShare::Count, inlined
//      any other object                       a virtual call
//
//      RecordTick, RecordInHistogram          values that are known anyway
//      TimesHistogram                         is a duration wanted, so that a clock must be read?
//      StopWatch, TickerTimer, TimeIfWanted   durations, each with the level from which it is taken

#include <cstdint>

#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "util/metrics/cycle_clock.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics_share.h"

namespace varve {

// Adds `n` to a ticker; does nothing if `statistics` is null. Requires that `ticker` is one of the
// enumeration. Inlined, because every read calls it several times.
[[gnu::always_inline]] inline void RecordTick(Statistics* statistics, uint32_t ticker,
                                              uint64_t n = 1) {
  if (statistics == nullptr) [[likely]]
    return;
  StatisticsShare* const share = thread_share;
  if (!share->Serves(statistics)) [[unlikely]] {
    statistics->recordTick(ticker, n);
  } else if (statistics->get_stats_level() > kExceptTickers) {
    share->Count(ticker, n);
  }
}

// Adds a value, which is not a duration, to a histogram; does nothing if `statistics` is null.
// Requires that `histogram` is one of the enumeration.
inline void RecordInHistogram(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics == nullptr) [[likely]]
    return;
  StatisticsShare* const share = thread_share;
  const bool done =
      share->Serves(statistics) &&
      (statistics->get_stats_level() <= kExceptHistogramOrTimers || share->Add(histogram, value));
  if (!done) [[unlikely]]
    statistics->recordInHistogram(histogram, value);
}

// Records a duration; ignored at levels that exclude timers.
inline void RecordTimeToHistogram(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics == nullptr) [[likely]]
    return;
  if (!thread_share->Serves(statistics)) [[unlikely]] {
    statistics->reportTimeToHistogram(histogram, value);
  } else if (statistics->get_stats_level() > kExceptTimers) {
    RecordInHistogram(statistics, histogram, value);
  }
}

// True if durations for `histogram` are wanted, so that the clock must be read: at stats levels
// from `from` on, unless the program's Statistics excludes that histogram.
inline bool TimesHistogram(const Statistics* statistics, uint32_t histogram,
                           StatsLevel from = kExceptDetailedTimers) {
  return statistics != nullptr && statistics->get_stats_level() >= from &&
         (thread_share->Serves(statistics) || statistics->HistEnabledForType(histogram));
}

// Measures the time since its construction for a histogram that may want it; otherwise it reads no
// clock.
class TimeIfWanted {
 public:
  // `clock` must outlive this; the system's own is read in the cheapest way.
  TimeIfWanted(const Statistics* statistics, uint32_t histogram, SystemClock* clock,
               StatsLevel from = kExceptDetailedTimers)
      : wanted_(TimesHistogram(statistics, histogram, from)) {
    if (!wanted_) [[likely]]
      return;
    if (!CycleClock::StandsFor(clock)) clock_ = clock;
    start_ = clock_ == nullptr ? CycleClock::Now() : clock_->NowNanos();
  }

  // True if the time is measured; otherwise Nanos must not be called.
  [[nodiscard]] bool wanted() const { return wanted_; }
  // Return the time since the construction.
  [[nodiscard]] uint64_t Nanos() const {
    return clock_ == nullptr ? CycleClock::NanosSince(start_) : clock_->NowNanos() - start_;
  }
  [[nodiscard]] uint64_t Micros() const { return Nanos() / 1000; }

 private:
  // Decided once, so that a change of the level in between does no harm.
  const bool wanted_;
  SystemClock* clock_ = nullptr;  // Null: cycles replace the clock.
  uint64_t start_ = 0;            // In cycles or nanoseconds.
};

// Records the microseconds of its scope in a histogram. `clock` and `statistics` outlive it;
// `statistics` may be null.
class StopWatch {
 public:
  StopWatch(SystemClock* clock, Statistics* statistics, uint32_t histogram,
            StatsLevel from = kExceptDetailedTimers)
      : statistics_(statistics), histogram_(histogram), time_(statistics, histogram, clock, from) {}
  ~StopWatch() {
    if (time_.wanted()) [[unlikely]]
      RecordTimeToHistogram(statistics_, histogram_, time_.Micros());
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  Statistics* const statistics_;
  const uint32_t histogram_;
  const TimeIfWanted time_;
};

// Adds the nanoseconds of its scope to a ticker, if the stats level is at least `from`. Reads no
// clock otherwise.
class TickerTimer {
 public:
  TickerTimer(Statistics* statistics, uint32_t ticker, StatsLevel from)
      : statistics_(statistics != nullptr && statistics->get_stats_level() >= from ? statistics
                                                                                   : nullptr),
        ticker_(ticker),
        start_(statistics_ != nullptr ? PerfClockNanos() : 0) {}
  ~TickerTimer() {
    if (statistics_ != nullptr) RecordTick(statistics_, ticker_, PerfClockNanos() - start_);
  }
  TickerTimer(const TickerTimer&) = delete;
  TickerTimer& operator=(const TickerTimer&) = delete;

 private:
  Statistics* const statistics_;  // Null if not measuring.
  const uint32_t ticker_;
  const uint64_t start_;
};

}  // namespace varve
