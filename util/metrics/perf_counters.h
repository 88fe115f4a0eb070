// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the engine's side of PerfContext: counting and timing that cost almost nothing if the
// thread did not ask for them.
//
// A thread's level and the address of its context share sixteen bytes of thread-local storage,
// which need no initialiser and no call to access. The counters themselves are allocated on first
// use, because the fast access model has little static storage if the library is loaded at run
// time.

#include <cstdint>
#include <string_view>

#include "varve/perf_context.h"

namespace varve {

// A thread's perf level and counters, together, as both are asked for at each event.
struct ThreadPerf {
  PerfLevel level;
  PerfContext* context;  // Null until something was counted.
};

// constinit on the declaration spares every access the check for a dynamic initialiser.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadPerf thread_perf;

// Creates the calling thread's context. Called once a thread.
PerfContext* CreateThreadPerfContext();

// PerfClockNanos returns nanoseconds of a monotonic clock; PerfCpuNanos returns CPU time of the
// calling thread, 0 if unknown. They read the machine's clocks, not a SystemClock: the counters
// belong to a thread, not to a database.
uint64_t PerfClockNanos();
uint64_t PerfCpuNanos();

// Returns the counter whose field has this name; null if there is none.
uint64_t PerfContextBase::*FindPerfCounter(std::string_view name);

// True if the calling thread has asked for this level or a higher one.
inline bool PerfLevelAtLeast(PerfLevel level) {
  return thread_perf.level >= level;
}

// Returns the calling thread's context, which is created on first use.
inline PerfContext* ThreadPerfContext() {
  PerfContext* const context = thread_perf.context;
  return context != nullptr ? context : CreateThreadPerfContext();
}

// Adds to one counter, as in AddPerfCount<&PerfContext::block_read_byte>(size).
template <uint64_t PerfContextBase::*kCounter>
inline void AddPerfCount(uint64_t n = 1) {
  if (PerfLevelAtLeast(kEnableCount)) ThreadPerfContext()->*kCounter += n;
}

// Call this once for each call of a comparator with user keys.
inline void CountUserKeyComparison() {
  AddPerfCount<&PerfContext::user_key_comparison_count>();
}

// Counts `n` calls, for loops that count locally and report once.
inline void CountUserKeyComparisons(uint64_t n) {
  AddPerfCount<&PerfContext::user_key_comparison_count>(n);
}

// Adds to a counter of one LSM level, if the thread keeps such counters.
void AddPerfLevelCountSlow(uint32_t level, uint64_t PerfContextByLevel::*counter, uint64_t n);

// True if the thread keeps counters for each level of the tree.
inline bool PerfKeepsLevels() {
  const PerfContext* const context = thread_perf.context;
  return context != nullptr && context->per_level_perf_context_enabled &&
         PerfLevelAtLeast(kEnableCount);
}

// Like AddPerfCount, for the counter of a level.
template <uint64_t PerfContextByLevel::*kCounter>
inline void AddPerfLevelCount(uint32_t level, uint64_t n = 1) {
  if (PerfKeepsLevels()) [[unlikely]] {
    AddPerfLevelCountSlow(level, kCounter, n);
  }
}

// Adds the wall time of its scope to a counter. Reads no clock below level `kFrom`.
template <uint64_t PerfContextBase::*kCounter, PerfLevel kFrom = kEnableTimeExceptForMutex>
class PerfTimer {
 public:
  PerfTimer() : start_(PerfLevelAtLeast(kFrom) ? PerfClockNanos() : 0) {}
  ~PerfTimer() { Stop(); }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

  // Ends the measurement before the scope does; later calls do nothing.
  void Stop() {
    if (start_ == 0) return;
    ThreadPerfContext()->*kCounter += PerfClockNanos() - start_;
    start_ = 0;
  }

 private:
  uint64_t start_;  // 0 if not measuring.
};

// Like PerfTimer for CPU time.
template <uint64_t PerfContextBase::*kCounter>
class PerfCpuTimer {
 public:
  PerfCpuTimer()
      : start_(PerfLevelAtLeast(kEnableTimeAndCPUTimeExceptForMutex) ? PerfCpuNanos() : 0) {}
  ~PerfCpuTimer() {
    if (start_ != 0) ThreadPerfContext()->*kCounter += PerfCpuNanos() - start_;
  }
  PerfCpuTimer(const PerfCpuTimer&) = delete;
  PerfCpuTimer& operator=(const PerfCpuTimer&) = delete;

 private:
  const uint64_t start_;  // 0 if not measuring.
};

}  // namespace varve
