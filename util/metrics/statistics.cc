// SPDX-License-Identifier: Apache-2.0
// Defaults of the Statistics interface, and StripedStatistics, which CreateDBStatistics() returns.

#include "util/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <thread>

#include "util/metrics/histogram.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

Statistics::~Statistics() = default;

std::string Statistics::getHistogramString(uint32_t /*type*/) const {
  return "";
}

void Statistics::measureTime(uint32_t /*histogramType*/, uint64_t /*time*/) {}

void Statistics::recordInHistogram(uint32_t histogramType, uint64_t value) {
  measureTime(histogramType, value);
}

void Statistics::reportTimeToHistogram(uint32_t histogramType, uint64_t time) {
  if (get_stats_level() > kExceptTimers) recordInHistogram(histogramType, time);
}

Status Statistics::Reset() {
  return Status::NotSupported("Statistics::Reset is not implemented by this class");
}

std::string Statistics::ToString() const {
  return "";
}

bool Statistics::getTickerMap(std::map<std::string, uint64_t>* /*map*/) const {
  return false;
}

namespace {

constexpr size_t kCacheLineBytes = 64;
constexpr size_t kMaxStripes = 64;

// One thread's share, or that of a few threads. Cache-line aligned so that two stripes share none.
struct alignas(kCacheLineBytes) Stripe {
  std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
  std::array<Histogram, HISTOGRAM_ENUM_MAX> histograms;
};

// Threads are dealt out over the stripes in the order in which they first record anything, which
// spreads any set of long-lived threads evenly.
size_t ThreadOrdinal() {
  static std::atomic<size_t> next{0};
  constinit thread_local size_t ordinal = SIZE_MAX;
  if (ordinal == SIZE_MAX) [[unlikely]] {
    ordinal = next.fetch_add(1, std::memory_order_relaxed);
  }
  return ordinal;
}

size_t StripeCount() {
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(std::bit_ceil(cores), kMaxStripes);
}

// Counters are the sum over the stripes; stripes are made when a thread first needs them, as each
// takes tens of kilobytes.
//
// Thread safety: recording is lock-free once a stripe exists. Operations on the sum (reading, and
// setting to a value) take mutex_ so that they are atomic among each other.
class StripedStatistics final : public Statistics, private ForkWatch {
 public:
  StripedStatistics() : stripes_(StripeCount()), owned_(stripes_.size()) { Watch(&mutex_); }
  ~StripedStatistics() override { Forget(); }

  const char* Name() const override { return "BasicStatistics"; }

  void recordTick(uint32_t ticker, uint64_t count) override {
    if (ticker >= TICKER_ENUM_MAX || get_stats_level() <= kExceptTickers) return;
    MyStripe()->tickers[ticker].fetch_add(count, std::memory_order_relaxed);
  }

  void recordInHistogram(uint32_t histogram, uint64_t value) override {
    if (histogram >= HISTOGRAM_ENUM_MAX || get_stats_level() <= kExceptHistogramOrTimers) return;
    MyStripe()->histograms[histogram].Add(value);
  }

  uint64_t getTickerCount(uint32_t ticker) const override {
    if (ticker >= TICKER_ENUM_MAX) return 0;
    MutexLock lock(&mutex_);
    return SumLocked(ticker);
  }

  void setTickerCount(uint32_t ticker, uint64_t count) override {
    if (ticker >= TICKER_ENUM_MAX) return;
    Stripe* const mine = MyStripe();
    MutexLock lock(&mutex_);
    TakeLocked(ticker);
    mine->tickers[ticker].fetch_add(count, std::memory_order_relaxed);
  }

  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    if (ticker >= TICKER_ENUM_MAX) return 0;
    MutexLock lock(&mutex_);
    return TakeLocked(ticker);
  }

  void histogramData(uint32_t type, HistogramData* const data) const override {
    *data = HistogramData();
    if (type >= HISTOGRAM_ENUM_MAX) return;
    Histogram merged;
    {
      MutexLock lock(&mutex_);
      MergeLocked(type, &merged);
    }
    merged.FillData(data);
  }

  std::string getHistogramString(uint32_t type) const override {
    if (type >= HISTOGRAM_ENUM_MAX) return "";
    Histogram merged;
    {
      MutexLock lock(&mutex_);
      MergeLocked(type, &merged);
    }
    return merged.ToString();
  }

  Status Reset() override {
    MutexLock lock(&mutex_);
    for (const auto& stripe : owned_) {
      if (stripe == nullptr) continue;
      for (auto& ticker : stripe->tickers) ticker.store(0, std::memory_order_relaxed);
      for (auto& histogram : stripe->histograms) histogram.Clear();
    }
    return Status::OK();
  }

  bool getTickerMap(std::map<std::string, uint64_t>* map) const override {
    if (map == nullptr) return false;
    map->clear();
    MutexLock lock(&mutex_);
    for (const auto& [ticker, name] : TickersNameMap) (*map)[name] = SumLocked(ticker);
    return true;
  }

  std::string ToString() const override;

 private:
  Stripe* MyStripe() {
    // Pairs with the release in MakeStripe: a thread that sees the pointer sees the zeroed
    // counters.
    const size_t index = ThreadOrdinal() & (stripes_.size() - 1);
    Stripe* const stripe = stripes_[index].load(std::memory_order_acquire);
    return stripe != nullptr ? stripe : MakeStripe(index);
  }

  Stripe* MakeStripe(size_t index) {
    MutexLock lock(&mutex_);
    if (owned_[index] == nullptr) {
      owned_[index] = std::make_unique<Stripe>();
      stripes_[index].store(owned_[index].get(), std::memory_order_release);
    }
    return owned_[index].get();
  }

  uint64_t SumLocked(uint32_t ticker) const VARVE_REQUIRES(mutex_) {
    uint64_t sum = 0;
    for (const auto& stripe : owned_) {
      if (stripe != nullptr) sum += stripe->tickers[ticker].load(std::memory_order_relaxed);
    }
    return sum;
  }

  // Swaps instead of loading and storing, so that no concurrent increment is lost.
  uint64_t TakeLocked(uint32_t ticker) VARVE_REQUIRES(mutex_) {
    uint64_t sum = 0;
    for (const auto& stripe : owned_) {
      if (stripe != nullptr) sum += stripe->tickers[ticker].exchange(0, std::memory_order_relaxed);
    }
    return sum;
  }

  void MergeLocked(uint32_t type, Histogram* into) const VARVE_REQUIRES(mutex_) {
    for (const auto& stripe : owned_) {
      if (stripe != nullptr) into->Merge(stripe->histograms[type]);
    }
  }

  // Size is a power of two. Entry i points into owned_[i] and never changes once set.
  std::vector<std::atomic<Stripe*>> stripes_;

  mutable Mutex mutex_{lock_ranks::kStatistics};
  std::vector<std::unique_ptr<Stripe>> owned_ VARVE_GUARDED_BY(mutex_);
};

std::string StripedStatistics::ToString() const {
  std::string out;
  char line[512];
  for (const auto& [ticker, name] : TickersNameMap) {
    std::snprintf(line, sizeof(line), "%s COUNT : %" PRIu64 "\n", name.c_str(),
                  getTickerCount(ticker));
    out.append(line);
  }
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    histogramData(histogram, &data);
    std::snprintf(line, sizeof(line),
                  "%s P50 : %f P95 : %f P99 : %f P100 : %f COUNT : %" PRIu64 " SUM : %" PRIu64 "\n",
                  name.c_str(), data.median, data.percentile95, data.percentile99, data.max,
                  data.count, data.sum);
    out.append(line);
  }
  return out;
}

}  // namespace

std::shared_ptr<Statistics> CreateDBStatistics() {
  return std::make_shared<StripedStatistics>();
}

}  // namespace varve
