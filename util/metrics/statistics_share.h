// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one thread has counted for one Statistics of CreateDBStatistics(). Its thread alone writes
// it, so that counting takes neither an atomic operation on memory nor a call.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/statistics.h"

#include "util/base/assert.h"
#include "util/metrics/histogram.h"

namespace varve {

inline constexpr size_t kCountersAlignment = 64;  // no two threads' counters on a cache line

// Thread safety: one thread at a time writes the counters; any thread may read them meanwhile.
struct alignas(kCountersAlignment) StatisticsShare {
  StatisticsShare() = default;
  ~StatisticsShare() {
    for (const auto& histogram : histograms) delete histogram.load(std::memory_order_relaxed);
  }
  StatisticsShare(const StatisticsShare&) = delete;
  StatisticsShare& operator=(const StatisticsShare&) = delete;

  [[nodiscard]] bool Serves(const Statistics* of) const {
    return statistics.load(std::memory_order_relaxed) == of;
  }

  void Count(uint32_t ticker, uint64_t n) {
    VARVE_ASSERT(ticker < TICKER_ENUM_MAX);
    std::atomic<uint64_t>& counter = tickers[ticker];
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  // False: there was no memory for a histogram's first value.
  bool Add(uint32_t histogram, uint64_t value) {
    VARVE_ASSERT(histogram < HISTOGRAM_ENUM_MAX);
    Histogram* const into = histograms[histogram].load(std::memory_order_relaxed);
    if (into == nullptr) [[unlikely]]
      return AddFirst(histogram, value);
    into->Add(value);
    return true;
  }
  bool AddFirst(uint32_t histogram, uint64_t value);

  void Clear();

  // Null when what stands here counts no more, which its thread is to clear before it goes on.
  std::atomic<const Statistics*> statistics{nullptr};
  std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
  std::array<std::atomic<Histogram*>, HISTOGRAM_ENUM_MAX> histograms{};  // null: empty
};

// The share that the calling thread used last; one that serves nobody before and after.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local StatisticsShare* thread_share;

}  // namespace varve
