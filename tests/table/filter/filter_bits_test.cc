// SPDX-License-Identifier: Apache-2.0

// Filters: golden bytes, no false negative, and a bearable rate of false positives.

#include "table/filter/filter_bits.h"

#include <gtest/gtest.h>

#include "table/filter/full_filter_builder.h"
#include "tests/table/table_file.h"

namespace varve {
namespace {

std::string NumberedKey(int i) {
  return "user" + std::to_string(i);
}

std::string Build(const FullFilterBuilder::Options& options, int keys) {
  FullFilterBuilder builder(options);
  for (int i = 0; i < keys; i++) builder.Add(NumberedKey(i));
  std::string block;
  EXPECT_TRUE(builder.Finish(/*verify=*/true, &block).ok());
  return block;
}

TEST(FilterBits, FastLocalBloomOfThreeKeysAsRocksDbWroteIt) {
  FullFilterBuilder builder{FullFilterBuilder::Options()};
  for (const char* key : {"k1", "k2", "k3"}) builder.Add(key);
  std::string block;
  ASSERT_TRUE(builder.Finish(true, &block).ok());
  EXPECT_EQ(FilterHash("k1"), 0xe53194a2b84899c0u);
  EXPECT_EQ(test::ToHex(block),
            "0000400000000004000000000004000000000000000000a00000000002000000"
            "0000200000000000800005040000000000008000004000004004000002102000ff00060000");
}

TEST(FilterBits, EveryFormFindsItsKeysAndFewOthers) {
  const struct {
    bool legacy;
    int millibits;
    double worst_false_positives;
  } kCases[] = {{false, 10000, 0.012},
                {false, 4000, 0.17},
                {false, 16000, 0.002},
                {true, 10000, 0.02},
                {true, 4000, 0.2}};
  for (const auto& c : kCases) {
    for (const int keys : {1, 60, 5000}) {
      FullFilterBuilder::Options options;
      options.legacy = c.legacy;
      options.millibits_per_key = c.millibits;
      const std::string block = Build(options, keys);
      const FilterBits filter = FilterBits::Parse(block);
      EXPECT_EQ(filter.uses_legacy_hash(), c.legacy);
      for (int i = 0; i < keys; i++) EXPECT_TRUE(filter.MayMatch(filter.HashOf(NumberedKey(i))));
      int false_positives = 0;
      constexpr int kProbes = 20000;
      for (int i = 0; i < kProbes; i++) {
        if (filter.MayMatch(filter.HashOf(NumberedKey(1000000 + i)))) false_positives++;
      }
      EXPECT_LT(false_positives, c.worst_false_positives * kProbes)
          << keys << " keys, millibits " << c.millibits << ", legacy " << c.legacy;
    }
  }
}

TEST(FilterBits, ProbesFollowTheBitsPerKey) {
  const struct {
    int millibits;
    int probes;
  } kCases[] = {{1000, 1},  {2080, 1},   {2081, 2},   {10000, 6},  {10070, 6},  {10071, 7},
                {16050, 9}, {25501, 12}, {25502, 11}, {50000, 23}, {50001, 24}, {100000, 24}};
  for (const auto& c : kCases) EXPECT_EQ(BloomProbes(c.millibits), c.probes) << c.millibits;
}

TEST(FilterBits, SizeIsRoundedUpToLines) {
  EXPECT_EQ(FastLocalBloomBytes(1, 10000), 64u + 5);
  EXPECT_EQ(FastLocalBloomBytes(51, 10000), 64u + 5);
  EXPECT_EQ(FastLocalBloomBytes(52, 10000), 128u + 5);
  EXPECT_EQ(FastLocalBloomBytes(0, 10000), 5u);
}

TEST(FilterBits, SpecialBlocks) {
  EXPECT_FALSE(FilterBits::Parse("").MayMatch(1));
  EXPECT_FALSE(FilterBits::Parse(std::string(5, '\0')).MayMatch(1));
  EXPECT_TRUE(FilterBits::Parse(std::string(69, '\0')).MayMatch(1));  // says "always"
  // An unknown member of the new family.
  std::string unknown(69, '\0');
  unknown[64] = static_cast<char>(0xff);
  unknown[65] = 1;
  unknown[66] = 6;
  EXPECT_EQ(FilterBits::Parse(unknown).kind(), FilterKind::kAlwaysMatches);
}

TEST(FullFilterBuilder, EqualNeighboursCountOnce) {
  FullFilterBuilder builder{FullFilterBuilder::Options()};
  for (const char* key : {"a", "a", "b", "b", "b"}) builder.Add(key);
  EXPECT_EQ(builder.entry_count(), 2u);
}

TEST(FullFilterBuilder, PrefixesJoinOrReplaceWholeKeys) {
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(3));
  for (const bool whole : {true, false}) {
    FullFilterBuilder::Options options;
    options.prefix_extractor = prefix.get();
    options.whole_keys = whole;
    FullFilterBuilder builder(options);
    for (const char* key : {"aa", "aaa1", "aaa2", "bbb1"}) builder.Add(key);
    EXPECT_EQ(builder.entry_count(), whole ? 6u : 2u);
    std::string block;
    ASSERT_TRUE(builder.Finish(true, &block).ok());
    const FilterBits filter = FilterBits::Parse(block);
    EXPECT_TRUE(filter.MayMatch(FilterHash("aaa")));
    EXPECT_TRUE(filter.MayMatch(FilterHash("bbb")));
    EXPECT_EQ(filter.MayMatch(FilterHash("aaa1")), whole);
  }
}

}  // namespace
}  // namespace varve
