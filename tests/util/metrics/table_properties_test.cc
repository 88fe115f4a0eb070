// SPDX-License-Identifier: Apache-2.0

// Goal: properties of many files add up, and print in a form that a script can take apart.

#include "varve/table_properties.h"

#include <gtest/gtest.h>

#include <string>

namespace varve {
namespace {

TEST(TablePropertiesTest, CountsAddAndIdentitiesStay) {
  TableProperties a;
  a.num_entries = 2;
  a.raw_key_size = 30;
  a.format_version = 5;
  a.creation_time = 100;
  TableProperties b;
  b.num_entries = 3;
  b.raw_key_size = 4;
  b.format_version = 2;
  b.creation_time = 50;
  a.Add(b);
  EXPECT_EQ(a.num_entries, 5u);
  EXPECT_EQ(a.raw_key_size, 34u);
  EXPECT_EQ(a.format_version, 5u);
  EXPECT_EQ(a.creation_time, 100u);
  const auto sums = a.GetAggregatablePropertiesAsMap();
  EXPECT_EQ(sums.at("num_entries"), 5u);
  EXPECT_EQ(sums.count("format_version"), 0u);
}

TEST(TablePropertiesTest, PrintsAveragesWithoutDividingByZero) {
  TableProperties p;
  EXPECT_NE(p.ToString().find("raw average key size=0.0"), std::string::npos);
  p.num_entries = 4;
  p.raw_key_size = 10;
  p.comparator_name = "c";
  const std::string text = p.ToString("\n", ": ");
  EXPECT_NE(text.find("# entries: 4\n"), std::string::npos);
  EXPECT_NE(text.find("raw average key size: 2.5"), std::string::npos);
  EXPECT_NE(text.find("comparator name: c\n"), std::string::npos);
  EXPECT_NE(text.find("merge operator name: N/A\n"), std::string::npos);
  EXPECT_NE(text.find("column family ID: N/A\n"), std::string::npos);
}

TEST(TablePropertiesTest, OldCountsAreDecodedOrZero) {
  UserCollectedProperties props;
  bool present = true;
  EXPECT_EQ(GetDeletedKeys(props), 0u);
  EXPECT_EQ(GetMergeOperands(props, &present), 0u);
  EXPECT_FALSE(present);
  props["rocksdb.deleted.keys"] = "\x07";
  props["rocksdb.merge.operands"] = std::string("\xac\x02");
  EXPECT_EQ(GetDeletedKeys(props), 7u);
  EXPECT_EQ(GetMergeOperands(props, &present), 300u);
  EXPECT_TRUE(present);
  props["rocksdb.deleted.keys"] = "\xff";
  EXPECT_EQ(GetDeletedKeys(props), 0u);
}

TEST(TablePropertiesTest, MemoryGrowsWithWhatIsHeld) {
  TableProperties p;
  const size_t empty = p.ApproximateMemoryUsage();
  p.user_collected_properties["name"] = std::string(1000, 'x');
  EXPECT_GE(p.ApproximateMemoryUsage(), empty + 1000);
}

}  // namespace
}  // namespace varve
