// SPDX-License-Identifier: Apache-2.0

// What range tombstones of one table mean for the entries of another.

#include "db/version/covered_files.h"

#include <gtest/gtest.h>

#include "tests/db/version/drawn_tree.h"
#include "util/key/range_tombstone.h"

namespace varve {
namespace {

class CoverTest : public ::testing::Test {
 protected:
  // File 5 holds [d, h], with sequence numbers up to 5; file 9, with the tombstones, [a, p].
  Cover Of(const std::vector<RangeTombstone>& tombstones, SequenceNumber oldest = 100) {
    const VersionRef tree = DrawTree("L1: 9[a-p]1 L2: 5[d-h]1");
    int level = 0;
    return CoverOf(*tree->FindByNumber(5, &level), *tree->FindByNumber(9, &level),
                   *FragmentedTombstones::Build(tombstones, BytewiseOrder()), oldest);
  }
};

TEST_F(CoverTest, ATombstoneOverAllKeysCoversTheFile) {
  EXPECT_TRUE(Of({{"a", "p", 9}}).whole);
  EXPECT_TRUE(Of({{"d", "i", 6}}).whole) << "from its first key to behind its last";
}

TEST_F(CoverTest, TheEndOfATombstoneIsNotUnderIt) {
  EXPECT_FALSE(Of({{"d", "h", 9}}).whole);
  EXPECT_FALSE(Of({{"e", "p", 9}}).whole);
}

TEST_F(CoverTest, SeveralTombstonesCoverItTogetherIfTheyTouch) {
  EXPECT_TRUE(Of({{"a", "e", 7}, {"e", "g", 8}, {"f", "p", 6}}).whole);
  EXPECT_FALSE(Of({{"a", "e", 7}, {"f", "p", 6}}).whole);
  EXPECT_FALSE(Of({{"a", "e", 7}, {"e", "p", 5}}).whole) << "not newer than an entry may be";
}

TEST_F(CoverTest, ASnapshotFromBeforeTheTombstoneStillSeesTheFile) {
  const Cover waits = Of({{"a", "f", 7}, {"e", "p", 8}}, 7);
  EXPECT_FALSE(waits.whole);
  EXPECT_EQ(waits.whole_from, 8u);
  EXPECT_TRUE(Of({{"a", "f", 7}, {"e", "p", 8}}, 8).whole);
  EXPECT_TRUE(Of({{"a", "p", 7}, {"a", "p", 9}}, 8).whole) << "by the older of two";
  EXPECT_EQ(Of({{"e", "p", 8}}, 7).whole_from, kMaxSequenceNumber) << "never";
}

TEST_F(CoverTest, TombstonesCountWithinTheBoundsOfTheirTable) {
  const VersionRef tree = DrawTree("L1: 9[a-g]1 L2: 5[d-h]1");
  int level = 0;
  const std::vector<RangeTombstone> wide = {{"a", "p", 9}};
  EXPECT_FALSE(CoverOf(*tree->FindByNumber(5, &level), *tree->FindByNumber(9, &level),
                       *FragmentedTombstones::Build(wide, BytewiseOrder()), 100)
                   .whole);
}

}  // namespace
}  // namespace varve
