// SPDX-License-Identifier: Apache-2.0
// Goal: the shared memtable limit asks for a flush at the documented points, and the cache is
// charged for what is reported. Method: the manager alone, with a cache that only counts.

#include "varve/write_buffer_manager.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/util/mem/counting_cache.h"
#include "util/mem/cache_charge.h"

namespace varve {
namespace {

using test::CountingCache;
using test::kStep;

TEST(WriteBufferManager, WithoutALimitNeverAsksForAFlush) {
  WriteBufferManager manager(0);
  EXPECT_FALSE(manager.enabled());
  EXPECT_FALSE(manager.cost_to_cache());
  manager.ReserveMem(size_t{1} << 40);
  EXPECT_FALSE(manager.ShouldFlush());
  EXPECT_EQ(manager.memory_usage(), size_t{1} << 40);
}

TEST(WriteBufferManager, FlushesAtSevenEighthsOfActiveMemory) {
  WriteBufferManager manager(8000);
  manager.ReserveMem(7000);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.ReserveMem(1);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.ScheduleFreeMem(7001);
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 0U);
  EXPECT_EQ(manager.memory_usage(), 7001U);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.FreeMem(7001);
  EXPECT_EQ(manager.memory_usage(), 0U);
}

TEST(WriteBufferManager, AboveTheLimitFlushesOnlyIfHalfIsActive) {
  WriteBufferManager manager(8000);
  manager.ReserveMem(8000);
  manager.ScheduleFreeMem(4001);
  EXPECT_FALSE(manager.ShouldFlush()) << "most of it is being flushed already";
  manager.ReserveMem(1);
  EXPECT_TRUE(manager.ShouldFlush());
}

TEST(WriteBufferManager, LimitCanBeChanged) {
  WriteBufferManager manager(1000);
  manager.ReserveMem(950);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.SetBufferSize(2000);
  EXPECT_EQ(manager.buffer_size(), 2000U);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.SetBufferSize(0);
  EXPECT_FALSE(manager.enabled());
}

TEST(WriteBufferManager, StallsOnlyIfAllowed) {
  WriteBufferManager plain(100);
  WriteBufferManager stalling(100, nullptr, /*allow_stall=*/true);
  for (WriteBufferManager* manager : {&plain, &stalling}) {
    manager->ReserveMem(99);
    EXPECT_FALSE(manager->ShouldStall());
    manager->ReserveMem(1);
    EXPECT_TRUE(manager->IsStallThresholdExceeded());
  }
  EXPECT_FALSE(plain.ShouldStall());
  EXPECT_TRUE(stalling.ShouldStall());
  EXPECT_TRUE(stalling.allow_stall());
}

TEST(WriteBufferManager, StallsCanBeSwitched) {
  WriteBufferManager manager(100);
  manager.ReserveMem(100);
  manager.SetAllowStall(true);
  EXPECT_TRUE(manager.ShouldStall());
  manager.SetBufferSize(101);
  EXPECT_FALSE(manager.ShouldStall());
  manager.SetBufferSize(0);
  EXPECT_FALSE(manager.ShouldStall()) << "no limit";
}

class User final : public WriteBufferUser {
 public:
  explicit User(bool can_free) : can_free_(can_free) {}
  bool FreeMemory() override {
    asked++;
    return can_free_;
  }
  int asked = 0;

 private:
  const bool can_free_;
};

TEST(WriteBufferManager, AllUsersAreAskedForMemory) {
  WriteBufferManager manager(100, nullptr, /*allow_stall=*/true);
  EXPECT_FALSE(manager.AskForMemory()) << "nobody is there";
  User poor(false);
  User rich(true);
  manager.Join(&poor);
  EXPECT_FALSE(manager.AskForMemory());
  manager.Join(&rich);
  EXPECT_TRUE(manager.AskForMemory());
  manager.Leave(&rich);
  EXPECT_FALSE(manager.AskForMemory());
  EXPECT_EQ(poor.asked, 3);
  EXPECT_EQ(rich.asked, 1);
}

TEST(WriteBufferManager, FreedMemoryEndsTheWait) {
  WriteBufferManager manager(100, nullptr, /*allow_stall=*/true);
  manager.ReserveMem(150);
  std::thread freeing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    manager.FreeMem(60);
  });
  const auto start = std::chrono::steady_clock::now();
  while (manager.ShouldStall()) manager.WaitForChange(60 * 1000 * 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  freeing.join();
}

TEST(WriteBufferManager, ChargesTheCacheInSteps) {
  auto cache = std::make_shared<CountingCache>();
  {
    WriteBufferManager manager(0, cache);
    EXPECT_TRUE(manager.cost_to_cache());
    manager.ReserveMem(1);
    EXPECT_EQ(cache->GetUsage(), kStep);
    EXPECT_EQ(cache->of(CacheEntryRole::kWriteBuffer), kStep);
    manager.ReserveMem(10 * kStep - 1);
    EXPECT_EQ(cache->GetUsage(), 10 * kStep);
    EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 10 * kStep);
    manager.FreeMem(2 * kStep);
    EXPECT_EQ(cache->GetUsage(), 10 * kStep) << "small drops keep the placeholders";
    manager.FreeMem(kStep);
    EXPECT_EQ(cache->GetUsage(), 7 * kStep);
  }
  EXPECT_EQ(cache->GetUsage(), 0U);
}

TEST(WriteBufferManager, FullCacheLeavesTheRestUncharged) {
  auto cache = std::make_shared<CountingCache>(2 * kStep);
  WriteBufferManager manager(0, cache);
  manager.ReserveMem(5 * kStep);
  EXPECT_EQ(cache->GetUsage(), 2 * kStep);
  EXPECT_EQ(manager.memory_usage(), 5 * kStep);
  cache->SetCapacity(SIZE_MAX);
  manager.ReserveMem(1);
  EXPECT_EQ(cache->GetUsage(), 6 * kStep);
}

TEST(WriteBufferManager, ConcurrentReportsBalance) {
  auto cache = std::make_shared<CountingCache>();
  WriteBufferManager manager(1 << 20, cache);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&manager] {
      for (int i = 0; i < 1000; ++i) {
        manager.ReserveMem(kStep / 2);
        manager.ScheduleFreeMem(kStep / 2);
        manager.FreeMem(kStep / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(manager.memory_usage(), 0U);
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 0U);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 0U);
}

}  // namespace
}  // namespace varve
