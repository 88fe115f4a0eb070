// SPDX-License-Identifier: Apache-2.0

// Tests iterators of memtables, by steps and by batches, beside a model; and what their batches say
// of keys.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/perf_context.h"

#include "tests/memtable/representations.h"
#include "tests/table/iterator_walk.h"

namespace varve {
namespace {

class BackwardsOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.Backwards"; }
  int Compare(const Slice& a, const Slice& b) const override { return -a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class MemTableWalk : public EachRepresentation {
 protected:
  static std::unique_ptr<MemTable> NewTable(const InternalKeyComparator& order) {
    return std::make_unique<MemTable>(order, Options(), 1);
  }
};

// Keys begin alike, so that many share their key prefixes, and have several versions.
TEST_P(MemTableWalk, GoesAsAMapDoes) {
  static const BackwardsOrder backwards;
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(),
                                       static_cast<const Comparator*>(&backwards)}) {
    const InternalKeyComparator order(comparator);
    for (uint32_t seed = 0; seed < 40; seed++) {
      std::mt19937 random(seed);
      test::Model model{test::InternalKeyLess{&order}};
      const std::unique_ptr<MemTable> mem = NewTable(order);
      const std::string prefix = test::RandomUserKey(&random, 3, 10);
      const SequenceNumber last = random() % 500;
      for (SequenceNumber seq = 1; seq <= last; seq++) {
        const std::string key = prefix + test::RandomUserKey(&random, 3, 4);
        const std::string value = std::to_string(seq);
        ASSERT_TRUE(mem->Add(seq, kTypeValue, key, value).ok());
        model[test::IKey(key, seq)] = value;
      }
      const std::unique_ptr<InternalIterator> iter = mem->NewIterator();
      test::WalkAtRandom(iter.get(), model, test::TargetsFor(model, seed), seed, 500);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", " << comparator->Name();
    }
  }
}

// More keys than one leaf, or one place of a sort, has room for: far apart, and crowded.
TEST_P(MemTableWalk, GoesThroughManyKeysWhereverTheyLie) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const InternalKeyComparator order(comparator);
    for (uint32_t seed = 0; seed < 6; seed++) {
      std::mt19937_64 random(seed);
      test::Model model{test::InternalKeyLess{&order}};
      const std::unique_ptr<MemTable> mem = NewTable(order);
      for (SequenceNumber seq = 1; seq <= 3000; seq++) {
        // Key prefixes with all bits, few bits, and of few keys.
        const uint64_t word = random() >> (seq % 3 == 0 ? 0 : seq % 3 == 1 ? 8 * seed : 56);
        std::string key;
        for (int byte = 7; byte >= 0; byte--) key.push_back(static_cast<char>(word >> (8 * byte)));
        if (seq % 5 == 0) key.append("behind");
        ASSERT_TRUE(mem->Add(seq, kTypeValue, key, std::to_string(seq)).ok());
        model[test::IKey(key, seq)] = std::to_string(seq);
      }
      const std::unique_ptr<InternalIterator> iter = mem->NewIterator();
      test::WalkAtRandom(iter.get(), model, test::TargetsFor(model, seed), seed, 500);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", " << comparator->Name();
    }
  }
}

// Holds what the batches of a whole walk say of keys, except for the first entry.
struct Said {
  size_t other = 0;
  size_t same = 0;
  size_t nothing = 0;
  uint64_t comparisons = 0;
};

Said WalkByBatches(const MemTable& mem, bool forward) {
  Said said;
  const std::unique_ptr<InternalIterator> iter = mem.NewIterator();
  get_perf_context()->Reset();
  forward ? iter->SeekToFirst() : iter->SeekToLast();
  BatchEntry batch[32];
  for (;;) {
    const size_t n = forward ? iter->NextBatch(batch, 32) : iter->PrevBatch(batch, 32);
    for (size_t i = 0; i < n; i++) {
      said.other += batch[i].same_key == SameKey::kNo ? 1 : 0;
      said.same += batch[i].same_key == SameKey::kYes ? 1 : 0;
      said.nothing += batch[i].same_key == SameKey::kUnknown ? 1 : 0;
    }
    if (n == 0) break;
  }
  said.comparisons = get_perf_context()->user_key_comparison_count;
  return said;
}

// A leaf that was not in order when it was copied: sorting it has separated versions from other
// keys.
TEST(MemTableBatches, SortedLeavesKnowTheirVersions) {
  const InternalKeyComparator order(BytewiseComparator());
  MemTable mem(order, MemTableOptions(), 1);
  std::mt19937 random(301);
  std::map<std::string, int> keys;
  for (SequenceNumber seq = 1; seq <= 35; seq++) {
    const std::string key = "k" + std::to_string(random() % 12);
    ASSERT_TRUE(mem.Add(seq, kTypeMerge, key, "v").ok());
    keys[key]++;
  }
  const Said said = WalkByBatches(mem, /*forward=*/true);
  EXPECT_EQ(said.other, keys.size() - 1);
  EXPECT_EQ(said.same, 35 - keys.size());
  EXPECT_EQ(said.nothing, 0u);
  EXPECT_EQ(said.comparisons, 0u);
}

// Leaves in order know key prefixes only, and compare keys that share theirs; the first entry of
// each leaf is not compared with the leaf before.
TEST(MemTableBatches, SayWhatPrefixesAndKeysSay) {
  const InternalKeyComparator order(BytewiseComparator());
  MemTable mem(order, MemTableOptions(), 1);
  SequenceNumber seq = 0;
  for (int i = 0; i < 1000; i++) {
    const std::string key = "k" + std::to_string(100000 + i);
    for (int version = 0; version < 2; version++) {
      ASSERT_TRUE(mem.Add(++seq, kTypeMerge, key, "v").ok());
    }
  }
  for (const bool forward : {true, false}) {
    const Said said = WalkByBatches(mem, forward);
    EXPECT_EQ(said.other + said.same + said.nothing, 1999u);
    EXPECT_LT(said.nothing, 120u);
    EXPECT_GT(said.same, 900u);
    EXPECT_LT(said.comparisons, 1400u);
  }
}

VARVE_EACH_REPRESENTATION(MemTableWalk);

}  // namespace
}  // namespace varve
