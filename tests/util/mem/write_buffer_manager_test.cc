// SPDX-License-Identifier: Apache-2.0
// Goal: the shared memtable limit asks for a flush at the documented points, and the cache is
// charged for what is reported. Method: the manager alone, with a cache that only counts.

#include "varve/write_buffer_manager.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "util/mem/cache_charge.h"

namespace varve {
namespace {

constexpr size_t kStep = CacheCharge::kStepBytes;

// Keeps referenced entries only, which is all that placeholders are.
class CountingCache final : public Cache {
 public:
  explicit CountingCache(size_t capacity = SIZE_MAX) : capacity_(capacity) {}

  const char* Name() const override { return "CountingCache"; }
  Status Insert(const Slice& key, ObjectPtr /*value*/, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority /*priority*/) override {
    if (usage_ + charge > capacity_) return Status::MemoryLimit("full");
    EXPECT_EQ(helper->role, CacheEntryRole::kWriteBuffer);
    auto [entry, inserted] = entries_.try_emplace(key.ToString());
    EXPECT_TRUE(inserted) << "placeholder keys must not repeat";
    usage_ += charge;
    charges_[&entry->second] = {entry->first, charge};
    *handle = &entry->second;
    return Status::OK();
  }
  bool Release(Handle* handle, bool erase_if_last_ref) override {
    EXPECT_TRUE(erase_if_last_ref) << "a placeholder left behind would waste the cache";
    const auto found = charges_.find(handle);
    usage_ -= found->second.second;
    entries_.erase(found->second.first);
    charges_.erase(found);
    return true;
  }
  Handle* Lookup(const Slice& /*key*/) override { return nullptr; }
  bool Ref(Handle* /*handle*/) override { return false; }
  ObjectPtr Value(Handle* /*handle*/) override { return nullptr; }
  size_t GetCharge(Handle* handle) const override { return charges_.at(handle).second; }
  void Erase(const Slice& /*key*/) override {}
  uint64_t NewId() override { return ++last_id_; }
  void SetCapacity(size_t capacity) override { capacity_ = capacity; }
  void SetStrictCapacityLimit(bool /*strict*/) override {}
  bool HasStrictCapacityLimit() const override { return true; }
  size_t GetCapacity() const override { return capacity_; }
  size_t GetUsage() const override { return usage_; }
  size_t GetUsage(Handle* handle) const override { return GetCharge(handle); }
  size_t GetPinnedUsage() const override { return usage_; }
  void EraseUnRefEntries() override {}
  void ApplyToAllEntries(
      const std::function<void(const Slice&, ObjectPtr, size_t, const CacheItemHelper*)>&,
      const ApplyToAllEntriesOptions&) override {}

 private:
  size_t capacity_;
  size_t usage_ = 0;
  uint64_t last_id_ = 0;
  std::map<std::string, Handle> entries_;
  std::map<const Handle*, std::pair<std::string, size_t>> charges_;
};

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
