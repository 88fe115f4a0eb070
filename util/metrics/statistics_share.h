// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the counters of one thread for one Statistics of CreateDBStatistics(). Only its thread
// writes it, so that counting needs neither an atomic read-modify-write nor a call.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/statistics.h"

#include "util/base/assert.h"
#include "util/metrics/histogram.h"

namespace varve {

inline constexpr size_t kCountersAlignment = 64;  // No two threads' counters share a cache line.

// Thread safety: one thread at a time writes the counters; any thread may read them meanwhile.
struct alignas(kCountersAlignment) StatisticsShare {
  StatisticsShare() = default;
  ~StatisticsShare() {
    for (const auto& histogram : histograms) delete histogram.load(std::memory_order_relaxed);
  }
  StatisticsShare(const StatisticsShare&) = delete;
  StatisticsShare& operator=(const StatisticsShare&) = delete;

  // True if the thread counts for this Statistics at present.
  [[nodiscard]] bool Serves(const Statistics* of) const {
    return statistics.load(std::memory_order_relaxed) == of;
  }

  // Adds to a ticker with a plain load and store, since no other thread writes it.
  void Count(uint32_t ticker, uint64_t n) {
    VARVE_ASSERT(ticker < TICKER_ENUM_MAX);
    std::atomic<uint64_t>& counter = tickers[ticker];
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  // Returns false if there was no memory for a histogram's first value.
  bool Add(uint32_t histogram, uint64_t value) {
    VARVE_ASSERT(histogram < HISTOGRAM_ENUM_MAX);
    Histogram* const into = histograms[histogram].load(std::memory_order_relaxed);
    if (into == nullptr) [[unlikely]]
      return AddFirst(histogram, value);
    into->Add(value);
    return true;
  }
  // Makes the histogram, and adds its first value. Returns false if there was no memory.
  bool AddFirst(uint32_t histogram, uint64_t value);

  // Sets all counts to zero.
  void Clear();

  // Null if these counts are obsolete; the thread must clear them before it counts again.
  std::atomic<const Statistics*> statistics{nullptr};
  std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
  std::array<std::atomic<Histogram*>, HISTOGRAM_ENUM_MAX> histograms{};  // Null if empty.
};

// The share that the calling thread used last; before and after, a share that serves no statistics.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local StatisticsShare* thread_share;

}  // namespace varve
