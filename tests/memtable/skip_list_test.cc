// SPDX-License-Identifier: Apache-2.0

// The skip list against an ordered map, for each kind of key order and shape of input.

#include "memtable/skip_list.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "varve/comparator.h"

namespace varve {
namespace {

// Orders by length, then bytes; one that the list knows nothing about.
class ByLength : public Comparator {
 public:
  const char* Name() const override { return "test.ByLength"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

const ByLength by_length;

using Entry = std::pair<std::string, uint64_t>;  // user key, trailer

struct EntryLess {
  const Comparator* comparator;
  bool operator()(const Entry& a, const Entry& b) const {
    const int order = comparator->Compare(a.first, b.first);
    return order != 0 ? order < 0 : a.second > b.second;
  }
};

using Model = std::map<Entry, std::string, EntryLess>;

enum class Shape { kRandom, kAscending, kDescending, kSharedPrefix, kOneKey, kExtremes };

std::string MakeKey(Shape shape, size_t i, std::mt19937_64* random) {
  switch (shape) {
    case Shape::kRandom: {
      std::string key((*random)() % 12, '\0');
      for (char& c : key) c = static_cast<char>((*random)() % 4 * 85);
      return key;
    }
    case Shape::kAscending:
      return std::to_string(1000000 + i);
    case Shape::kDescending:
      return std::to_string(9000000 - i);
    case Shape::kSharedPrefix:
      return "a/long/prefix/" + std::to_string((*random)() % 2000);
    case Shape::kOneKey:
      return "key";
    case Shape::kExtremes:
      return std::string((*random)() % 20, (*random)() % 2 == 0 ? '\xff' : '\0');
  }
  return "";
}

class SkipListTest : public testing::TestWithParam<std::tuple<const Comparator*, Shape>> {
 protected:
  SkipListTest()
      : comparator_(std::get<0>(GetParam())),
        list_(InternalKeyComparator(comparator_), &arena_),
        model_(EntryLess{comparator_}) {}

  void Fill(size_t n) {
    for (size_t i = 0; i < n; i++) {
      const Entry entry(MakeKey(std::get<1>(GetParam()), i, &random_),
                        PackSequenceAndType(random_() % (4 * n), kTypeValue));
      const std::string value(random_() % 300, static_cast<char>(i));
      const bool added = model_.emplace(entry, value).second;
      ASSERT_EQ(list_.Insert(entry.first, entry.second, value), added);
    }
  }

  void ExpectAt(const SkipList::Node* node, Model::const_iterator expected) {
    if (expected == model_.end()) {
      ASSERT_EQ(node, nullptr);
      return;
    }
    ASSERT_NE(node, nullptr);
    Slice value;
    const Slice key = node->internal_key(&value);
    ASSERT_EQ(ExtractUserKey(key).ToString(), expected->first.first);
    ASSERT_EQ(node->user_key().ToString(), expected->first.first);
    ASSERT_EQ(ExtractTrailer(key), expected->first.second);
    ASSERT_EQ(value.ToString(), expected->second);
  }

  const Comparator* const comparator_;
  ConcurrentArena arena_;
  SkipList list_;
  Model model_;
  std::mt19937_64 random_{5};
};

TEST_P(SkipListTest, HoldsWhatAnOrderedMapHolds) {
  Fill(3000);
  const SkipList::Node* node = list_.First();
  for (auto it = model_.begin(); it != model_.end(); ++it) {
    ExpectAt(node, it);
    node = node->Next();
  }
  EXPECT_EQ(node, nullptr);
  ExpectAt(list_.Last(), std::prev(model_.end()));
  EXPECT_EQ(list_.totals().entries, model_.size());
}

TEST_P(SkipListTest, FindsTheNeighboursOfAnyKey) {
  Fill(1000);
  for (size_t i = 0; i < 3000; i++) {
    Entry probe(MakeKey(std::get<1>(GetParam()), i, &random_),
                PackSequenceAndType(random_() % 4000, kTypeValue));
    if (i % 3 == 0) probe.first.push_back('x');
    const auto at = model_.lower_bound(probe);
    ExpectAt(list_.LowerBound(probe.first, probe.second), at);
    ExpectAt(list_.Before(probe.first, probe.second),
             at == model_.begin() ? model_.end() : std::prev(at));
  }
}

TEST_P(SkipListTest, RefusesTheSameInternalKeyTwice) {
  Fill(500);
  for (const auto& [entry, value] : model_) {
    ASSERT_FALSE(list_.Insert(entry.first, entry.second, "other"));
  }
  EXPECT_EQ(list_.totals().entries, model_.size());
  ExpectAt(list_.First(), model_.begin());
}

INSTANTIATE_TEST_SUITE_P(
    AllOrders, SkipListTest,
    testing::Combine(testing::Values(BytewiseComparator(), ReverseBytewiseComparator(),
                                     static_cast<const Comparator*>(&by_length)),
                     testing::Values(Shape::kRandom, Shape::kAscending, Shape::kDescending,
                                     Shape::kSharedPrefix, Shape::kOneKey, Shape::kExtremes)));

TEST(EmptySkipListTest, HasNothing) {
  ConcurrentArena arena;
  const SkipList list(InternalKeyComparator(BytewiseComparator()), &arena);
  EXPECT_EQ(list.First(), nullptr);
  EXPECT_EQ(list.Last(), nullptr);
  EXPECT_EQ(list.LowerBound("", 0), nullptr);
  EXPECT_EQ(list.Before("zzz", 0), nullptr);
  EXPECT_EQ(list.EstimateRank("k"), 0u);
}

TEST(SkipListRankTest, IsOffByLittleOfTheWhole) {
  constexpr int kEntries = 100000;
  ConcurrentArena arena;
  SkipList list(InternalKeyComparator(BytewiseComparator()), &arena);
  for (int i = 0; i < kEntries; i++) {
    ASSERT_TRUE(list.Insert(std::to_string(1000000 + i), PackSequenceAndType(1, kTypeValue), ""));
  }
  for (const int rank : {20000, 50000, 90000}) {
    const auto estimate = static_cast<double>(list.EstimateRank(std::to_string(1000000 + rank)));
    EXPECT_NEAR(estimate, rank, kEntries * 0.2);
  }
}

}  // namespace
}  // namespace varve
