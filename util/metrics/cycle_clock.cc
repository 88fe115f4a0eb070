// SPDX-License-Identifier: Apache-2.0
#include "util/metrics/cycle_clock.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace varve {

constinit std::atomic<const SystemClock*> CycleClock::stands_for_{nullptr};
constinit std::atomic<double> CycleClock::nanos_per_cycle_{0};

namespace {

// The kernel has checked the counter already: it uses another clock source if the counters of the
// cores differ, stop in sleep or change their rate.
bool SystemKeepsTimeByCycles() {
#if defined(__x86_64__) && defined(__linux__)
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return file >> source && source == "tsc";
#else
  return false;
#endif
}

struct Moment {
  uint64_t cycles;
  std::chrono::steady_clock::time_point time;
};

// Reads both clocks at one moment: the closest of a few tries, as a thread may be interrupted
// between them.
Moment ReadBoth() {
  Moment closest{};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    const uint64_t before = CycleClock::Now();
    const auto time = std::chrono::steady_clock::now();
    const uint64_t apart = CycleClock::Now() - before;
    if (apart >= least) continue;
    least = apart;
    closest = {before + apart / 2, time};
  }
  return closest;
}

// Measures long enough for a rate with an error of a tenth of a percent.
double MeasureNanosPerCycle() {
  constexpr std::chrono::microseconds kApart{200};
  const Moment start = ReadBoth();
  while (std::chrono::steady_clock::now() - start.time < kApart) {
  }
  const Moment end = ReadBoth();
  const std::chrono::duration<double, std::nano> nanos = end.time - start.time;
  const uint64_t cycles = end.cycles - start.cycles;
  return nanos.count() / static_cast<double>(std::max<uint64_t>(cycles, 1));
}

}  // namespace

void CycleClock::Calibrate() {
  static const bool reliable = [] {
    if (!SystemKeepsTimeByCycles()) return false;
    nanos_per_cycle_.store(MeasureNanosPerCycle(), std::memory_order_relaxed);
    return true;
  }();
  // Release: a thread that sees this also sees the rate.
  if (reliable) stands_for_.store(SystemClock::Default().get(), std::memory_order_release);
}

}  // namespace varve
