// SPDX-License-Identifier: Apache-2.0

// Tests slots: references from outside the cache that readers follow without counting, while
// entries come and go.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "table/cache/clock_cache.h"
#include "util/sync/epoch.h"

namespace varve {
namespace {

constexpr uint64_t kAlive = 0x600dca11;
std::atomic<int> objects_in_slots{0};

// An object after its entry, as a block is.
struct Object {
  CacheEntry entry;
  std::atomic<uint64_t> word{kAlive};
};

Object* ObjectBehind(void* value) {
  return reinterpret_cast<Object*>(static_cast<CacheEntry*>(value) - 1);
}

void DeleteObject(Cache::ObjectPtr value, MemoryAllocator*) {
  Object* const object = ObjectBehind(value);
  EXPECT_EQ(object->word.exchange(0), kAlive);
  objects_in_slots--;
  delete object;
}
constexpr Cache::CacheItemHelper kObjectHelper(CacheEntryRole::kDataBlock, &DeleteObject);

std::unique_ptr<ClockCache> MakeCache(size_t capacity, bool strict = false) {
  LRUCacheOptions options;
  options.capacity = capacity;
  options.strict_capacity_limit = strict;
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  options.high_pri_pool_ratio = 0;
  return std::make_unique<ClockCache>(options, 0);
}

Status Insert(ClockCache* cache, const std::string& key, size_t charge, BlockSlot* slot,
              Cache::Handle** handle) {
  auto* const object = new Object;
  object->entry.helper = &kObjectHelper;
  object->entry.charge = charge;
  object->entry.SetPriority(Cache::Priority::LOW);
  objects_in_slots++;
  const Status s = cache->InsertEmbedded(&object->entry, key, slot, handle);
  if (*handle == nullptr) {
    objects_in_slots--;
    delete object;
  }
  return s;
}

// Puts an object in, lets the slot refer to it, and gives the reference back.
void Fill(ClockCache* cache, const std::string& key, BlockSlot* slot, size_t charge = 1) {
  Cache::Handle* handle = nullptr;
  ASSERT_TRUE(Insert(cache, key, charge, slot, &handle).ok());
  cache->Release(handle, false);
}

TEST(BlockSlotTest, ASlotIsTakenBackWhenItsEntryGoes) {
  BlockSlot slots[4] = {};
  auto cache = MakeCache(2);
  for (int i = 0; i < 4; i++) Fill(cache.get(), "k" + std::to_string(i), &slots[i]);
  EXPECT_EQ(slots[0].load(), nullptr);
  EXPECT_EQ(slots[1].load(), nullptr);
  EXPECT_NE(slots[2].load(), nullptr);
  cache->Erase("k2");
  EXPECT_EQ(slots[2].load(), nullptr);
  Fill(cache.get(), "k3", &slots[0]);
  EXPECT_EQ(slots[3].load(), nullptr) << "another entry took its place";
  EXPECT_NE(slots[0].load(), nullptr);
  cache->EraseUnRefEntries();
  EXPECT_EQ(slots[0].load(), nullptr);
  EXPECT_EQ(objects_in_slots, 0);
  EXPECT_EQ(cache->GetUsage(), 0u);
}

TEST(BlockSlotTest, AReaderKeepsWhatItSawAndItCountsAsUsed) {
  BlockSlot slot{nullptr};
  auto cache = MakeCache(4);
  Fill(cache.get(), "k", &slot, 3);
  {
    const Epoch::Guard guard;
    CacheEntry* const entry = slot.load(std::memory_order_acquire);
    ASSERT_NE(entry, nullptr);
    cache->Erase("k");
    cache->EraseUnRefEntries();
    EXPECT_EQ(slot.load(), nullptr);
    EXPECT_EQ(ObjectBehind(entry->value())->word.load(), kAlive);
    EXPECT_EQ(cache->GetUsage(), 3u);
    Cache::Handle* handle = nullptr;
    EXPECT_FALSE(cache->TryRef(entry, &handle)) << "it has been dropped";
  }
  cache->EraseUnRefEntries();
  EXPECT_EQ(cache->GetUsage(), 0u);
  EXPECT_EQ(objects_in_slots, 0);
}

TEST(BlockSlotTest, ErasingWaitsForReadersOfOtherThreads) {
  BlockSlot slot{nullptr};
  auto cache = MakeCache(4);
  std::atomic<int> step{0};
  std::thread reader([&step] {
    const Epoch::Guard guard;
    step = 1;
    while (step == 1) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  while (step == 0) std::this_thread::yield();
  Fill(cache.get(), "k", &slot);
  step = 2;
  cache->Erase("k");
  EXPECT_EQ(objects_in_slots, 0);
  reader.join();
}

TEST(BlockSlotTest, WhatIsDroppedGoesUnlessItIsReferenced) {
  BlockSlot slots[6] = {};
  auto cache = MakeCache(100);
  for (int i = 0; i < 5; i++) Fill(cache.get(), "k" + std::to_string(i), &slots[i], 10);
  Cache::Handle* const held = cache->Lookup("k1");
  ASSERT_NE(held, nullptr);
  cache->Drop({slots, 4});
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(slots[i].load(), nullptr);
    EXPECT_EQ(cache->Lookup("k" + std::to_string(i)), nullptr);
  }
  EXPECT_NE(slots[4].load(), nullptr) << "it was not dropped";
  EXPECT_EQ(objects_in_slots, 2);
  EXPECT_EQ(cache->GetUsage(), 20u);
  EXPECT_EQ(ObjectBehind(cache->Value(held))->word.load(), kAlive);
  cache->Release(held, false);
  EXPECT_EQ(objects_in_slots, 1);
  EXPECT_EQ(cache->GetUsage(), 10u);
  // A reader in an epoch keeps them, and is not waited for.
  {
    const Epoch::Guard guard;
    CacheEntry* const entry = slots[4].load(std::memory_order_acquire);
    cache->Drop(slots);
    EXPECT_EQ(slots[4].load(), nullptr);
    EXPECT_EQ(ObjectBehind(entry->value())->word.load(), kAlive);
  }
  cache->Drop(slots);
  cache->Erase("k4");
  EXPECT_EQ(objects_in_slots, 0);
}

TEST(BlockSlotTest, AReferenceTakenThroughASlotPins) {
  BlockSlot slot{nullptr};
  BlockSlot others[6] = {};
  auto cache = MakeCache(2);
  Fill(cache.get(), "k", &slot);
  Cache::Handle* handle = nullptr;
  {
    const Epoch::Guard guard;
    ASSERT_TRUE(cache->TryRef(slot.load(), &handle));
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 1u);
  for (int i = 0; i < 6; i++) Fill(cache.get(), "o" + std::to_string(i), &others[i]);
  EXPECT_NE(slot.load(), nullptr);
  EXPECT_EQ(ObjectBehind(cache->Value(handle))->word.load(), kAlive);
  cache->Release(handle, false);
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

TEST(BlockSlotTest, AnEntryHasOneSlotAndADetachedOneIsForgotten) {
  BlockSlot first{nullptr};
  auto cache = MakeCache(10);
  auto second = std::make_unique<BlockSlot>(nullptr);
  Fill(cache.get(), "k", &first);
  Cache::Handle* handle = cache->Lookup("k");
  cache->Attach(handle, second.get());
  EXPECT_EQ(second->load(), nullptr);
  cache->Detach(&first);
  EXPECT_EQ(first.load(), nullptr);
  cache->Attach(handle, second.get());
  EXPECT_NE(second->load(), nullptr);
  cache->Release(handle, false);
  cache->Detach(second.get());
  second.reset();  // the sanitizer sees it if the cache still writes there
  cache->Erase("k");
  cache->EraseUnRefEntries();
  EXPECT_EQ(objects_in_slots, 0);
}

TEST(BlockSlotTest, AnEntryWithNothingBehindItGetsNoSlot) {
  BlockSlot slot{nullptr};
  auto cache = MakeCache(10);
  static constexpr Cache::CacheItemHelper kPlain(CacheEntryRole::kDataBlock);
  int object = 0;
  Cache::Handle* handle = nullptr;
  ASSERT_TRUE(cache->Insert("k", &object, &kPlain, 1, &handle, Cache::Priority::LOW).ok());
  cache->Attach(handle, &slot);
  EXPECT_EQ(slot.load(), nullptr);
  cache->Release(handle, false);
}

TEST(BlockSlotTest, AStrictLimitWaitsForReadersRatherThanRefuse) {
  auto cache = MakeCache(100, true);
  std::vector<BlockSlot> slots(2000);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      for (const BlockSlot& slot : slots) {
        const Epoch::Guard guard;
        CacheEntry* const entry = slot.load(std::memory_order_acquire);
        if (entry == nullptr) continue;
        ASSERT_EQ(ObjectBehind(entry->value())->word, kAlive);
      }
    }
  });
  for (size_t i = 0; i < slots.size(); i++) {
    Cache::Handle* handle = nullptr;
    ASSERT_TRUE(Insert(cache.get(), std::to_string(i), 30, &slots[i], &handle).ok()) << i;
    ASSERT_LE(cache->GetUsage(), 100u);
    cache->Release(handle, false);
  }
  stop = true;
  reader.join();
  cache.reset();
  EXPECT_EQ(objects_in_slots, 0);
}

// A reader may have lost its core within an epoch: then new entries are refused, so that evicted
// ones do not pile up.
TEST(BlockSlotTest, LittleWaitsForAReaderThatStays) {
  constexpr size_t kBlock = 4096;
  for (const size_t capacity : {size_t{4} << 20, size_t{64} << 20, size_t{256} << 20}) {
    LRUCacheOptions options;
    options.capacity = capacity;
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    auto cache = std::make_unique<ClockCache>(options, 3);
    std::vector<BlockSlot> slots(2 * capacity / kBlock);
    std::atomic<int> step{0};
    size_t in_the_way = 0;
    std::thread reader([&] {
      while (step == 0) std::this_thread::yield();
      const Epoch::Guard guard;
      step = 2;
      while (step == 2) std::this_thread::yield();
    });
    size_t most_used = 0;
    size_t most_waiting = 0;
    const auto put = [&](size_t i) {
      Cache::Handle* handle = nullptr;
      EXPECT_TRUE(Insert(cache.get(), std::to_string(i), kBlock, &slots[i], &handle).ok());
      if (handle == nullptr) in_the_way++;
      cache->Release(handle, false);
      most_used = std::max(most_used, cache->GetUsage());
      most_waiting = std::max(most_waiting, cache->GetWaitingUsage());
    };
    for (size_t i = 0; i < slots.size(); i++) {
      if (i == slots.size() / 4 * 3) {
        EXPECT_EQ(in_the_way, 0u);
        step = 1;
        while (step == 1) std::this_thread::yield();
      }
      put(i);
    }
    EXPECT_GT(in_the_way, slots.size() / 8);
    EXPECT_GT(cache->GetWaitingUsage(), 0u);
    step = 3;
    reader.join();
    in_the_way = 0;
    for (size_t i = 0; i < 1000; i++) put(i);
    EXPECT_EQ(in_the_way, 0u);
    EXPECT_LE(most_used, capacity);
    EXPECT_LE(most_waiting, std::max(capacity / 50, size_t{1} << 20));
    cache.reset();
    EXPECT_EQ(objects_in_slots, 0);
  }
}

// A file that is read by one thread only, and deleted.
void FillAndDrop(ClockCache* cache, int file) {
  BlockSlot slots[4] = {};
  for (int i = 0; i < 4; i++) {
    Fill(cache, "file " + std::to_string(file) + " block " + std::to_string(i), &slots[i]);
  }
  cache->Drop(slots);
  for (const BlockSlot& slot : slots) EXPECT_EQ(slot.load(), nullptr);
}

// Readers through slots, fillers, an index that comes and goes, files that are deleted, and a
// capacity that changes: on a cache of a few entries.
TEST(BlockSlotTest, ReadersNeverMeetAFreedObject) {
  auto cache = MakeCache(8);
  constexpr int kSlots = 32;
  std::vector<BlockSlot> slots(kSlots);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> seen{0};
  std::atomic<uint64_t> pinned{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      for (int i = t; !stop || seen < 1000 || pinned < 1000; i++) {
        Cache::Handle* handle = nullptr;
        {
          const Epoch::Guard guard;
          CacheEntry* const entry = slots[i * 7 % kSlots].load(std::memory_order_acquire);
          if (entry == nullptr) continue;
          entry->Touch();
          ASSERT_EQ(ObjectBehind(entry->value())->word, kAlive);
          seen++;
          if (i % 3 != 0 || !cache->TryRef(entry, &handle)) continue;
        }
        ASSERT_EQ(ObjectBehind(cache->Value(handle))->word, kAlive);
        pinned++;
        cache->Release(handle, false);
      }
    });
  }
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20000 || seen < 1000 || pinned < 1000; i++) {
        const int n = (i * 5 + t) % kSlots;
        Fill(cache.get(), std::to_string(n), &slots[n]);
        if (i % 50 == 0) cache->Erase(std::to_string(i % kSlots));
        if (i % 70 == 0) cache->Detach(&slots[i % kSlots]);
        if (i % 90 == 0) FillAndDrop(cache.get(), t);
        if (i % 110 == 0) cache->SetCapacity(static_cast<size_t>(i) % 16);
      }
      stop = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (BlockSlot& slot : slots) cache->Detach(&slot);
  cache.reset();
  EXPECT_EQ(objects_in_slots, 0);
}

}  // namespace
}  // namespace varve
