// SPDX-License-Identifier: Apache-2.0

// Iterators of memtables, by steps and by runs, beside a model; and what their runs say of keys.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/perf_context.h"

#include "memtable/memtable.h"
#include "tests/table/iterator_walk.h"

namespace varve {
namespace {

using test::IKey;
using test::InternalKeyLess;
using test::Model;

class BackwardsOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.Backwards"; }
  int Compare(const Slice& a, const Slice& b) const override { return -a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class MemTableWalk : public testing::TestWithParam<MemTableOrder> {
 protected:
  static std::unique_ptr<MemTable> NewTable(const InternalKeyComparator& order) {
    MemTableOptions options;
    options.order = GetParam();
    return std::make_unique<MemTable>(order, options, 1);
  }
};

// Keys begin alike, so that many share their words, and have several versions.
TEST_P(MemTableWalk, GoesAsAMapDoes) {
  static const BackwardsOrder backwards;
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(),
                                       static_cast<const Comparator*>(&backwards)}) {
    const InternalKeyComparator order(comparator);
    for (uint32_t seed = 0; seed < 40; seed++) {
      std::mt19937 random(seed);
      Model model{InternalKeyLess{&order}};
      const std::unique_ptr<MemTable> mem = NewTable(order);
      const std::string prefix = test::RandomUserKey(&random, 3, 10);
      const SequenceNumber last = random() % 500;
      for (SequenceNumber seq = 1; seq <= last; seq++) {
        const std::string key = prefix + test::RandomUserKey(&random, 3, 4);
        const std::string value = std::to_string(seq);
        ASSERT_TRUE(mem->Add(seq, kTypeValue, key, value).ok());
        model[IKey(key, seq)] = value;
      }
      const std::unique_ptr<InternalIterator> iter = mem->NewIterator();
      test::WalkAtRandom(iter.get(), model, test::TargetsFor(model, seed), seed, 500);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", " << comparator->Name();
    }
  }
}

// Where words decide, nobody who walks a tree by runs has to compare keys.
TEST(MemTableRuns, TellKeysApart) {
  const InternalKeyComparator order(BytewiseComparator());
  MemTable mem(order, MemTableOptions(), 1);
  SequenceNumber seq = 0;
  for (int i = 0; i < 1000; i++) {
    const std::string key = "k" + std::to_string(100000 + i);
    for (int version = 0; version < 2; version++) {
      ASSERT_TRUE(mem.Add(++seq, kTypeMerge, key, "v").ok());
    }
  }
  const std::unique_ptr<InternalIterator> iter = mem.NewIterator();
  for (const bool forward : {true, false}) {
    size_t unknown = 0;
    size_t same = 0;
    size_t entries = 1;
    RunEntry run[32];
    forward ? iter->SeekToFirst() : iter->SeekToLast();
    get_perf_context()->Reset();
    for (;;) {
      const size_t n = forward ? iter->NextRun(run, 32) : iter->PrevRun(run, 32);
      if (n == 0) break;
      entries += n;
      for (size_t i = 0; i < n; i++) {
        unknown += run[i].same_key == SameKey::kUnknown ? 1 : 0;
        same += run[i].same_key == SameKey::kYes ? 1 : 0;
      }
    }
    EXPECT_EQ(entries, 2000u);
    EXPECT_LT(unknown, 120u) << "only the first of a leaf";
    EXPECT_GT(same, 900u);
    EXPECT_GE(get_perf_context()->user_key_comparison_count, same);
    EXPECT_LT(get_perf_context()->user_key_comparison_count, 1400u);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, MemTableWalk,
                         testing::Values(MemTableOrder::kKeys, MemTableOrder::kArrival),
                         [](const testing::TestParamInfo<MemTableOrder>& order) {
                           return order.param == MemTableOrder::kKeys ? "Tree" : "Vector";
                         });

}  // namespace
}  // namespace varve
