// SPDX-License-Identifier: Apache-2.0

// Tests sets of bytes: that neighbours become one range, what is left when some go, and that blocks
// never hold a byte from outside. Method: small cases by hand, and random ones beside a list of
// flags, one for each byte.

#include "db/blob/byte_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/random.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ByteRangesTest, NeighboursBecomeOne) {
  ByteRanges ranges;
  ranges.Add({10, 20});
  ranges.Add({30, 40});
  EXPECT_THAT(ranges.List(), ElementsAre(ByteRange{10, 20}, ByteRange{30, 40}));
  ranges.Add({20, 30});
  EXPECT_THAT(ranges.List(), ElementsAre(ByteRange{10, 40}));
  ranges.Add({0, 100});
  ranges.Add({50, 60});
  ranges.Add({100, 100});
  EXPECT_THAT(ranges.List(), ElementsAre(ByteRange{0, 100}));
}

TEST(ByteRangesTest, TheMiddleCanGo) {
  ByteRanges ranges;
  ranges.Add({10, 40});
  ranges.Remove({20, 30});
  EXPECT_THAT(ranges.List(), ElementsAre(ByteRange{10, 20}, ByteRange{30, 40}));
  ranges.Remove({0, 12});
  ranges.Remove({20, 30});
  EXPECT_THAT(ranges.List(), ElementsAre(ByteRange{12, 20}, ByteRange{30, 40}));
  ByteRanges all;
  all.Add({0, 100});
  ranges.Remove(all);
  EXPECT_THAT(ranges.List(), IsEmpty());
}

TEST(ByteRangesTest, BlocksAreWithinTheRanges) {
  ByteRanges ranges;
  ranges.Add({1, 4096});  // lacks the first byte of its block
  ranges.Add({8192, 12288});
  ranges.Add({16383, 20481});
  ranges.Add({24577, 32767});  // holds no whole block
  EXPECT_THAT(ranges.WholeBlocks(4096).List(),
              ElementsAre(ByteRange{8192, 12288}, ByteRange{16384, 20480}));
}

TEST(ByteRangesTest, RandomSetsAreThoseOfFlags) {
  constexpr uint64_t kBytes = 200;
  constexpr uint64_t kBlock = 8;
  testing::Random random(7);
  for (int round = 0; round < 50; ++round) {
    ByteRanges ranges;
    std::vector<bool> flags(kBytes);
    for (int step = 0; step < 60; ++step) {
      const uint64_t begin = random.Below(kBytes);
      const uint64_t end = begin + random.Below(std::min<uint64_t>(kBytes - begin + 1, 30));
      const bool adds = random.Below(3) != 0;
      if (adds) {
        ranges.Add({begin, end});
      } else {
        ranges.Remove(ByteRange{begin, end});
      }
      for (uint64_t i = begin; i < end; ++i) flags[i] = adds;
      std::vector<ByteRange> expected;
      std::vector<ByteRange> blocks;
      for (uint64_t i = 0; i < kBytes; ++i) {
        if (!flags[i]) continue;
        if (expected.empty() || expected.back().end != i) expected.push_back({i, i});
        expected.back().end = i + 1;
      }
      for (uint64_t at = 0; at < kBytes; at += kBlock) {
        bool whole = true;
        for (uint64_t i = at; i < at + kBlock; ++i) whole = whole && flags[i];
        if (!whole) continue;
        if (blocks.empty() || blocks.back().end != at) blocks.push_back({at, at});
        blocks.back().end = at + kBlock;
      }
      ASSERT_EQ(ranges.List(), expected);
      ASSERT_EQ(ranges.WholeBlocks(kBlock).List(), blocks);
      ASSERT_EQ(ranges.size(), expected.size());
    }
  }
}

}  // namespace
}  // namespace varve
