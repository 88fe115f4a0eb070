// SPDX-License-Identifier: Apache-2.0

// Goal: the map finds the row of every key that was put into it, however full its buckets are, and
// denies nearly all others. Method: hashes at random, and hashes made so that they share tags,
// buckets or everything.

#include "table/plain/plain_key_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "table/filter/filter_bits.h"

namespace varve::test {
namespace {

// Maps hash number i to offset 100 * i.
PlainKeyMap MapOf(const std::vector<uint64_t>& hashes) {
  PlainKeyMap::Offsets offsets;
  for (size_t i = 0; i < hashes.size(); i++) offsets.push_back(static_cast<uint32_t>(100 * i));
  PlainKeyMap map;
  map.Build(FilterHashes(hashes.begin(), hashes.end()), offsets);
  return map;
}

// Returns the number of rows that a search goes through before it finds `offset`, with it; 0 if it
// does not find it.
size_t StepsTo(const PlainKeyMap& map, uint64_t hash, uint32_t offset) {
  size_t steps = 0;
  const bool found = map.Find(hash, [&](uint32_t met) {
    steps++;
    return met == offset;
  });
  return found ? steps : 0;
}

void ExpectAllFound(const PlainKeyMap& map, const std::vector<uint64_t>& hashes) {
  ASSERT_TRUE(map.built());
  for (size_t i = 0; i < hashes.size(); i++) {
    EXPECT_NE(StepsTo(map, hashes[i], static_cast<uint32_t>(100 * i)), 0u) << i;
    EXPECT_TRUE(map.MayHave(hashes[i])) << i;
  }
}

std::vector<uint64_t> RandomHashes(size_t n, uint64_t seed) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < n; i++) hashes.push_back(FilterHash(std::to_string(seed + i)));
  return hashes;
}

TEST(PlainKeyMapTest, AMapWithoutKeysIsNotBuilt) {
  const PlainKeyMap map = MapOf({});
  EXPECT_FALSE(map.built());
  EXPECT_EQ(map.MemoryUsage(), 0u);
}

TEST(PlainKeyMapTest, EveryKeyIsFoundAndOthersSeldom) {
  for (const size_t n : {1u, 7u, 8u, 17u, 1000u, 50000u}) {
    SCOPED_TRACE(n);
    const std::vector<uint64_t> hashes = RandomHashes(n, 0);
    const PlainKeyMap map = MapOf(hashes);
    ExpectAllFound(map, hashes);
    EXPECT_EQ(map.MemoryUsage(), PlainKeyMap::BytesFor(n));
    size_t claimed = 0;
    for (const uint64_t absent : RandomHashes(10000, 1000000))
      claimed += map.MayHave(absent) ? 1 : 0;
    EXPECT_LT(claimed, 15u);
  }
}

TEST(PlainKeyMapTest, AKeyTakesAboutNineBytes) {
  EXPECT_LT(PlainKeyMap::BytesFor(1000000), 9200000u);
  EXPECT_EQ(PlainKeyMap::BytesFor(0), 0u);
  EXPECT_EQ(PlainKeyMap::BytesFor(1), 64u);
}

// A tag of zero marks a free slot, so that hashes which end with it have another.
TEST(PlainKeyMapTest, HashesThatEndWithZeroAreFound) {
  const std::vector<uint64_t> hashes{0, uint64_t{1} << 63, 0xffffffffffff0000};
  const PlainKeyMap map = MapOf(hashes);
  ExpectAllFound(map, hashes);
  EXPECT_FALSE(map.MayHave(2));
}

// Each tag differs from the others in one bit, so that a comparison which lets a carry into the
// next lane would mix them up.
TEST(PlainKeyMapTest, TagsOfNeighbouringSlotsAreToldApart) {
  std::vector<uint64_t> hashes;
  for (uint64_t tag = 1; tag <= 7; tag++) hashes.push_back(tag);
  const PlainKeyMap map = MapOf(hashes);
  for (size_t i = 0; i < hashes.size(); i++) {
    EXPECT_EQ(StepsTo(map, hashes[i], static_cast<uint32_t>(100 * i)), 1u) << i;
  }
  for (const uint64_t absent : {8u, 0x8001u, 0x7fffu, 0x8000u, 0xffffu}) {
    EXPECT_FALSE(map.MayHave(absent)) << absent;
  }
}

// All ten slots of a bucket are searched, and what does not fit goes on behind the last bucket at
// the first one.
TEST(PlainKeyMapTest, KeysOfAFullBucketAreInTheNext) {
  for (const uint64_t upper : {uint64_t{0}, uint64_t{UINT32_MAX}}) {
    std::vector<uint64_t> hashes;
    for (uint64_t i = 0; i < 25; i++) hashes.push_back(upper << 32 | (100 + i));
    const PlainKeyMap map = MapOf(hashes);
    ExpectAllFound(map, hashes);
    for (size_t i = 0; i < hashes.size(); i++) {
      EXPECT_EQ(StepsTo(map, hashes[i], static_cast<uint32_t>(100 * i)), 1u) << i;
    }
    EXPECT_FALSE(map.MayHave(upper << 32 | 99));
  }
}

TEST(PlainKeyMapTest, KeysWithOneHashAreOfferedOneByOne) {
  std::vector<uint64_t> hashes = RandomHashes(500, 0);
  hashes.insert(hashes.end(), 40, 0x1234567812345678);
  const PlainKeyMap map = MapOf(hashes);
  ExpectAllFound(map, hashes);
  size_t offered = 0;
  map.Find(0x1234567812345678, [&](uint32_t /*offset*/) {
    offered++;
    return false;
  });
  EXPECT_EQ(offered, 40u);
}

TEST(PlainKeyMapTest, TooManyKeysWithOneHashPreventTheMap) {
  const PlainKeyMap map = MapOf(std::vector<uint64_t>(10000, 0x1234567812345678));
  EXPECT_FALSE(map.built());
  EXPECT_EQ(map.MemoryUsage(), 0u);
}

}  // namespace
}  // namespace varve::test
