// SPDX-License-Identifier: Apache-2.0

// Tests the helper blocks of the hash index, as RocksDB 7.8.3 wrote them for the same keys and
// blocks.

#include "table/index/prefix_blocks.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/table/table_file.h"

namespace varve {
namespace {

TEST(PrefixBlocks, NameTheRunOfBlocksOfEachPrefix) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(2));
  PrefixBlocks blocks(extractor.get());
  const struct {
    const char* key;
    uint32_t block;
  } kKeys[] = {{"aa", 0},    {"aa004", 1}, {"ab007", 2}, {"ab010", 3}, {"ab012", 4}, {"ac014", 4},
               {"ac015", 5}, {"ac018", 6}, {"bc020", 6}, {"bc030", 7}, {"bc038", 8}};
  for (const auto& k : kKeys) blocks.Add(k.key, k.block);
  blocks.Finish();
  EXPECT_EQ(*blocks.prefixes(), "aaabacbc");
  EXPECT_EQ(test::ToHex(*blocks.metadata()), "020002020203020403020603");
}

TEST(PrefixBlocks, KeysWithoutAPrefixAreLeftOut) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  PrefixBlocks blocks(extractor.get());
  blocks.Add("a", 0);
  blocks.Add("abc1", 0);
  blocks.Add("b", 1);
  blocks.Add("bcd1", 300);
  blocks.Add("bcd2", 300);
  blocks.Finish();
  EXPECT_EQ(*blocks.prefixes(), "abcbcd");
  EXPECT_EQ(test::ToHex(*blocks.metadata()), "03000103ac0201");
}

TEST(PrefixBlocks, OfNoKeysAreEmpty) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  PrefixBlocks blocks(extractor.get());
  blocks.Finish();
  EXPECT_TRUE(blocks.prefixes()->empty());
  EXPECT_TRUE(blocks.metadata()->empty());
}

}  // namespace
}  // namespace varve
