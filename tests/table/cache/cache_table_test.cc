// SPDX-License-Identifier: Apache-2.0

#include "table/cache/cache_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "util/sync/epoch.h"

namespace varve {
namespace {

constexpr size_t kEntries = 4096;

// The entries are in one bucket of a small table, and each growth spreads them.
std::vector<std::unique_ptr<StandaloneEntry>> MakeEntries() {
  std::vector<std::unique_ptr<StandaloneEntry>> entries;
  for (size_t i = 0; i < kEntries; i++) {
    entries.push_back(std::make_unique<StandaloneEntry>());
    entries.back()->SetKey(std::to_string(i));
    entries.back()->hash = i * 64;
  }
  return entries;
}

void Push(CacheTable* table, CacheEntry* entry) {
  bool hides = false;
  const Epoch::Guard guard;
  ASSERT_EQ(table->Push(entry, &hides), CacheTable::Outcome::kDone);
  ASSERT_FALSE(hides);
}

TEST(CacheTable, WhatIsTakenOutFromAnywhereInAChainLeavesTheRest) {
  const auto entries = MakeEntries();
  Mutex owner;
  CacheTable table;
  table.Init(0, &owner);
  const MutexLock lock(&owner);
  for (size_t i = 0; i < 100; i++) Push(&table, entries[i].get());
  const std::vector<size_t> taken = {99, 0, 50, 51, 98};
  for (const size_t i : taken) table.Unlink(entries[i].get());
  EXPECT_EQ(table.size(), 100 - taken.size());
  for (size_t i = 0; i < 100; i++) {
    CacheEntry* found = nullptr;
    ASSERT_EQ(table.Find(entries[i]->key(), entries[i]->hash, &found), CacheTable::Outcome::kDone);
    const bool gone = std::find(taken.begin(), taken.end(), i) != taken.end();
    EXPECT_EQ(found, gone ? nullptr : entries[i].get()) << i;
  }
}

TEST(CacheTable, TheNewestOfAKeyIsFoundBeforeAndAfterAGrowth) {
  const auto entries = MakeEntries();
  Mutex owner;
  CacheTable table;
  table.Init(0, &owner);
  const MutexLock lock(&owner);
  for (size_t i = 0; i < 10; i++) Push(&table, entries[i].get());
  StandaloneEntry newer;
  newer.SetKey(entries[5]->key());
  newer.hash = entries[5]->hash;
  bool hides = false;
  {
    const Epoch::Guard guard;
    ASSERT_EQ(table.Push(&newer, &hides), CacheTable::Outcome::kDone);
  }
  EXPECT_TRUE(hides);
  EXPECT_EQ(table.HiddenBy(&newer), entries[5].get());
  for (int growths = 0; growths < 3; growths++) {
    CacheEntry* found = nullptr;
    ASSERT_EQ(table.Find(newer.key(), newer.hash, &found), CacheTable::Outcome::kDone);
    EXPECT_EQ(found, &newer);
    table.Grow();
  }
}

// Readers that are in the middle of a long chain when it is split must learn of it.
TEST(CacheTable, WhoIsLedAstrayByAGrowthIsTold) {
  const auto entries = MakeEntries();
  std::atomic<int> missed{0};
  for (int round = 0; round < 20; round++) {
    Mutex owner;
    CacheTable table;
    table.Init(0, &owner);
    const MutexLock lock(&owner);
    for (const auto& entry : entries) Push(&table, entry.get());
    std::atomic<bool> stop{false};
    std::atomic<int> reading{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 2; t++) {
      threads.emplace_back([&, t] {
        for (size_t i = t; !stop; i = (i + 7) % kEntries) {
          const Epoch::Guard guard;
          CacheEntry* found = nullptr;
          const auto outcome = table.Find(entries[i]->key(), entries[i]->hash, &found);
          if (outcome == CacheTable::Outcome::kDone && found != entries[i].get()) missed++;
          if (i < 8) reading++;
        }
      });
    }
    for (int growths = 0; growths < 6; growths++) {
      const int before = reading;
      while (reading == before) std::this_thread::yield();
      table.Grow();
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace varve
