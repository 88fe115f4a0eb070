// SPDX-License-Identifier: Apache-2.0

// Tests the timestamps in a table's properties.

#include "table/builder/timestamp_range.h"

#include <gmock/gmock.h>

#include "tests/table/table_file.h"

namespace varve::test {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

std::string Stamp(uint64_t time) {
  std::string bytes;
  EncodeU64Ts(time, &bytes);
  return bytes;
}

BlockTableBuildOptions TimestampedOptions() {
  static const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  BlockTableBuildOptions options;
  options.icmp = &icmp;
  options.file_number = 9;
  return options;
}

UserCollectedProperties Collected(BuiltTable* table) {
  EXPECT_TRUE(table->Finish().ok());
  TableParts parts;
  EXPECT_TRUE(parts.Open(table->file).ok());
  EXPECT_EQ(parts.properties.user_defined_timestamps_persisted, 1u);
  return parts.properties.user_collected_properties;
}

// 300 has the smallest first byte of the three; the order is that of the comparator.
TEST(TimestampRange, IsThatOfAllEntries) {
  BuiltTable table(TimestampedOptions());
  table.builder->Add(IKey("a" + Stamp(300), 9), "v");
  table.builder->Add(IKey("a" + Stamp(70), 8), "v");
  table.builder->Add(IKey("b" + Stamp(90), 7, kTypeDeletion), "");
  const UserCollectedProperties collected = Collected(&table);
  EXPECT_EQ(collected.at("rocksdb.timestamp_min"), Stamp(70));
  EXPECT_EQ(collected.at("rocksdb.timestamp_max"), Stamp(300));
}

TEST(TimestampRange, TombstonesCount) {
  BuiltTable table(TimestampedOptions());
  table.builder->Add(IKey("a" + Stamp(70), 8), "v");
  table.builder->AddTombstone(IKey("b" + Stamp(90), 7, kTypeRangeDeletion), "c" + Stamp(90));
  const UserCollectedProperties collected = Collected(&table);
  EXPECT_EQ(collected.at("rocksdb.timestamp_min"), Stamp(70));
  EXPECT_EQ(collected.at("rocksdb.timestamp_max"), Stamp(90));
}

TEST(TimestampRange, WithoutTimestampsOrEntriesThereIsNone) {
  BlockTableBuildOptions plain = TimestampedOptions();
  plain.icmp = &Bytewise();
  BuiltTable without(plain);
  without.builder->Add(IKey("a longer key", 9), "v");
  EXPECT_THAT(Collected(&without), Not(Contains(Key("rocksdb.timestamp_min"))));
  BuiltTable empty(TimestampedOptions());
  EXPECT_THAT(Collected(&empty), Not(Contains(Key("rocksdb.timestamp_min"))));
}

}  // namespace
}  // namespace varve::test
