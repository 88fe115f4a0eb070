// SPDX-License-Identifier: Apache-2.0

// Goal: filter policies carry the bits they were asked for, rounded as documented, and go to text
// and back.

#include "util/filter/builtin_filter_policy.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/table.h"

namespace varve {
namespace {

using Policy = std::unique_ptr<const FilterPolicy>;

struct BitsCase {
  double bits;
  int millibits;
  const char* id;
};

TEST(BuiltinFilterPolicyTest, BitsAreRoundedAndBounded) {
  const BitsCase kCases[] = {
      {-1, 0, "bloomfilter:0:false"},
      {0.49, 0, "bloomfilter:0:false"},
      {0.6, 1000, "bloomfilter:1:false"},
      {9.5, 9500, "bloomfilter:9.5:false"},
      {9.9999, 10000, "bloomfilter:10:false"},
      {12.34567, 12346, "bloomfilter:12.346:false"},
      {10.05, 10050, "bloomfilter:10.05:false"},
      {200, 100000, "bloomfilter:100:false"},
      {NAN, 0, "bloomfilter:0:false"},
      {INFINITY, 100000, "bloomfilter:100:false"},
  };
  for (const BitsCase& c : kCases) {
    const Policy policy(NewBloomFilterPolicy(c.bits));
    const BuiltinFilterPolicy* builtin = AsBuiltinFilterPolicy(policy.get());
    ASSERT_NE(builtin, nullptr);
    EXPECT_EQ(builtin->millibits_per_key(), c.millibits) << c.bits;
    EXPECT_EQ(policy->GetId(), c.id);
    EXPECT_STREQ(policy->Name(), "bloomfilter");
    EXPECT_STREQ(policy->CompatibilityName(), "rocksdb.BuiltinBloomFilter");
  }
}

TEST(BuiltinFilterPolicyTest, RibbonGivesWayToBloomAboveItsLevel) {
  const BlockBasedTableOptions table_options;
  struct Case {
    int bloom_before_level;
    TableFileCreationReason reason;
    int level;
    bool ribbon;
  };
  constexpr auto kFlush = TableFileCreationReason::kFlush;
  constexpr auto kCompaction = TableFileCreationReason::kCompaction;
  constexpr auto kMisc = TableFileCreationReason::kMisc;
  const Case kCases[] = {
      {0, kFlush, 0, false},       {0, kCompaction, 0, true},
      {2, kCompaction, 1, false},  {2, kCompaction, 2, true},
      {-1, kFlush, 0, true},       {2, kMisc, -1, true},
      {INT_MAX, kMisc, -1, false}, {INT_MAX, kCompaction, 6, false},
  };
  for (const Case& c : kCases) {
    const Policy policy(NewRibbonFilterPolicy(10, c.bloom_before_level));
    FilterBuildingContext context(table_options);
    context.reason = c.reason;
    context.level_at_creation = c.level;
    EXPECT_EQ(AsBuiltinFilterPolicy(policy.get())->BuildsRibbon(context), c.ribbon)
        << c.bloom_before_level << " level " << c.level;
  }
  const Policy bloom(NewBloomFilterPolicy(10));
  EXPECT_FALSE(
      AsBuiltinFilterPolicy(bloom.get())->BuildsRibbon(FilterBuildingContext(table_options)));
}

TEST(BuiltinFilterPolicyTest, IsReadFromText) {
  struct Case {
    const char* text;
    // Null: refused.
    const char* id;
  };
  const Case kCases[] = {
      {"bloomfilter:10:false", "bloomfilter:10:false"},
      {"bloomfilter:10", "bloomfilter:10:false"},
      {"bloomfilter:9.5:true", "bloomfilter:9.5:false"},
      {"ribbonfilter:10", "ribbonfilter:10:0"},
      {"ribbonfilter:10:-1", "ribbonfilter:10:-1"},
      {"rocksdb.BuiltinBloomFilter", "rocksdb.BuiltinBloomFilter"},
      {"bloomfilter", nullptr},
      {"bloomfilter:abc", nullptr},
      {"bloomfilter:10:xx", nullptr},
      {"ribbonfilter:10:x", nullptr},
      {"bogus:10", nullptr},
  };
  const ConfigOptions config;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    std::shared_ptr<const FilterPolicy> policy;
    const Status s = FilterPolicy::CreateFromString(config, c.text, &policy);
    EXPECT_EQ(s.ok(), c.id != nullptr) << s.ToString();
    if (c.id == nullptr) {
      EXPECT_TRUE(s.IsNotSupported());
    } else {
      EXPECT_EQ(policy->GetId(), c.id);
    }
  }
  std::shared_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(1));
  EXPECT_TRUE(FilterPolicy::CreateFromString(config, "nullptr", &policy).ok());
  EXPECT_EQ(policy, nullptr);
}

class ForeignPolicy final : public FilterPolicy {
 public:
  const char* Name() const override { return "bloomfilter"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
};

TEST(BuiltinFilterPolicyTest, AForeignPolicyIsToldApart) {
  const ForeignPolicy foreign;
  EXPECT_EQ(AsBuiltinFilterPolicy(&foreign), nullptr);
  EXPECT_EQ(AsBuiltinFilterPolicy(nullptr), nullptr);
}

TEST(BlockBasedTableFactoryTest, OptionsAreReachedThroughTheFactory) {
  BlockBasedTableOptions options;
  options.block_size = 1234;
  const std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(options));
  EXPECT_STREQ(factory->Name(), "BlockBasedTable");
  auto* held = factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(held->block_size, 1234u);
  held->block_size = 99;
  const TableFactory& reader = *factory;
  EXPECT_EQ(reader.GetOptions<BlockBasedTableOptions>()->block_size, 99u);
}

}  // namespace
}  // namespace varve
