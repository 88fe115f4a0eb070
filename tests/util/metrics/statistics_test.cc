// SPDX-License-Identifier: Apache-2.0
// Goal: tickers and histograms add up over threads, obey the level, and carry the published names.
// Method: the standard object driven through its interface and through the engine's helpers.

#include "util/metrics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "util/coding/crc32c.h"

namespace varve {
namespace {

// Stands still unless the test moves it, and counts how often it is read.
class CountingClock final : public SystemClock {
 public:
  const char* Name() const override { return "CountingClock"; }
  uint64_t NowMicros() override {
    ++reads;
    return micros;
  }
  void SleepForMicroseconds(int /*micros*/) override {}
  Status GetCurrentTime(int64_t* /*unix_time*/) override { return Status::NotSupported("clock"); }
  std::string TimeToString(uint64_t /*time*/) override { return ""; }

  uint64_t micros = 0;
  int reads = 0;
};

TEST(MetricNames, EveryValueHasItsOwnNameAtItsOwnPlace) {
  ASSERT_EQ(TickersNameMap.size(), size_t{TICKER_ENUM_MAX});
  ASSERT_EQ(HistogramsNameMap.size(), size_t{HISTOGRAM_ENUM_MAX});
  std::set<std::string> names;
  for (size_t i = 0; i < TickersNameMap.size(); ++i) {
    EXPECT_EQ(TickersNameMap[i].first, i);
    EXPECT_TRUE(names.insert(TickersNameMap[i].second).second) << TickersNameMap[i].second;
  }
  for (size_t i = 0; i < HistogramsNameMap.size(); ++i) {
    EXPECT_EQ(HistogramsNameMap[i].first, i);
    EXPECT_TRUE(names.insert(HistogramsNameMap[i].second).second) << HistogramsNameMap[i].second;
  }
}

TEST(MetricNames, PublishedOnesStay) {
  std::string all;
  for (const auto& [ticker, name] : TickersNameMap) all += name + "\n";
  for (const auto& [histogram, name] : HistogramsNameMap) all += name + "\n";
  // The sum changes with every added name; look at the difference before you change it here.
  EXPECT_EQ(crc32c::Value(all.data(), all.size()), 0x97cff33du);
  EXPECT_EQ(TickersNameMap[BLOCK_CACHE_MISS].second, "rocksdb.block.cache.miss");
  EXPECT_EQ(TickersNameMap[GET_HIT_L2_AND_UP].second, "rocksdb.l2andup.hit");
  EXPECT_EQ(TickersNameMap[NUMBER_MULTIGET_CALLS].second, "rocksdb.number.multiget.get");
  EXPECT_EQ(HistogramsNameMap[DB_GET].second, "rocksdb.db.get.micros");
  EXPECT_EQ(HistogramsNameMap[FLUSH_TIME].second, "rocksdb.db.flush.micros");
  // Bindings pass these as plain numbers.
  EXPECT_EQ(BLOOM_FILTER_USEFUL, 35);
  EXPECT_EQ(STALL_MICROS, 76);
  EXPECT_EQ(WAL_FILE_BYTES, 85);
  EXPECT_EQ(WRITE_DONE_BY_SELF, 91);
  EXPECT_EQ(TICKER_ENUM_MAX, 263);
  EXPECT_EQ(HISTOGRAM_ENUM_MAX, 80);
}

TEST(Statistics, TickersCountSetAndReset) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->recordTick(BYTES_READ);
  statistics->recordTick(BYTES_READ, 9);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 10U);
  EXPECT_EQ(statistics->getTickerCount(BYTES_WRITTEN), 0U);
  statistics->setTickerCount(BYTES_READ, 3);
  EXPECT_EQ(statistics->getAndResetTickerCount(BYTES_READ), 3U);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0U);
}

TEST(Statistics, UnknownNumbersAreIgnored) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->recordTick(TICKER_ENUM_MAX, 1);
  statistics->setTickerCount(TICKER_ENUM_MAX, 1);
  statistics->recordInHistogram(HISTOGRAM_ENUM_MAX, 1);
  EXPECT_EQ(statistics->getTickerCount(TICKER_ENUM_MAX), 0U);
  EXPECT_EQ(statistics->getAndResetTickerCount(UINT32_MAX), 0U);
  HistogramData data;
  data.count = 7;
  statistics->histogramData(HISTOGRAM_ENUM_MAX, &data);
  EXPECT_EQ(data.count, 0U);
  EXPECT_EQ(statistics->getHistogramString(HISTOGRAM_ENUM_MAX), "");
}

TEST(Statistics, HistogramsSummarize) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  for (uint64_t value = 1; value <= 100; ++value) statistics->recordInHistogram(DB_GET, value);
  HistogramData data;
  statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 100U);
  EXPECT_EQ(data.sum, 5050U);
  EXPECT_EQ(data.min, 1.0);
  EXPECT_EQ(data.max, 100.0);
  EXPECT_NEAR(data.median, 50.0, 1.0);
  EXPECT_NEAR(data.percentile99, 99.0, 2.0);
  EXPECT_NE(statistics->getHistogramString(DB_GET).find("Count: 100 Average: 50.5000"),
            std::string::npos);
}

struct LevelCase {
  StatsLevel level;
  bool ticks;
  bool sizes;
  bool times;
};

TEST(Statistics, LevelDecidesWhatIsKept) {
  const LevelCase cases[] = {
      {kDisableAll, false, false, false},      {kExceptHistogramOrTimers, true, false, false},
      {kExceptTimers, true, true, false},      {kExceptDetailedTimers, true, true, true},
      {kExceptTimeForMutex, true, true, true}, {kAll, true, true, true},
  };
  for (const LevelCase& c : cases) {
    // A thread that has counted before does so without a call.
    for (const bool has_counted : {false, true}) {
      SCOPED_TRACE(testing::Message() << int{c.level} << (has_counted ? ", again" : ""));
      const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
      EXPECT_EQ(statistics->get_stats_level(), kExceptDetailedTimers);
      if (has_counted) RecordTick(statistics.get(), BYTES_WRITTEN);
      statistics->set_stats_level(c.level);
      RecordTick(statistics.get(), BYTES_READ);
      RecordInHistogram(statistics.get(), BYTES_PER_READ, 5);
      RecordTimeToHistogram(statistics.get(), TABLE_OPEN_IO_MICROS, 5);
      CountingClock clock;
      { StopWatch watch(&clock, statistics.get(), DB_GET); }
      const auto count = [&](uint32_t histogram) {
        HistogramData data;
        statistics->histogramData(histogram, &data);
        return data.count;
      };
      EXPECT_EQ(statistics->getTickerCount(BYTES_READ), c.ticks ? 1U : 0U);
      EXPECT_EQ(count(BYTES_PER_READ), c.sizes ? 1U : 0U);
      EXPECT_EQ(count(TABLE_OPEN_IO_MICROS), c.times ? 1U : 0U);
      EXPECT_EQ(count(DB_GET), c.times ? 1U : 0U);
      EXPECT_EQ(clock.reads, c.times ? 2 : 0);
    }
  }
}

TEST(Statistics, StopWatchRecordsMicroseconds) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  CountingClock clock;
  {
    StopWatch watch(&clock, statistics.get(), DB_WRITE);
    clock.micros += 250;
  }
  HistogramData data;
  statistics->histogramData(DB_WRITE, &data);
  EXPECT_EQ(data.sum, 250U);
}

TEST(Statistics, HelpersAcceptNoStatistics) {
  CountingClock clock;
  RecordTick(nullptr, BYTES_READ);
  RecordInHistogram(nullptr, DB_GET, 1);
  RecordTimeToHistogram(nullptr, DB_GET, 1);
  { StopWatch watch(&clock, nullptr, DB_GET); }
  EXPECT_EQ(clock.reads, 0);
}

TEST(Statistics, ReportHasALineForEverything) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->recordTick(NUMBER_KEYS_READ, 42);
  statistics->recordInHistogram(DB_GET, 8);
  const std::string report = statistics->ToString();
  EXPECT_NE(report.find("rocksdb.number.keys.read COUNT : 42\n"), std::string::npos);
  EXPECT_NE(report.find("rocksdb.db.get.micros P50 : 8.000000 P95 : 8.000000 P99 : 8.000000 "
                        "P100 : 8.000000 COUNT : 1 SUM : 8\n"),
            std::string::npos);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'),
            int{TICKER_ENUM_MAX} + int{HISTOGRAM_ENUM_MAX});
  std::map<std::string, uint64_t> map;
  ASSERT_TRUE(statistics->getTickerMap(&map));
  EXPECT_EQ(map.size(), size_t{TICKER_ENUM_MAX});
  EXPECT_EQ(map["rocksdb.number.keys.read"], 42U);
}

TEST(Statistics, ResetZeroesTickersAndHistograms) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->recordTick(BYTES_READ, 5);
  statistics->recordInHistogram(DB_GET, 5);
  ASSERT_TRUE(statistics->Reset().ok());
  EXPECT_EQ(statistics->ToString(), CreateDBStatistics()->ToString());
}

TEST(Statistics, ReadingAndResettingLosesNoIncrement) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  constexpr uint64_t kPerThread = 20000;
  std::vector<std::thread> writers;
  std::atomic<int> running{4};
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&] {
      for (uint64_t i = 0; i < kPerThread; ++i) {
        RecordTick(statistics.get(), BYTES_READ);
        if (i % 16 == 0) RecordInHistogram(statistics.get(), DB_GET, i);
      }
      running.fetch_sub(1, std::memory_order_relaxed);
    });
  }
  uint64_t taken = 0;
  while (running.load(std::memory_order_relaxed) > 0) {
    taken += statistics->getAndResetTickerCount(BYTES_READ);
    HistogramData data;
    statistics->histogramData(DB_GET, &data);
    EXPECT_LE(data.count, 4 * kPerThread / 16);
  }
  for (std::thread& writer : writers) writer.join();
  taken += statistics->getAndResetTickerCount(BYTES_READ);
  EXPECT_EQ(taken, 4 * kPerThread);
  HistogramData data;
  statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 4 * kPerThread / 16);
}

uint64_t CountOf(const Statistics& statistics, uint32_t histogram) {
  HistogramData data;
  statistics.histogramData(histogram, &data);
  return data.count;
}

TEST(Statistics, WhatThreadsThatEndedCountedStays) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  for (int t = 0; t < 3; ++t) {
    std::thread([&] {
      RecordTick(statistics.get(), BYTES_READ, 5);
      RecordInHistogram(statistics.get(), DB_GET, 7);
    }).join();
    RecordTick(statistics.get(), BYTES_READ, 1);
  }
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 18U);
  EXPECT_EQ(CountOf(*statistics, DB_GET), 3U);
  EXPECT_TRUE(statistics->Reset().ok());
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0U);
  EXPECT_EQ(CountOf(*statistics, DB_GET), 0U);
}

// Counts in a thread whose own share is gone already.
struct CountsWhenItEnds {
  ~CountsWhenItEnds() {
    RecordTick(statistics, BYTES_READ, 3);
    RecordInHistogram(statistics, DB_GET, 3);
  }
  Statistics* statistics = nullptr;
};

TEST(Statistics, AThreadCountsUntilItsVeryEnd) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  std::thread([&] {
    static thread_local CountsWhenItEnds last;  // made first: ends last
    last.statistics = statistics.get();
    RecordTick(statistics.get(), BYTES_READ, 4);
  }).join();
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 7U);
  EXPECT_EQ(CountOf(*statistics, DB_GET), 1U);
}

TEST(Statistics, AThreadServesSeveralThatComeAndGo) {
  const std::shared_ptr<Statistics> lasting = CreateDBStatistics();
  for (uint64_t i = 1; i <= 100; ++i) {
    const std::shared_ptr<Statistics> passing = CreateDBStatistics();
    for (int k = 0; k < 3; ++k) {
      RecordTick(passing.get(), BYTES_READ, i);
      RecordTick(lasting.get(), BYTES_READ);
      RecordInHistogram(passing.get(), DB_GET, i);
    }
    ASSERT_EQ(passing->getTickerCount(BYTES_READ), 3 * i);
    ASSERT_EQ(CountOf(*passing, DB_GET), 3U);
  }
  EXPECT_EQ(lasting->getTickerCount(BYTES_READ), 300U);
}

// The thread's share is cleared by itself: what it records afterwards starts from zero.
TEST(Statistics, ResetHoldsForThreadsThatGoOn) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  std::atomic<int> step{0};
  const auto await = [&step](int n) {
    while (step.load() < n) std::this_thread::yield();
  };
  std::thread other([&] {
    RecordTick(statistics.get(), BYTES_READ, 100);
    RecordInHistogram(statistics.get(), DB_GET, 100);
    step = 1;
    await(2);
    RecordTick(statistics.get(), BYTES_READ, 1);
    RecordInHistogram(statistics.get(), DB_GET, 1);
    step = 3;
    await(4);
  });
  await(1);
  statistics->setTickerCount(BYTES_READ, 7);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 7U);
  ASSERT_TRUE(statistics->Reset().ok());
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0U);
  EXPECT_EQ(CountOf(*statistics, DB_GET), 0U);
  step = 2;
  await(3);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 1U);
  HistogramData data;
  statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 1U);
  EXPECT_EQ(data.max, 1.0);
  step = 4;
  other.join();
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 1U);
}

TEST(Statistics, ResettingBesideThreadsLeavesWholeCounts) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) RecordTick(statistics.get(), BYTES_READ, 8);
    });
  }
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(statistics->Reset().ok());
    EXPECT_EQ(statistics->getTickerCount(BYTES_READ) % 8, 0U);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(statistics->Reset().ok());
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0U);
}

TEST(Statistics, TimesThatNobodyWantsReadNoClock) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  RecordTick(statistics.get(), BYTES_READ);
  CountingClock clock;
  {
    const TimeIfWanted time(statistics.get(), SST_READ_MICROS, &clock, kAll);
    EXPECT_FALSE(time.wanted());
  }
  EXPECT_EQ(clock.reads, 0);
  const TimeIfWanted time(statistics.get(), SST_READ_MICROS, &clock);
  clock.micros = 3;
  EXPECT_EQ(time.Micros(), 3u);
  EXPECT_EQ(time.Nanos(), 3000u);
  EXPECT_EQ(clock.reads, 3);
}

TEST(Statistics, DurationsOfTheSystemClockAreRight) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start = clock->NowNanos();
  {
    StopWatch watch(clock, statistics.get(), DB_GET);
    clock->SleepForMicroseconds(20000);
  }
  const uint64_t outer = (clock->NowNanos() - start) / 1000;
  HistogramData data;
  statistics->histogramData(DB_GET, &data);
  EXPECT_GE(data.max, 19900.0);
  EXPECT_LE(data.max, static_cast<double>(outer) * 1.01);
}

// An application's class that knows only the older name of recording.
class OldStyleStatistics final : public Statistics {
 public:
  uint64_t getTickerCount(uint32_t /*ticker*/) const override { return 0; }
  void recordTick(uint32_t /*ticker*/, uint64_t /*count*/) override {}
  void setTickerCount(uint32_t /*ticker*/, uint64_t /*count*/) override {}
  uint64_t getAndResetTickerCount(uint32_t /*ticker*/) override { return 0; }
  void histogramData(uint32_t /*type*/, HistogramData* const /*data*/) const override {}
  void measureTime(uint32_t /*type*/, uint64_t time) override { measured += time; }

  uint64_t measured = 0;
};

TEST(Statistics, OlderOverridesStillReceiveValues) {
  OldStyleStatistics statistics;
  RecordInHistogram(&statistics, DB_GET, 3);
  RecordTimeToHistogram(&statistics, DB_GET, 4);
  EXPECT_EQ(statistics.measured, 7U);
  EXPECT_TRUE(statistics.Reset().IsNotSupported());
  EXPECT_FALSE(statistics.getTickerMap(nullptr));
}

}  // namespace
}  // namespace varve
