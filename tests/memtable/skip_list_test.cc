// SPDX-License-Identifier: Apache-2.0

// Tests the plain skip list against an ordered map, where hints serve and where they do not, and
// under threads that insert into the same gaps.

#include "memtable/skip_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/comparator.h"

namespace varve {
namespace {

enum class Arrival { kRandom, kAscending, kDescending, kClustered, kOneKey };

std::string ArrivingKey(Arrival arrival, uint64_t i, std::mt19937_64* random) {
  switch (arrival) {
    case Arrival::kRandom:
      return std::to_string((*random)() % 2000);
    case Arrival::kAscending:
      return std::to_string(1000000 + i);
    case Arrival::kDescending:
      return std::to_string(9000000 - i);
    case Arrival::kClustered:  // ascending by sixteen, from random places
      return std::to_string(i / 16 * 7919 % 1000) + "/" + std::to_string(100 + i % 16);
    case Arrival::kOneKey:
      return "key";
  }
  return "";
}

class SkipListTest : public testing::TestWithParam<Arrival> {
 protected:
  // Maps keys in internal-key order to their values.
  using Model = std::map<std::pair<std::string, uint64_t>, std::string>;

  // Adds up to 16 entries; the list finds those that exist already.
  void Add(size_t n, uint64_t first) {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < n; i++) keys.push_back(ArrivingKey(GetParam(), first + i, &random_));
    std::vector<SkipList::Addition> batch;
    for (uint64_t i = 0; i < n; i++) {
      batch.push_back(list_.Make({first + i, kTypeValue, keys[i], keys[i]}));
      model_[{keys[i], ~PackSequenceAndType(first + i, kTypeValue)}] = keys[i];
    }
    std::ranges::sort(batch, [this](const auto& a, const auto& b) { return list_.IsBefore(a, b); });
    ASSERT_TRUE(list_.Insert(batch));
    ASSERT_FALSE(list_.Insert({&batch[n / 2], 1})) << "it is there";
  }
  void ExpectAt(const SkipList::Node* node, Model::const_iterator expected) {
    ASSERT_EQ(node != nullptr, expected != model_.end());
    if (node == nullptr) return;
    Slice value;
    const Slice key = SkipList::EntryOf(node)->internal_key(&value);
    ASSERT_EQ(ExtractUserKey(key).ToString(), expected->first.first);
    ASSERT_EQ(~ExtractTrailer(key), expected->first.second);
    ASSERT_EQ(value.ToString(), expected->second);
  }

  EntryArena arena_{1 << 12, 1 << 16};
  SkipList list_{InternalKeyComparator(BytewiseComparator()), &arena_};
  Model model_;
  std::mt19937_64 random_{7};
};

TEST_P(SkipListTest, HoldsWhatAnOrderedMapHolds) {
  EXPECT_EQ(list_.First(), nullptr);
  EXPECT_EQ(list_.Last(), nullptr);
  for (uint64_t i = 1; i < 4000;) {
    const size_t n = i % 3 == 0 ? 1 : 1 + random_() % 16;
    Add(n, i);
    i += n;
  }
  EXPECT_EQ(list_.totals().entries, model_.size());
  const SkipList::Node* node = list_.First();
  for (auto it = model_.begin(); it != model_.end(); ++it, node = SkipList::Next(node)) {
    ExpectAt(node, it);
    const SkipList::Neighbours found = list_.Find({it->first.first, ~it->first.second});
    ASSERT_EQ(found.at, node);
    ExpectAt(found.before, it == model_.begin() ? model_.end() : std::prev(it));
  }
  EXPECT_EQ(node, nullptr);
  ExpectAt(list_.Last(), std::prev(model_.end()));
  for (int i = 0; i < 1000; i++) {
    const std::string key = ArrivingKey(Arrival::kRandom, 0, &random_) + (i % 2 == 0 ? "x" : "");
    ExpectAt(list_.Find({key, ~uint64_t{0}}).at, model_.lower_bound({key, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Arrivals, SkipListTest,
                         testing::Values(Arrival::kRandom, Arrival::kAscending,
                                         Arrival::kDescending, Arrival::kClustered,
                                         Arrival::kOneKey));

// Keys that ascend in each thread and interleave between them, so that most swaps are contended.
TEST(SkipListThreadsTest, WhoFillTheSameGapsLoseNothing) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 4000;
  EntryArena arena(1 << 12, 1 << 16);
  SkipList list(InternalKeyComparator(BytewiseComparator()), &arena);
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; i += 4) {
        std::vector<std::string> keys;
        for (uint64_t j = 0; j < 4; j++) {
          keys.push_back(std::to_string(1000000 + (i + j) * kThreads + t));
        }
        std::vector<SkipList::Addition> batch;
        for (const std::string& key : keys) batch.push_back(list.Make({1, kTypeValue, key, key}));
        ASSERT_TRUE(list.Insert(batch));
        // All threads add this one.
        const std::string same = "same" + std::to_string(i);
        const SkipList::Addition one = list.Make({1, kTypeValue, same, same});
        if (!list.Insert({&one, 1})) refused++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused.load(), (kThreads - 1) * kEach / 4);
  EXPECT_EQ(list.totals().entries, kThreads * kEach + kEach / 4);
  uint64_t walked = 0;
  std::string last;
  for (const SkipList::Node* n = list.First(); n != nullptr; n = SkipList::Next(n), walked++) {
    const std::string key = SkipList::EntryOf(n)->user_key().ToString();
    ASSERT_LT(last, key);
    last = key;
  }
  EXPECT_EQ(walked, list.totals().entries);
}

}  // namespace
}  // namespace varve
