// SPDX-License-Identifier: Apache-2.0

// Tests which keys a filter gathers, and where it is cut.

#include "table/filter/filter_builder.h"

#include <gtest/gtest.h>

#include <memory>

namespace varve {
namespace {

using FilterOptions = FilterBuilder::Options;

bool Has(const FilterBuilder::Partition& partition, const Slice& item) {
  const FilterBits filter = FilterBits::Parse(partition.block);
  return filter.MayMatch(filter.HashOf(item));
}

FilterOptions Verifying() {
  FilterOptions options;
  options.verify = true;
  return options;
}

TEST(FilterBuilder, EqualNeighboursCountOnce) {
  FilterBuilder builder(Verifying());
  for (const char* key : {"a", "a", "b", "b", "b"}) builder.Add(key);
  EXPECT_EQ(builder.entry_count(), 2u);
}

TEST(FilterBuilder, PrefixesJoinOrReplaceWholeKeys) {
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(3));
  for (const bool whole : {true, false}) {
    FilterOptions options = Verifying();
    options.prefix_extractor = prefix.get();
    options.whole_keys = whole;
    FilterBuilder builder(options);
    for (const char* key : {"aa", "aaa1", "aaa2", "bbb1"}) builder.Add(key);
    EXPECT_EQ(builder.entry_count(), whole ? 6u : 2u);
    EXPECT_FALSE(builder.PartitionIsFull());
    ASSERT_TRUE(builder.Finish("bbb1").ok());
    EXPECT_EQ(builder.entry_count(), whole ? 6u : 2u);
    ASSERT_EQ(builder.partitions().size(), 1u);
    const FilterBuilder::Partition& all = builder.partitions()[0];
    EXPECT_TRUE(Has(all, "aaa"));
    EXPECT_TRUE(Has(all, "bbb"));
    EXPECT_EQ(Has(all, "aaa1"), whole);
  }
}

// Adds numbered keys as a table would.
std::vector<std::string> FillInPartitions(FilterBuilder* builder, int keys) {
  std::vector<std::string> added;
  for (int i = 0; i < keys; i++) {
    const std::string key = "key" + std::to_string(10000 + i);
    if (builder->PartitionIsFull()) {
      EXPECT_TRUE(builder->CutPartition(added.back(), key).ok());
    }
    builder->Add(key);
    added.push_back(key);
  }
  EXPECT_TRUE(builder->Finish(added.back()).ok());
  return added;
}

TEST(FilterBuilder, PartitionsFillTheirSizeAndNameTheirLastKey) {
  for (const auto kind : {FilterBuilder::Kind::kFastLocalBloom, FilterBuilder::Kind::kLegacyBloom,
                          FilterBuilder::Kind::kRibbon}) {
    for (const uint64_t bytes : {1u, 256u, 1024u}) {
      FilterOptions options = Verifying();
      options.kind = kind;
      options.partition_bytes = bytes;
      FilterBuilder builder(options);
      const std::vector<std::string> keys = FillInPartitions(&builder, 3000);
      EXPECT_EQ(builder.entry_count(), keys.size());
      size_t sum = 0;
      size_t next = 0;
      for (const FilterBuilder::Partition& partition : builder.partitions()) {
        sum += partition.block.size();
        if (&partition != &builder.partitions().back() && bytes > 1) {
          EXPECT_LE(partition.block.size(), bytes + bytes / 2);
          EXPECT_GE(partition.block.size(), bytes / 2);
        }
        for (bool last = false; !last; next++) {
          ASSERT_LT(next, keys.size());
          EXPECT_TRUE(Has(partition, keys[next]));
          last = keys[next] == partition.last_user_key;
        }
      }
      EXPECT_EQ(next, keys.size());
      EXPECT_EQ(builder.EstimatedSize(), sum);
    }
  }
}

TEST(FilterBuilder, BothSidesOfABorderKnowThePrefixesOfBothNeighbours) {
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(2));
  FilterOptions options = Verifying();
  options.prefix_extractor = prefix.get();
  options.whole_keys = false;
  options.millibits_per_key = 30000;
  options.partition_bytes = 64;
  FilterBuilder builder(options);
  for (const char* key : {"aa1", "bb1", "bb2"}) builder.Add(key);
  ASSERT_TRUE(builder.CutPartition("bb2", "cc1").ok());
  for (const char* key : {"cc1", "dd1"}) builder.Add(key);
  ASSERT_TRUE(builder.CutPartition("dd1", "x").ok());  // outside the domain
  builder.Add("x");
  ASSERT_TRUE(builder.Finish("x").ok());
  const struct {
    const char* prefix;
    bool in[3];
  } kWanted[] = {{"aa", {true, false, false}},
                 {"bb", {true, true, false}},
                 {"cc", {true, true, false}},
                 {"dd", {false, true, true}}};
  ASSERT_EQ(builder.partitions().size(), 3u);
  for (const auto& wanted : kWanted) {
    for (size_t i = 0; i < 3; i++) {
      EXPECT_EQ(Has(builder.partitions()[i], wanted.prefix), wanted.in[i])
          << wanted.prefix << " in " << i;
    }
  }
}

TEST(FilterBuilder, AKeyOnBothSidesOfABorderIsInBoth) {
  FilterOptions options = Verifying();
  options.partition_bytes = 64;
  FilterBuilder builder(options);
  builder.Add("a");
  ASSERT_TRUE(builder.CutPartition("a", "a").ok());
  builder.Add("a");
  ASSERT_TRUE(builder.Finish("a").ok());
  for (const FilterBuilder::Partition& partition : builder.partitions()) {
    EXPECT_TRUE(Has(partition, "a"));
  }
}

}  // namespace
}  // namespace varve
