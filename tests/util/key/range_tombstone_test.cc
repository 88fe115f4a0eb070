// SPDX-License-Identifier: Apache-2.0

// Range tombstones against a model that looks at every tombstone for every question.

#include "util/key/range_tombstone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace varve {
namespace {

using Tombstones = std::vector<RangeTombstone>;

// Keys of one or two letters out of few, so that bounds coincide often.
std::string RandomBound(std::mt19937* random) {
  std::string key(1, static_cast<char>('a' + (*random)() % 8));
  if ((*random)() % 2 == 0) key += static_cast<char>('a' + (*random)() % 3);
  return key;
}

Tombstones RandomTombstones(std::mt19937* random, size_t max_count) {
  Tombstones tombstones((*random)() % (max_count + 1));
  for (RangeTombstone& t : tombstones) {
    t = {RandomBound(random), RandomBound(random), 1 + (*random)() % 20};
  }
  return tombstones;
}

struct Bounds {
  const Slice* lower = nullptr;
  const Slice* upper = nullptr;
};

SequenceNumber ModelMaxCovering(const Tombstones& tombstones, const InternalKeyComparator& icmp,
                                const Slice& key, SequenceNumber snapshot, Bounds bounds = {}) {
  if (bounds.lower != nullptr && icmp.CompareUserKey(key, *bounds.lower) < 0) return 0;
  if (bounds.upper != nullptr && icmp.CompareUserKey(key, *bounds.upper) >= 0) return 0;
  SequenceNumber newest = 0;
  for (const RangeTombstone& t : tombstones) {
    if (t.seq <= snapshot && icmp.CompareUserKey(t.start, key) <= 0 &&
        icmp.CompareUserKey(key, t.end) < 0) {
      newest = std::max(newest, t.seq);
    }
  }
  return newest;
}

// Each fragment with the sequence numbers of the tombstones that cover it.
std::string Draw(const FragmentedTombstones& tombstones) {
  std::string text;
  for (size_t i = 0; i < tombstones.size(); i++) {
    const FragmentedTombstones::Fragment f = tombstones.fragment(i);
    text += "[" + f.start.ToString() + "," + f.end.ToString() + ")@";
    SequenceNumber at = kMaxSequenceNumber;
    for (; (at = tombstones.NewestVisible(i, at, {})) != 0; at--) text += std::to_string(at) + ";";
    text += " ";
  }
  return text;
}

void CheckShape(const FragmentedTombstones& tombstones, const InternalKeyComparator& icmp) {
  for (size_t i = 0; i < tombstones.size(); i++) {
    const FragmentedTombstones::Fragment f = tombstones.fragment(i);
    ASSERT_LT(icmp.CompareUserKey(f.start, f.end), 0);
    ASSERT_LE(f.newest, tombstones.max_seq());
    ASSERT_EQ(f.covered, f.newest != 0);
    ASSERT_TRUE(f.covered || (i > 0 && i + 1 < tombstones.size()));
    if (i > 0) {
      ASSERT_EQ(tombstones.fragment(i - 1).end, f.start);
    }
  }
  for (size_t i = 1; i < tombstones.tombstone_count(); i++) {
    ASSERT_GE(tombstones.tombstone(i).seq, tombstones.tombstone(i - 1).seq);
  }
}

TEST(FragmentedTombstonesTest, Shapes) {
  struct Case {
    const char* name;
    Tombstones input;
    const char* fragments;
  };
  const Case cases[] = {
      {"none", {}, ""},
      {"empty_and_inverted_ranges", {{"b", "b", 1}, {"c", "a", 2}}, ""},
      {"one", {{"a", "c", 5}}, "[a,c)@5; "},
      {"apart", {{"c", "d", 1}, {"a", "b", 2}}, "[a,b)@2; [b,c)@ [c,d)@1; "},
      {"nested", {{"a", "d", 5}, {"b", "c", 7}}, "[a,b)@5; [b,c)@7;5; [c,d)@5; "},
      {"overlapping", {{"a", "c", 5}, {"b", "d", 3}}, "[a,b)@5; [b,c)@5;3; [c,d)@3; "},
      {"same_range", {{"a", "b", 3}, {"a", "b", 9}, {"a", "b", 3}}, "[a,b)@9;3; "},
      {"touching_and_equal", {{"a", "b", 4}, {"b", "c", 4}}, "[a,b)@4; [b,c)@4; "},
      {"touching_and_different", {{"a", "b", 4}, {"b", "c", 6}}, "[a,b)@4; [b,c)@6; "},
      {"same_sequence_overlapping", {{"a", "c", 4}, {"b", "d", 4}}, "[a,b)@4; [b,c)@4; [c,d)@4; "},
      {"from_the_first_key", {{"", "b", 2}}, "[,b)@2; "},
  };
  const InternalKeyComparator icmp(BytewiseComparator());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Draw(*FragmentedTombstones::Build(c.input, icmp)), c.fragments);
  }
}

TEST(FragmentedTombstonesTest, SummaryNumbers) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Tombstones input = {{"a", "d", 5}, {"b", "c", 7}, {"x", "y", 6}};
  const auto list = FragmentedTombstones::Build(input, icmp);
  EXPECT_EQ(list->size(), 5u);
  EXPECT_EQ(list->tombstone_count(), 3u);
  EXPECT_EQ(list->max_seq(), 7u);
  EXPECT_EQ(list->min_seq(), 5u);
  EXPECT_GT(list->MemoryUsage(), sizeof(FragmentedTombstones));
  EXPECT_EQ(list->LowerBound("a"), 0u);
  EXPECT_EQ(list->LowerBound("b"), 1u);
  EXPECT_EQ(list->LowerBound("d"), 3u);
  EXPECT_EQ(list->LowerBound("y"), 5u);
  const Slice d("d");
  const Slice w("w");
  const Slice x("x");
  EXPECT_FALSE(list->CoversAnyOf(&d, &w));
  EXPECT_TRUE(list->CoversAnyOf(&d, &x));
  EXPECT_TRUE(list->CoversAnyOf(nullptr, &w));
  EXPECT_TRUE(list->CoversAnyOf(&d, nullptr));
}

// Nested in each other, as a queue's deletions from its start are, and of one range.
TEST(FragmentedTombstonesTest, TakesLittleMoreThanTheTombstonesHoweverTheyOverlap) {
  const InternalKeyComparator icmp(BytewiseComparator());
  constexpr int kTombstones = 10000;
  for (const int shape : {0, 1, 2}) {
    Tombstones input;
    for (int i = 0; i < kTombstones; i++) {
      const auto seq = static_cast<SequenceNumber>(i + 1);
      const int begin = shape == 0 ? i : 0;
      const int end = shape == 2 ? kTombstones : 2 * kTombstones - i;
      input.push_back({std::to_string(100000 + begin), std::to_string(100000 + end), seq});
    }
    const auto list = FragmentedTombstones::Build(input, icmp);
    EXPECT_LE(list->MemoryUsage(), size_t{kTombstones} * 300) << shape;
    for (int i = 1; i <= kTombstones; i += 333) {
      const auto seq = static_cast<SequenceNumber>(i);
      const std::string key = std::to_string(100000 + (shape == 0 ? i - 1 : 0));
      EXPECT_EQ(list->MaxCoveringSeq(key, seq), seq) << shape;
    }
  }
}

class RandomTombstonesTest : public ::testing::TestWithParam<const Comparator*> {
 protected:
  const InternalKeyComparator icmp_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Orders, RandomTombstonesTest,
                         ::testing::Values(BytewiseComparator(), ReverseBytewiseComparator()));

TEST_P(RandomTombstonesTest, FragmentsAnswerAsTheModel) {
  std::mt19937 random(17);
  for (int round = 0; round < 400; round++) {
    const Tombstones input = RandomTombstones(&random, 12);
    const auto list = FragmentedTombstones::Build(input, icmp_);
    CheckShape(*list, icmp_);
    for (int q = 0; q < 60; q++) {
      const std::string key = RandomBound(&random);
      const SequenceNumber snapshot = random() % 22;
      ASSERT_EQ(list->MaxCoveringSeq(key, snapshot), ModelMaxCovering(input, icmp_, key, snapshot))
          << Draw(*list) << " key " << key << " snapshot " << snapshot;
    }
  }
}

TEST_P(RandomTombstonesTest, KeyOrderIsThatOfInternalKeys) {
  std::mt19937 random(31);
  for (int round = 0; round < 100; round++) {
    const Tombstones input = RandomTombstones(&random, 12);
    const auto list = FragmentedTombstones::Build(input, icmp_);
    const auto ordered = list->InKeyOrder();
    ASSERT_EQ(ordered.size(), list->tombstone_count());
    for (size_t i = 1; i < ordered.size(); i++) {
      const InternalKey before(ordered[i - 1].start, ordered[i - 1].seq, kTypeRangeDeletion);
      const InternalKey after(ordered[i].start, ordered[i].seq, kTypeRangeDeletion);
      ASSERT_LE(icmp_.Compare(before.Encode(), after.Encode()), 0);
    }
  }
}

// Writes may come with timestamps in any order.
TEST(TimedTombstonesTest, NewestWithinBothLimitsAsTheModelSays) {
  const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  std::mt19937 random(37);
  for (int round = 0; round < 400; round++) {
    const bool ascending = round % 2 == 0;
    Tombstones input = RandomTombstones(&random, 12);
    std::vector<uint64_t> times;
    for (RangeTombstone& t : input) {
      times.push_back(ascending ? t.seq / 2 : random() % 10);
      EncodeU64Ts(times.back(), &t.timestamp);
    }
    const auto list = FragmentedTombstones::Build(input, icmp);
    for (int q = 0; q < 60; q++) {
      const std::string key = RandomBound(&random);
      const SequenceNumber snapshot = random() % 22;
      const uint64_t as_of = random() % 12;
      const bool inclusive = random() % 2 == 0;
      SequenceNumber expected = 0;
      for (size_t i = 0; i < input.size(); i++) {
        if (input[i].seq > snapshot || key < input[i].start || key >= input[i].end) continue;
        if (times[i] < as_of || (inclusive && times[i] == as_of)) {
          expected = std::max(expected, input[i].seq);
        }
      }
      std::string limit;
      EncodeU64Ts(as_of, &limit);
      ASSERT_EQ(list->MaxCoveringSeq(key, snapshot, {limit, inclusive}), expected);
      ASSERT_EQ(list->MaxCoveringSeq(key, snapshot, {}), 0u);
    }
  }
}

TEST_P(RandomTombstonesTest, ClippingKeepsExactlyWhatIsInside) {
  std::mt19937 random(23);
  for (int round = 0; round < 400; round++) {
    const Tombstones input = RandomTombstones(&random, 8);
    const auto whole = FragmentedTombstones::Build(input, icmp_);
    const std::string low = RandomBound(&random);
    const std::string high = RandomBound(&random);
    const Slice lower(low);
    const Slice upper(high);
    const Bounds bounds{random() % 3 == 0 ? nullptr : &lower, random() % 3 == 0 ? nullptr : &upper};
    const auto clipped = FragmentedTombstones::Clip(whole, bounds.lower, bounds.upper);
    CheckShape(*clipped, icmp_);
    for (int q = 0; q < 40; q++) {
      const std::string key = RandomBound(&random);
      ASSERT_EQ(clipped->MaxCoveringSeq(key, 100), ModelMaxCovering(input, icmp_, key, 100, bounds))
          << Draw(*whole) << " clipped " << Draw(*clipped) << " key " << key;
    }
  }
}

TEST_P(RandomTombstonesTest, ASetAnswersAsTheModelInAnyOrderOfQuestions) {
  std::mt19937 random(29);
  for (int round = 0; round < 300; round++) {
    TombstoneSet set(icmp_);
    Tombstones all;
    std::vector<std::string> keys;
    for (int q = 0; q < 150; q++) {
      // Lists arrive between questions, more of them than a set keeps apart.
      if (q % 10 == 0) {
        const Tombstones more = RandomTombstones(&random, 4);
        const std::string low = RandomBound(&random);
        const std::string high = RandomBound(&random);
        const Slice lower(low);
        const Slice upper(high);
        const bool has_low = random() % 2 == 0;
        const bool has_high = random() % 2 == 0;
        set.Add(FragmentedTombstones::Build(more, icmp_), has_low ? &lower : nullptr,
                has_high ? &upper : nullptr);
        for (RangeTombstone t : more) {
          if (has_low && icmp_.CompareUserKey(t.start, low) < 0) t.start = low;
          if (has_high && icmp_.CompareUserKey(high, t.end) < 0) t.end = high;
          all.push_back(t);
        }
        keys.clear();
        for (int k = 0; k < 10; k++) keys.push_back(RandomBound(&random));
        // Forward, backward, or any order.
        const uint32_t order = random() % 3;
        if (order > 0) std::sort(keys.begin(), keys.end());
        if (order > 1) std::reverse(keys.begin(), keys.end());
      }
      const std::string& key = keys[static_cast<size_t>(q) % 10];
      const SequenceNumber snapshot = random() % 22;
      ASSERT_EQ(set.MaxCoveringSeq(key, snapshot), ModelMaxCovering(all, icmp_, key, snapshot));
      if (set.empty()) continue;
      // Nothing changes before the boundary.
      const Slice* const boundary = set.NextBoundary();
      const std::string other = RandomBound(&random);
      if (icmp_.CompareUserKey(other, key) >= 0 &&
          (boundary == nullptr || icmp_.CompareUserKey(other, *boundary) < 0)) {
        ASSERT_EQ(ModelMaxCovering(all, icmp_, other, snapshot),
                  ModelMaxCovering(all, icmp_, key, snapshot));
      }
    }
  }
}

TEST(TombstoneSetTest, EmptyListsLeaveItEmpty) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TombstoneSet set(icmp);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.MaxCoveringSeq("a", 10), 0u);
  set.Add(nullptr);
  set.Add(FragmentedTombstones::Build(Tombstones(), icmp));
  const Tombstones outside = {{"a", "b", 1}};
  const Slice lower("c");
  set.Add(FragmentedTombstones::Build(outside, icmp), &lower, nullptr);
  EXPECT_TRUE(set.empty());
  set.Add(FragmentedTombstones::Build(outside, icmp));
  EXPECT_FALSE(set.empty());
  EXPECT_EQ(set.MaxCoveringSeq("a", 10), 1u);
  set.Clear();
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.MaxCoveringSeq("a", 10), 0u);
}

// Counts calls, to hold the promise on cost.
class CountingOrder : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    calls++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  mutable int calls = 0;
};

std::string NumberedKey(int i) {
  std::string digits = std::to_string(i);
  return std::string(6 - digits.size(), '0') + digits;
}

TEST(TombstoneSetTest, NearbyKeysCostTwoComparisons) {
  const CountingOrder counting;
  const InternalKeyComparator icmp(&counting);
  Tombstones input;
  for (int i = 0; i < 1000; i++)
    input.push_back({NumberedKey(100 * i), NumberedKey(100 * i + 50), 7});
  TombstoneSet set(icmp);
  set.Add(FragmentedTombstones::Build(input, icmp));
  ASSERT_EQ(set.MaxCoveringSeq(NumberedKey(0), 9), 7u);
  counting.calls = 0;
  int covered = 0;
  for (int i = 0; i < 100000; i++) covered += set.MaxCoveringSeq(NumberedKey(i), 9) == 7 ? 1 : 0;
  EXPECT_EQ(covered, 50000);
  // Two for each key, and a few for each of the 2000 boundaries.
  EXPECT_LE(counting.calls, 2 * 100000 + 2000 * 8);
  counting.calls = 0;
  for (int i = 99999; i >= 0; i--) covered -= set.MaxCoveringSeq(NumberedKey(i), 9) == 7 ? 1 : 0;
  EXPECT_EQ(covered, 0);
  EXPECT_LE(counting.calls, 2 * 100000 + 2000 * 8);
}

TEST(TombstoneSetTest, ManyListsAreMerged) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TombstoneSet set(icmp);
  for (int i = 0; i < 1000; i++) {
    const Tombstones one = {
        {NumberedKey(i), NumberedKey(i + 1), static_cast<SequenceNumber>(i + 1)}};
    set.Add(FragmentedTombstones::Build(one, icmp));
    ASSERT_LE(set.lists().size(), 8u);
  }
  for (int i = 0; i < 1000; i++) {
    ASSERT_EQ(set.MaxCoveringSeq(NumberedKey(i), 5000), static_cast<SequenceNumber>(i + 1));
  }
  EXPECT_EQ(set.MaxCoveringSeq(NumberedKey(1000), 5000), 0u);
}

}  // namespace
}  // namespace varve
