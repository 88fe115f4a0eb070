// SPDX-License-Identifier: Apache-2.0
#include "db/version/tombstone_runs.h"

#include <gtest/gtest.h>

#include <string>

#include "varve/comparator.h"

namespace varve {
namespace {

class TombstoneRunsTest : public ::testing::Test {
 protected:
  // Returns "begin-end" of the range that a reader gets, or "none".
  std::string Find(const std::string& key, SequenceNumber sequence, uint64_t super_version = 1) {
    std::string begin;
    std::string end;
    return ranges_.Find(key, {sequence, super_version}, &begin, &end) ? begin + "-" + end : "none";
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  TombstoneRuns ranges_{&icmp_};
};

TEST_F(TombstoneRunsTest, ARangeHoldsTheKeysBetweenItsEnds) {
  EXPECT_EQ(Find("c", 9), "none");
  ranges_.Add("b", "d", {5, 1});
  EXPECT_EQ(Find("a", 9), "none");
  EXPECT_EQ(Find("b", 9), "none");
  EXPECT_EQ(Find("c", 9), "b-d");
  EXPECT_EQ(Find("d", 9), "none");
  ranges_.Add("x", "x", {5, 1});
  ranges_.Add("z", "y", {5, 1});
  EXPECT_EQ(Find("x", 9), "none");
  EXPECT_EQ(Find("yy", 9), "none");
}

TEST_F(TombstoneRunsTest, OnlyReadersThatSeeAsMuchAreTold) {
  ranges_.Add("b", "d", {5, 3});
  EXPECT_EQ(Find("c", 4, 3), "none");
  EXPECT_EQ(Find("c", 5, 2), "none");
  EXPECT_EQ(Find("c", 5, 3), "b-d");
}

TEST_F(TombstoneRunsTest, RangesThatShareKeysBecomeOneOfTheLaterMoment) {
  ranges_.Add("b", "d", {5, 1});
  ranges_.Add("f", "h", {7, 1});
  ranges_.Add("d", "f", {1, 1});  // touches both, but says nothing of "d" and "f"
  EXPECT_EQ(Find("c", 5), "b-d");
  EXPECT_EQ(Find("d", 9), "none");
  EXPECT_EQ(Find("e", 1), "d-f");
  ranges_.Add("c", "g", {2, 1});
  EXPECT_EQ(Find("c", 6), "none");
  EXPECT_EQ(Find("d", 7), "b-h");
  ranges_.Add("cc", "ce", {9, 1});
  EXPECT_EQ(Find("c", 8), "none");
  EXPECT_EQ(Find("c", 9), "b-h");
}

TEST_F(TombstoneRunsTest, ForgetsSomeOfManyAndLeavesLongKeysAlone) {
  const auto key = [](int i) { return std::to_string(1000000 + i); };
  constexpr int kRanges = 2000;
  for (int i = 0; i < kRanges; i++) ranges_.Add(key(10 * i), key(10 * i + 5), {1, 1});
  int found = 0;
  for (int i = 0; i < kRanges; i++) {
    const std::string answer = Find(key(10 * i + 1), 1);
    if (answer == "none") continue;
    found++;
    EXPECT_EQ(answer, key(10 * i) + "-" + key(10 * i + 5));
  }
  EXPECT_GT(found, 100);
  EXPECT_LT(found, 1000);
  ranges_.Add("a", std::string(5000, 'b'), {1, 1});
  EXPECT_EQ(Find("aa", 1), "none");
}

}  // namespace
}  // namespace varve
