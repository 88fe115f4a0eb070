// SPDX-License-Identifier: Apache-2.0

// The public functions between options and text.

#include "varve/convenience.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_job_stats.h"
#include "varve/filter_policy.h"
#include "varve/listener.h"
#include "varve/memtablerep.h"
#include "varve/slice_transform.h"

namespace varve {
namespace {

TEST(ConvenienceTest, APrefixMayHaveItsLengthApart) {
  const struct {
    const char* text;
    const char* id;
  } kCases[] = {
      {"{id=rocksdb.FixedPrefix;length=8}", "rocksdb.FixedPrefix.8"},
      {"{id=CappedPrefix;length=3}", "rocksdb.CappedPrefix.3"},
      {"{id=rocksdb.FixedPrefix.5;length=8}", "rocksdb.FixedPrefix.5"},
      {"rocksdb.CappedPrefix.2", "rocksdb.CappedPrefix.2"},
  };
  for (const auto& c : kCases) {
    ColumnFamilyOptions made;
    const Status s = GetColumnFamilyOptionsFromString(
        ConfigOptions(), ColumnFamilyOptions(), std::string("prefix_extractor=") + c.text, &made);
    ASSERT_TRUE(s.ok()) << c.text << ": " << s.ToString();
    ASSERT_NE(made.prefix_extractor, nullptr) << c.text;
    EXPECT_EQ(made.prefix_extractor->AsString(), c.id);
  }
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  ColumnFamilyOptions made;
  for (const char* const text : {"{id=rocksdb.FixedPrefix}", "{id=rocksdb.FixedPrefix;length=x}"}) {
    EXPECT_FALSE(GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(),
                                                  std::string("prefix_extractor=") + text, &made)
                     .ok())
        << text;
  }
}

TEST(ConvenienceTest, ColumnFamilyOptionsComeFromAString) {
  ColumnFamilyOptions cf;
  const Status s = GetColumnFamilyOptionsFromString(
      ColumnFamilyOptions(),
      "write_buffer_size=8M;compression=kZSTD;prefix_extractor=fixed:3;"
      "block_based_table_factory={block_size=16K;filter_policy=bloomfilter:10};"
      "compression_per_level=kNoCompression:kZSTD;memtable=skip_list",
      &cf);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(cf.write_buffer_size, 8u << 20);
  EXPECT_EQ(cf.compression, kZSTD);
  EXPECT_EQ(cf.compression_per_level, (std::vector<CompressionType>{kNoCompression, kZSTD}));
  const auto* table = cf.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_size, 16u << 10);
  EXPECT_NE(table->filter_policy, nullptr);
}

TEST(ConvenienceTest, OutputsStayAfterAnError) {
  ColumnFamilyOptions cf;
  cf.write_buffer_size = 99;
  for (const char* text : {"write_buffer_size=1M;nonsense=1", "write_buffer_size=1M;num_levels=x",
                           "write_buffer_size=1M;merge_operator=Mine", "write_buffer_size=1M;x"}) {
    EXPECT_FALSE(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &cf).ok()) << text;
    EXPECT_EQ(cf.write_buffer_size, 99u);
  }
}

TEST(ConvenienceTest, StringsReadBack) {
  DBOptions db;
  db.max_background_jobs = 7;
  db.wal_bytes_per_sync = 4096;
  std::string text;
  ASSERT_TRUE(GetStringFromDBOptions(&text, db).ok());
  DBOptions back;
  ASSERT_TRUE(GetDBOptionsFromString(DBOptions(), text, &back).ok()) << text;
  EXPECT_EQ(back.max_background_jobs, 7);
  EXPECT_EQ(back.wal_bytes_per_sync, 4096u);

  ColumnFamilyOptions cf;
  cf.num_levels = 5;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, cf, "; ").ok());
  ColumnFamilyOptions cf_back;
  ASSERT_TRUE(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &cf_back).ok()) << text;
  EXPECT_EQ(cf_back.num_levels, 5);
}

TEST(ConvenienceTest, MixedOptionsGoWhereTheyBelong) {
  Options options;
  const Status s = GetOptionsFromString(
      Options(), "create_if_missing=true;num_levels=4;max_background_jobs=6", &options);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(options.create_if_missing);
  EXPECT_EQ(options.num_levels, 4);
  EXPECT_EQ(options.max_background_jobs, 6);
  EXPECT_TRUE(GetOptionsFromString(Options(), "nonsense=1", &options).IsInvalidArgument());
  ConfigOptions lenient;
  lenient.ignore_unknown_options = true;
  EXPECT_TRUE(GetOptionsFromString(lenient, Options(), "nonsense=1;num_levels=3", &options).ok());
  EXPECT_EQ(options.num_levels, 3);
}

TEST(ConvenienceTest, MapsAndSingleValues) {
  BlockBasedTableOptions table;
  ASSERT_TRUE(GetBlockBasedTableOptionsFromMap(BlockBasedTableOptions(),
                                               {{"block_size", "32K"}, {"checksum", "kCRC32c"}},
                                               &table)
                  .ok());
  EXPECT_EQ(table.block_size, 32u << 10);
  EXPECT_EQ(table.checksum, kCRC32c);

  std::unordered_map<std::string, std::string> map;
  ASSERT_TRUE(StringToMap("a={b=1;c=2};d=3", &map).ok());
  EXPECT_EQ(map.at("a"), "b=1;c=2");
  EXPECT_EQ(map.at("d"), "3");

  std::string name;
  ASSERT_TRUE(GetStringFromCompressionType(&name, kLZ4HCCompression).ok());
  EXPECT_EQ(name, "kLZ4HCCompression");
  EXPECT_FALSE(GetStringFromCompressionType(&name, static_cast<CompressionType>(0x33)).ok());

  std::unique_ptr<MemTableRepFactory> factory;
  EXPECT_TRUE(GetMemTableRepFactoryFromString("skip_list:4", &factory).ok());
  EXPECT_EQ(factory->GetId(), "skip_list:4");
  for (const char* const text : {"vector", "VectorRepFactory", "vector:0"}) {
    EXPECT_TRUE(GetMemTableRepFactoryFromString(text, &factory).ok()) << text;
    EXPECT_STREQ(factory->Name(), "VectorRepFactory");
    EXPECT_STREQ(factory->NickName(), "vector");
    EXPECT_EQ(factory->GetId(), "VectorRepFactory");
  }
  EXPECT_TRUE(GetMemTableRepFactoryFromString("VectorRepFactory:1024", &factory).ok());
  EXPECT_EQ(factory->GetId(), "vector:1024");
  EXPECT_TRUE(factory->IsInsertConcurrentlySupported());
  EXPECT_FALSE(factory->CanHandleDuplicatedKey());
  for (const char* const text :
       {"plain_skip_list:16", "skip_list:16;blocked=false",
        "{id=SkipListFactory;lookahead=16;blocked=0}", "{plain_skip_list;lookahead=16}",
        "skip_list;blocked=false;lookahead=16"}) {
    EXPECT_TRUE(GetMemTableRepFactoryFromString(text, &factory).ok()) << text;
    EXPECT_STREQ(factory->Name(), "SkipListFactory") << text;
    EXPECT_STREQ(factory->NickName(), "plain_skip_list") << text;
    EXPECT_EQ(factory->GetId(), "plain_skip_list:16") << text;
  }
  EXPECT_TRUE(GetMemTableRepFactoryFromString("plain_skip_list;blocked=true", &factory).ok());
  EXPECT_EQ(factory->GetId(), "SkipListFactory");
  EXPECT_TRUE(GetMemTableRepFactoryFromString("skip_list;blocked=x", &factory).IsInvalidArgument());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("vector;blocked=0", &factory).IsInvalidArgument());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("{lookahead=1}", &factory).IsInvalidArgument());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("vector:1024", &factory).ok());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("vector:x", &factory).IsInvalidArgument());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("vector:1:2", &factory).IsNotSupported());
  EXPECT_TRUE(GetMemTableRepFactoryFromString("cuckoo", &factory).IsNotSupported());
  EXPECT_EQ(factory->GetId(), "vector:1024") << "an error changes nothing";
  EXPECT_TRUE(GetMemTableRepFactoryFromString("", &factory).IsNotSupported());

  const std::vector<CompressionType> codecs = GetSupportedCompressions();
  EXPECT_EQ(std::count(codecs.begin(), codecs.end(), kNoCompression), 1);
}

TEST(JobInfoTest, StatisticsAddUpAndReasonsHaveNames) {
  CompactionJobStats sum;
  CompactionJobStats part;
  part.num_input_records = 5;
  part.smallest_output_key_prefix = "b";
  part.largest_output_key_prefix = "c";
  sum.Add(part);
  part.smallest_output_key_prefix = "a";
  sum.Add(part);
  EXPECT_EQ(sum.num_input_records, 10u);
  EXPECT_EQ(sum.smallest_output_key_prefix, "a");
  EXPECT_EQ(sum.largest_output_key_prefix, "c");
  for (int i = 0; i < static_cast<int>(CompactionReason::kNumOfReasons); ++i) {
    EXPECT_STRNE(GetCompactionReasonString(static_cast<CompactionReason>(i)), "Invalid") << i;
  }
  for (int i = 0; i <= static_cast<int>(FlushReason::kMemtableMaxRangeDeletions); ++i) {
    EXPECT_STRNE(GetFlushReasonString(static_cast<FlushReason>(i)), "Invalid") << i;
  }
}

}  // namespace
}  // namespace varve
