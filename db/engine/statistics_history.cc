// SPDX-License-Identifier: Apache-2.0

// Tickers only grow, unless somebody resets them; a record has their growth since the record
// before. `last_` is where the next record begins.

#include "db/engine/statistics_history.h"

#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

// Shows a copy of the records, so that a walk neither holds the lock nor loses its place while
// records are dropped.
class Walker final : public StatsHistoryIterator {
 public:
  // A time, and a value for each ticker.
  using Shown = std::pair<uint64_t, std::vector<uint64_t>>;

  explicit Walker(std::vector<Shown> records) : records_(std::move(records)) { Show(); }

  bool Valid() const override { return at_ < records_.size(); }
  Status status() const override { return Status::OK(); }
  void Next() override {
    VARVE_ASSERT(Valid());
    at_++;
    Show();
  }
  uint64_t GetStatsTime() const override { return records_[at_].first; }
  const std::map<std::string, uint64_t>& GetStatsMap() const override { return map_; }

 private:
  void Show() {
    map_.clear();
    if (!Valid()) return;
    for (const auto& [ticker, name] : TickersNameMap) map_[name] = records_[at_].second[ticker];
  }

  const std::vector<Shown> records_;
  size_t at_ = 0;
  std::map<std::string, uint64_t> map_;
};

}  // namespace

StatisticsHistory::Counts StatisticsHistory::Read(const Statistics& statistics) {
  Counts counts(TICKER_ENUM_MAX);
  for (uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ticker++) {
    counts[ticker] = statistics.getTickerCount(ticker);
  }
  return counts;
}

void StatisticsHistory::Begin(const Statistics& statistics) {
  Counts now = Read(statistics);
  MutexLock lock(&mu_);
  last_ = std::move(now);
}

StatisticsHistory::Counts StatisticsHistory::GrowthTo(const Counts& now) const {
  Counts growth(now.size());
  for (size_t i = 0; i < now.size(); i++) {
    // The tickers may have been reset.
    const uint64_t before = i < last_.size() && last_[i] <= now[i] ? last_[i] : 0;
    growth[i] = now[i] - before;
  }
  return growth;
}

StatisticsHistory::Counts StatisticsHistory::Take(const Statistics& statistics) {
  Counts now = Read(statistics);
  MutexLock lock(&mu_);
  Counts growth = GrowthTo(now);
  last_ = std::move(now);
  return growth;
}

void StatisticsHistory::PutBack(const Counts& growth) {
  MutexLock lock(&mu_);
  // The next growth is computed from an earlier beginning, and so has what could not be stored.
  for (size_t i = 0; i < growth.size() && i < last_.size(); i++) last_[i] -= growth[i];
}

void StatisticsHistory::Record(const Statistics& statistics, uint64_t seconds, size_t most_bytes) {
  Counts now = Read(statistics);
  MutexLock lock(&mu_);
  Counts growth = GrowthTo(now);
  const size_t bytes_each = sizeof(Entry) + growth.size() * sizeof(uint64_t);
  records_.push_back({seconds, std::move(growth)});
  last_ = std::move(now);
  // With too little room for one record even the newest goes.
  while (records_.size() * bytes_each > most_bytes) records_.pop_front();
}

std::unique_ptr<StatsHistoryIterator> StatisticsHistory::Walk(uint64_t start, uint64_t end) const {
  std::vector<Walker::Shown> shown;
  {
    MutexLock lock(&mu_);
    for (const Entry& record : records_) {
      if (start <= record.seconds && record.seconds < end)
        shown.emplace_back(record.seconds, record.growth);
    }
  }
  return std::make_unique<Walker>(std::move(shown));
}

}  // namespace varve
