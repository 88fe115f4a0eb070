// SPDX-License-Identifier: Apache-2.0
// Goal: a thread's counters move exactly when its level asks for them, and print in field order.
// Method: the engine's counting helpers on fresh threads, observed through the public interface.

#include "util/metrics/perf_counters.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "varve/iostats_context.h"

namespace varve {
namespace {

// Levels and counters belong to a thread, so each case gets its own.
template <typename Body>
void OnNewThread(Body body) {
  std::thread(body).join();
}

TEST(PerfCounters, NewThreadCountsButReadsNoClock) {
  OnNewThread([] {
    EXPECT_EQ(GetPerfLevel(), kEnableCount);
    CountUserKeyComparison();
    CountUserKeyComparisons(4);
    AddPerfCount<&PerfContext::block_read_byte>(100);
    { PerfTimer<&PerfContext::block_read_time> timer; }
    EXPECT_EQ(get_perf_context()->user_key_comparison_count, 5U);
    EXPECT_EQ(get_perf_context()->block_read_byte, 100U);
    EXPECT_EQ(get_perf_context()->block_read_time, 0U);
  });
}

TEST(PerfCounters, DisabledThreadCountsNothing) {
  OnNewThread([] {
    SetPerfLevel(kDisable);
    CountUserKeyComparison();
    EXPECT_EQ(thread_perf.context, nullptr) << "not even the context should exist";
    EXPECT_EQ(get_perf_context()->user_key_comparison_count, 0U);
  });
}

TEST(PerfCounters, InvalidLevelsAreIgnored) {
  OnNewThread([] {
    SetPerfLevel(kEnableTime);
    SetPerfLevel(kOutOfBounds);
    SetPerfLevel(kUninitialized);
    EXPECT_EQ(GetPerfLevel(), kEnableTime);
  });
}

TEST(PerfCounters, TimersStartAtTheirLevel) {
  OnNewThread([] {
    PerfContext* const context = get_perf_context();
    SetPerfLevel(kEnableWait);
    { PerfTimer<&PerfContext::write_delay_time, kEnableWait> timer; }
    { PerfTimer<&PerfContext::block_read_time> timer; }
    EXPECT_GT(context->write_delay_time, 0U);
    EXPECT_EQ(context->block_read_time, 0U);

    SetPerfLevel(kEnableTimeExceptForMutex);
    { PerfTimer<&PerfContext::block_read_time> timer; }
    { PerfTimer<&PerfContext::db_mutex_lock_nanos, kEnableTime> timer; }
    { PerfCpuTimer<&PerfContext::get_cpu_nanos> timer; }
    EXPECT_GT(context->block_read_time, 0U);
    EXPECT_EQ(context->db_mutex_lock_nanos, 0U);
    EXPECT_EQ(context->get_cpu_nanos, 0U);

    SetPerfLevel(kEnableTime);
    { PerfTimer<&PerfContext::db_mutex_lock_nanos, kEnableTime> timer; }
    { PerfCpuTimer<&PerfContext::get_cpu_nanos> timer; }
    EXPECT_GT(context->db_mutex_lock_nanos, 0U);
    EXPECT_GT(context->get_cpu_nanos, 0U);
  });
}

TEST(PerfCounters, StoppedTimerStaysStopped) {
  OnNewThread([] {
    SetPerfLevel(kEnableTime);
    PerfTimer<&PerfContext::block_read_time> timer;
    timer.Stop();
    const uint64_t once = get_perf_context()->block_read_time;
    timer.Stop();
    EXPECT_EQ(get_perf_context()->block_read_time, once);
  });
}

TEST(PerfCounters, ThreadsDoNotShareCounters) {
  OnNewThread([] {
    CountUserKeyComparison();
    OnNewThread([] { EXPECT_EQ(get_perf_context()->user_key_comparison_count, 0U); });
    EXPECT_EQ(get_perf_context()->user_key_comparison_count, 1U);
  });
}

TEST(PerfContext, PrintsInFieldOrder) {
  PerfContext context;
  const std::string all = context.ToString();
  EXPECT_TRUE(
      all.starts_with("user_key_comparison_count = 0, block_cache_hit_count = 0, "
                      "block_read_count = 0, "))
      << all;
  EXPECT_TRUE(all.ends_with("file_ingestion_blocking_live_writes_nanos = 0")) << all;
  EXPECT_EQ(context.ToString(true), "");
  context.get_read_bytes = 7;
  context.block_read_count = 2;
  EXPECT_EQ(context.ToString(true), "block_read_count = 2, get_read_bytes = 7");
}

TEST(PerfContext, LevelCountersFollowTheirSwitch) {
  OnNewThread([] {
    PerfContext* const context = get_perf_context();
    AddPerfLevelCount<&PerfContextByLevel::bloom_filter_useful>(1);
    EXPECT_EQ(context->level_to_perf_context, nullptr);

    context->EnablePerLevelPerfContext();
    AddPerfLevelCount<&PerfContextByLevel::bloom_filter_useful>(1);
    AddPerfLevelCount<&PerfContextByLevel::bloom_filter_useful>(6, 3);
    AddPerfLevelCount<&PerfContextByLevel::block_cache_miss_count>(0, 2);
    EXPECT_EQ(context->ToString(true),
              "bloom_filter_useful = 1@level1, 3@level6, block_cache_miss_count = 2@level0");

    context->DisablePerLevelPerfContext();
    AddPerfLevelCount<&PerfContextByLevel::bloom_filter_useful>(1);
    EXPECT_EQ((*context->level_to_perf_context)[1].bloom_filter_useful, 1U);

    context->EnablePerLevelPerfContext();
    context->Reset();
    EXPECT_EQ((*context->level_to_perf_context)[1].bloom_filter_useful, 0U);
    context->ClearPerLevelPerfContext();
    EXPECT_EQ(context->level_to_perf_context, nullptr);
  });
}

TEST(PerfContext, LevelCountersLeftOnAreFreedWithTheThread) {
  OnNewThread([] {
    get_perf_context()->EnablePerLevelPerfContext();
    AddPerfLevelCount<&PerfContextByLevel::user_key_return_count>(2);
    EXPECT_EQ((*get_perf_context()->level_to_perf_context)[2].user_key_return_count, 1U);
  });
}

TEST(PerfContext, CopiesOwnTheirLevels) {
  PerfContext original;
  original.block_read_count = 5;
  original.EnablePerLevelPerfContext();
  (*original.level_to_perf_context)[3].user_key_return_count = 8;

  PerfContext copy(original);
  PerfContext assigned;
  assigned.EnablePerLevelPerfContext();
  assigned = original;
  original.Reset();
  for (const PerfContext* context : {&copy, &assigned}) {
    EXPECT_EQ(context->block_read_count, 5U);
    EXPECT_EQ(context->level_to_perf_context->at(3).user_key_return_count, 8U);
  }
  PerfContext moved(std::move(copy));
  EXPECT_EQ(moved.level_to_perf_context->at(3).user_key_return_count, 8U);
}

TEST(IOStats, IsOfOneThreadAndKeepsItsPoolAndSwitch) {
  get_iostats_context()->bytes_read = 1;
  OnNewThread([] {
    IOStatsContext* const context = get_iostats_context();
    EXPECT_EQ(context->bytes_read, 0U);
    context->bytes_read = 10;
    context->thread_pool_id = 2;
    context->disable_iostats = true;
    context->Reset();
    EXPECT_EQ(context->ToString(true), "thread_pool_id = 2");
    EXPECT_TRUE(context->disable_iostats);
    context->file_io_stats_by_temperature.cold_file_read_count = 1;
    EXPECT_EQ(context->ToString(true), "thread_pool_id = 2, cold_file_read_count = 1");
  });
  get_iostats_context()->bytes_read = 0;
}

}  // namespace
}  // namespace varve
