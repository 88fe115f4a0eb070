// SPDX-License-Identifier: Apache-2.0

// Tests the hashes of the formats against golden values cut out of real files.

#include "util/coding/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve {
namespace {

TEST(HashTest, LegacyHashGoldenValues) {
  constexpr uint32_t kFilterSeed = 0xbc9f1d34u;
  EXPECT_EQ(Hash("k1", 2, kFilterSeed), 0x78080bbfu);
  EXPECT_EQ(Hash("k1", 2, 397), 0x25dae687u);
  EXPECT_EQ(Hash("", 0, kFilterSeed), kFilterSeed);
  EXPECT_EQ(Hash("\xe2\x99\xa5", 3, kFilterSeed), 0x530174eeu);
}

TEST(HashTest, KeyHashGoldenValues) {
  struct Case {
    size_t n;
    uint64_t hash;
  };
  const Case cases[] = {
      {0, 0x5342c3010fe1dd04u},    {1, 0x7198d737cfe7f386u},    {2, 0x391ee7c983900289u},
      {3, 0xc0360a11b4791b98u},    {4, 0xf28e842dedde83aeu},    {8, 0x223c9d9c7f17db6eu},
      {9, 0x93557756b5dae4ddu},    {16, 0x4bfe2ff1655e8360u},   {17, 0x6dff1ac96eef2848u},
      {32, 0x05e0c55fd9add145u},   {33, 0x836364faed762c18u},   {64, 0x85a0b1306d97b7f5u},
      {65, 0x761d1aecf631ff50u},   {96, 0xea1eec322790bfdbu},   {97, 0xa178f7429a14e134u},
      {128, 0x7aa5db2c8097080bu},  {129, 0xa06d81743056cebcu},  {240, 0xd1253a6dec8c35fcu},
      {241, 0xb78df6016a18c222u},  {256, 0x4ab6ef4d2088e650u},  {1024, 0xa63b91fd35ca4f09u},
      {1025, 0x95936fd408f00c5eu}, {1088, 0x24d4bf310a290533u}, {2000, 0xe5e50ea1a9454292u},
  };
  for (const Case& c : cases) {
    std::string input(c.n, '\0');
    for (size_t i = 0; i < c.n; i++) input[i] = static_cast<char>(i);
    EXPECT_EQ(KeyHash64(Slice(input)), c.hash) << c.n;
  }
  // This value comes from a filter in a real file.
  EXPECT_EQ(KeyHash64("k1"), 0xe53194a2b84899c0u);
  EXPECT_EQ(KeyHash64("k2"), 0xf66182df829f7a10u);
  EXPECT_EQ(KeyHash64("k3"), 0x7098de881b3bf370u);
}

TEST(HashTest, KeyHashReadsExactlyItsInput) {
  for (size_t n = 0; n <= 300; n++) {
    // A heap block of the exact size lets a sanitizer see reads outside of it.
    const std::vector<char> exact(n, 'k');
    const std::string copy(n, 'k');
    EXPECT_EQ(KeyHash64(exact.data(), n), KeyHash64(copy.data(), n));
  }
}

// Hashes one block, the same in four files that differ in the checksum only; block type byte 0.
TEST(HashTest, BlockChecksumsOfRealFiles) {
  const std::string block(
      "\x00\x0a\x02\x6b\x31\x01\x01\x00\x00\x00\x00\x00\x00\x76\x31\x01\x09\x02\x32\x01\x02\x00\x00"
      "\x00\x00\x00\x00\x76\x32\x00\x00\x00\x00\x01\x00\x00\x00",
      37);
  const std::string with_type = block + '\0';
  EXPECT_EQ(XXHash32(with_type.data(), with_type.size()), 0xb0941291u);
  EXPECT_EQ(XXHash32(block.data(), block.size(), 0), 0xb0941291u);
  EXPECT_EQ(XXHash64Low32(with_type.data(), with_type.size()), 0xa44fed3cu);
  EXPECT_EQ(XXHash64Low32(block.data(), block.size(), 0), 0xa44fed3cu);
  EXPECT_EQ(XXH3Low32(block.data(), block.size()), 0x988d7f8eu);
}

// The form for this processor's vectors against the common one.
TEST(HashTest, BlocksHashAlikeOnEveryProcessor) {
  std::string block;
  for (size_t n = 0; n < 5000; n++) {
    EXPECT_EQ(XXH3Low32(block.data(), n), static_cast<uint32_t>(XXH3Hash64(block.data(), n, 0)))
        << n;
    block.push_back(static_cast<char>(n * 37 % 251));
  }
}

TEST(HashTest, PublishedXxh3) {
  EXPECT_EQ(XXH3Hash64("", 0, 0), 0x2d06800538d394c2u);
  const Hash128 empty = XXH3Hash128("", 0, 0);
  EXPECT_EQ(empty.low, 0x6001c324468d497fu);
  EXPECT_EQ(empty.high, 0x99aa06d3014798d8u);
  EXPECT_NE(XXH3Hash128("a", 1, 1).low, XXH3Hash128("a", 1, 2).low);
}

}  // namespace
}  // namespace varve
