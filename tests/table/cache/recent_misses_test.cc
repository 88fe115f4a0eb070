// SPDX-License-Identifier: Apache-2.0

// Tests which keys count as missed again, and which are forgotten.

#include "table/cache/recent_misses.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/harness/random.h"

namespace varve {
namespace {

TEST(RecentMissesTest, AKeyRepeatsOnceAfterItsFirstMiss) {
  RecentMisses misses;
  EXPECT_FALSE(misses.Holds(0));
  ASSERT_TRUE(misses.Reserve(100));
  EXPECT_TRUE(misses.Holds(100));
  // Zero is a hash like any other.
  for (const uint64_t hash : {uint64_t{0}, uint64_t{1} << 40, uint64_t{0x12345678}}) {
    EXPECT_FALSE(misses.Repeats(hash));
    EXPECT_TRUE(misses.Repeats(hash));
    EXPECT_FALSE(misses.Repeats(hash));
    EXPECT_TRUE(misses.Repeats(hash));
  }
}

TEST(RecentMissesTest, AKeyIsForgottenWhenAnotherTakesItsPlace) {
  RecentMisses misses;
  ASSERT_TRUE(misses.Reserve(64));
  const uint64_t old_key = 0x50001;
  const uint64_t new_key = 0x50002;  // another tag in the same place
  EXPECT_FALSE(misses.Repeats(old_key));
  EXPECT_FALSE(misses.Repeats(new_key));
  EXPECT_FALSE(misses.Repeats(old_key));
}

TEST(RecentMissesTest, AboutAsManyKeysAreRememberedAsAreReserved) {
  constexpr uint64_t kKeys = 4096;
  constexpr uint64_t kTimes = 20;
  RecentMisses misses;
  ASSERT_TRUE(misses.Reserve(kKeys));
  testing::Random random(301);
  // A key that is missed again after a quarter as many others is nearly always known, and one that
  // is missed again after many times as many others nearly never.
  for (const uint64_t others : {kKeys / 4, kKeys * 8}) {
    uint64_t known = 0;
    for (uint64_t i = 0; i < kTimes; i++) {
      const uint64_t key = random.Next();
      EXPECT_FALSE(misses.Repeats(key));
      for (uint64_t n = 0; n < others; n++) (void)misses.Repeats(random.Next());
      known += misses.Repeats(key) ? 1 : 0;
    }
    if (others < kKeys) {
      EXPECT_GE(known, kTimes / 2);
    } else {
      EXPECT_LE(known, kTimes / 4);
    }
  }
}

TEST(RecentMissesTest, MoreRoomIsMadeWhenEntriesAreMany) {
  RecentMisses misses;
  ASSERT_TRUE(misses.Reserve(64));
  EXPECT_TRUE(misses.Holds(127));
  EXPECT_FALSE(misses.Holds(1000));
  ASSERT_TRUE(misses.Reserve(1000));
  EXPECT_TRUE(misses.Holds(1000));
  EXPECT_FALSE(misses.Repeats(7));
  EXPECT_TRUE(misses.Repeats(7));
}

}  // namespace
}  // namespace varve
