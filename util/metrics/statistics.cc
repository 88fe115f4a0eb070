// SPDX-License-Identifier: Apache-2.0
// Implements defaults of the Statistics interface, and ThreadStatistics, which CreateDBStatistics()
// returns.

#include "util/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>
#include <vector>

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

// thread_share is never null, which saves the fast path a branch: it points to a share of this
// thread, or to one of these two, which serve no statistics. share_of_ended is for exiting threads,
// which get no share of their own any more.
constinit StatisticsShare share_of_ended;
constinit StatisticsShare share_of_nobody;

class ThreadStatistics;

// A share with two pointers to its statistics, which differ in what they promise. `statistics` says
// that the counts are valid for them, and Reset clears it; `owner` says that shares_ of them lists
// this share. A life:
//
//   made: owner set --first use: cleared, statistics set--> counting --Reset--> owner only
//   owner gone: both null, freed by its thread        thread gone: retired into left_
struct OwnedShare : StatisticsShare {
  // Null once the statistics are gone. Besides the thread only the statistics that own the share
  // change it.
  std::atomic<ThreadStatistics*> owner{nullptr};
  OwnedShare* next_of_thread = nullptr;  // The next share of the same thread.
};

// Guards the assignment of shares to statistics, and the sums. Never destroyed: threads may outlive
// static destructors. In a child of fork() the shares of the parent's other threads stay as they
// are, with their counts.
struct Registry final : private ForkWatch {
  Registry() { Watch(&mu); }
  Mutex mu{lock_ranks::kStatistics};
};

Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// The calling thread's shares. When the thread exits, their counts are added to the statistics that
// still exist.
struct ThreadShares {
  constexpr ThreadShares() = default;
  ~ThreadShares();
  OwnedShare* Find(const ThreadStatistics* statistics) const {
    OwnedShare* share = first;
    while (share != nullptr && share->owner.load(std::memory_order_relaxed) != statistics) {
      share = share->next_of_thread;
    }
    return share;
  }
  // Deletes the shares of this thread whose statistics are gone.
  void DeleteOrphans();

  OwnedShare* first = nullptr;
};

constinit thread_local ThreadShares own_shares;

// The Statistics that CreateDBStatistics() returns. Each thread counts in a share of its own, a few
// kilobytes, created when it first records anything; a counter is the sum over those and over the
// counts of exited threads.
//
// Thread safety: recording takes no lock once a thread has its share. Reading a value and setting
// one are atomic with respect to each other.
class ThreadStatistics final : public Statistics {
 public:
  ThreadStatistics() { CycleClock::Calibrate(); }
  // No thread may be recording any more; but threads still have the shares in their lists, and free
  // them later.
  ~ThreadStatistics() override {
    MutexLock lock(&mu());
    for (OwnedShare* share : shares_) {
      share->statistics.store(nullptr, std::memory_order_relaxed);
      share->owner.store(nullptr, std::memory_order_release);  // Now its thread may delete it.
    }
  }

  const char* Name() const override { return "BasicStatistics"; }

  void recordTick(uint32_t ticker, uint64_t count) override {
    if (ticker >= TICKER_ENUM_MAX || get_stats_level() <= kExceptTickers) return;
    if (StatisticsShare* const share = ShareOfThread()) {
      share->Count(ticker, count);
      return;
    }
    MutexLock lock(&mu());
    left_.Count(ticker, count);
  }

  void recordInHistogram(uint32_t histogram, uint64_t value) override {
    if (histogram >= HISTOGRAM_ENUM_MAX || get_stats_level() <= kExceptHistogramOrTimers) return;
    StatisticsShare* const share = ShareOfThread();
    if (share != nullptr && share->Add(histogram, value)) return;
    MutexLock lock(&mu());
    left_.Add(histogram, value);
  }

  // Sum and base are unsigned and may wrap; their difference is right all the same.
  uint64_t getTickerCount(uint32_t ticker) const override {
    if (ticker >= TICKER_ENUM_MAX) return 0;
    MutexLock lock(&mu());
    return SumLocked(ticker) - base_[ticker];
  }

  void setTickerCount(uint32_t ticker, uint64_t count) override {
    if (ticker >= TICKER_ENUM_MAX) return;
    MutexLock lock(&mu());
    base_[ticker] = SumLocked(ticker) - count;
  }

  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    if (ticker >= TICKER_ENUM_MAX) return 0;
    MutexLock lock(&mu());
    const uint64_t sum = SumLocked(ticker);
    return sum - std::exchange(base_[ticker], sum);
  }

  void histogramData(uint32_t type, HistogramData* const data) const override {
    *data = HistogramData();
    if (type >= HISTOGRAM_ENUM_MAX) return;
    Histogram merged;
    Merge(type, &merged);
    merged.FillData(data);
  }

  std::string getHistogramString(uint32_t type) const override {
    if (type >= HISTOGRAM_ENUM_MAX) return "";
    Histogram merged;
    Merge(type, &merged);
    return merged.ToString();
  }

  // Threads clear their shares themselves, when they next record anything.
  Status Reset() override {
    MutexLock lock(&mu());
    for (OwnedShare* share : shares_) share->statistics.store(nullptr, std::memory_order_relaxed);
    left_.Clear();
    base_.fill(0);
    return Status::OK();
  }

  bool getTickerMap(std::map<std::string, uint64_t>* map) const override {
    if (map == nullptr) return false;
    map->clear();
    MutexLock lock(&mu());
    for (const auto& [ticker, name] : TickersNameMap) {
      (*map)[name] = SumLocked(ticker) - base_[ticker];
    }
    return true;
  }

  std::string ToString() const override;

  // Takes over the counts of an exiting thread's share.
  void Retire(OwnedShare* share) VARVE_REQUIRES(mu());

 private:
  static Mutex& mu() VARVE_RETURN_CAPABILITY(TheRegistry().mu) { return TheRegistry().mu; }

  // Returns null if the thread is exiting or there is no memory.
  StatisticsShare* ShareOfThread() {
    // A thread that alternates between two databases with statistics of their own takes this slower
    // way at each change.
    StatisticsShare* const last = thread_share;
    if (last->Serves(this)) return last;
    if (last == &share_of_ended) return nullptr;
    OwnedShare* share = own_shares.Find(this);
    if (share == nullptr) share = MakeShare();
    if (share == nullptr) return nullptr;
    if (!share->Serves(this)) {
      MutexLock lock(&mu());
      share->Clear();
      share->statistics.store(this, std::memory_order_relaxed);
    }
    thread_share = share;
    return share;
  }

  OwnedShare* MakeShare() {
    // Here and not in the destructor of the statistics: only the thread itself may change its list.
    own_shares.DeleteOrphans();
    std::unique_ptr<OwnedShare> share(new (std::nothrow) OwnedShare);
    if (share == nullptr) return nullptr;
    MutexLock lock(&mu());
    try {
      shares_.push_back(share.get());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    share->owner.store(this, std::memory_order_relaxed);
    share->next_of_thread = own_shares.first;
    own_shares.first = share.get();
    return share.release();
  }

  uint64_t SumLocked(uint32_t ticker) const VARVE_REQUIRES(mu()) {
    uint64_t sum = left_.tickers[ticker].load(std::memory_order_relaxed);
    for (const OwnedShare* share : shares_) {
      if (share->Serves(this)) sum += share->tickers[ticker].load(std::memory_order_relaxed);
    }
    return sum;
  }

  void Merge(uint32_t type, Histogram* into) const {
    MutexLock lock(&mu());
    // Pairs with the release in AddFirst.
    const auto merge = [&](const StatisticsShare& share) {
      const Histogram* const from = share.histograms[type].load(std::memory_order_acquire);
      if (from != nullptr) into->Merge(*from);
    };
    merge(left_);
    for (const OwnedShare* share : shares_) {
      if (share->Serves(this)) merge(*share);
    }
  }

  std::vector<OwnedShare*> shares_ VARVE_GUARDED_BY(mu());
  StatisticsShare left_ VARVE_GUARDED_BY(mu());  // Counts of exited threads.
  // Subtracted from the sums: setting or resetting a ticker never changes the shares.
  std::array<uint64_t, TICKER_ENUM_MAX> base_ VARVE_GUARDED_BY(mu()){};
};

void ThreadStatistics::Retire(OwnedShare* share) {
  std::erase(shares_, share);
  if (!share->Serves(this)) return;
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; i++) {
    left_.Count(i, share->tickers[i].load(std::memory_order_relaxed));
  }
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; i++) {
    Histogram* const from = share->histograms[i].load(std::memory_order_relaxed);
    if (from == nullptr) continue;
    // The first histogram of its kind moves over whole; nothing is allocated, because this may run
    // when a thread ends without memory.
    Histogram* const into = left_.histograms[i].load(std::memory_order_relaxed);
    if (into != nullptr) {
      into->Merge(*from);
    } else {
      left_.histograms[i].store(from, std::memory_order_relaxed);
      share->histograms[i].store(nullptr, std::memory_order_relaxed);
    }
  }
}

ThreadShares::~ThreadShares() {
  // From now on ShareOfThread returns null, so destructors of later thread-local objects that still
  // record something count in left_, under the mutex.
  thread_share = &share_of_ended;
  MutexLock lock(&TheRegistry().mu);
  while (first != nullptr) {
    const std::unique_ptr<OwnedShare> share(first);
    first = share->next_of_thread;
    if (auto* const owner = share->owner.load(std::memory_order_relaxed))
      owner->Retire(share.get());
  }
}

void ThreadShares::DeleteOrphans() {
  OwnedShare** link = &first;
  while (OwnedShare* const share = *link) {
    if (share->owner.load(std::memory_order_acquire) != nullptr) {
      link = &share->next_of_thread;
      continue;
    }
    *link = share->next_of_thread;
    if (thread_share == share) thread_share = &share_of_nobody;
    delete share;
  }
}

std::string ThreadStatistics::ToString() const {
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

[[gnu::tls_model("initial-exec")]] constinit thread_local StatisticsShare* thread_share =
    &share_of_nobody;

// Most threads use few of the histograms, so each is made at its first value. The value is in it
// before it is published.
bool StatisticsShare::AddFirst(uint32_t histogram, uint64_t value) {
  auto* const first = new (std::nothrow) Histogram;
  if (first == nullptr) return false;
  first->Add(value);
  histograms[histogram].store(first, std::memory_order_release);
  return true;
}

void StatisticsShare::Clear() {
  for (auto& ticker : tickers) ticker.store(0, std::memory_order_relaxed);
  for (const auto& histogram : histograms) {
    if (Histogram* const h = histogram.load(std::memory_order_relaxed)) h->Clear();
  }
}

std::shared_ptr<Statistics> CreateDBStatistics() {
  return std::make_shared<ThreadStatistics>();
}

}  // namespace varve
