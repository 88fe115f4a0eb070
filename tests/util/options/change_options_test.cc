// SPDX-License-Identifier: Apache-2.0

// Options of an open database change together or not at all.

#include "util/options/change_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "varve/filter_policy.h"
#include "varve/table.h"

namespace varve {
namespace {

TEST(ChangeOptionsTest, NamedOptionsChangeTogether) {
  ColumnFamilyOptions cf;
  const Status s = ChangeColumnFamilyOptions(DBOptions(), ColumnFamilyOptions(),
                                             {{"write_buffer_size", "1M"},
                                              {"compression_opts", "{level=7}"},
                                              {"disable_auto_compactions", "true"}},
                                             &cf);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(cf.write_buffer_size, 1u << 20);
  EXPECT_EQ(cf.compression_opts.level, 7);
  EXPECT_TRUE(cf.disable_auto_compactions);

  DBOptions db;
  ASSERT_TRUE(ChangeDbOptions(DBOptions(), {{"max_background_jobs", "4"}}, &db).ok());
  EXPECT_EQ(db.max_background_jobs, 4);
}

// RocksDB's SetOptions takes these fields alone, or together with others.
TEST(ChangeOptionsTest, OneFieldOfAStructChangesAlone) {
  ColumnFamilyOptions before;
  before.compression_opts.level = 3;
  before.compression_opts.strategy = 2;
  BlockBasedTableOptions table;
  table.block_size = 1000;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  before.table_factory.reset(NewBlockBasedTableFactory(table));
  ColumnFamilyOptions cf;
  const Status s = ChangeColumnFamilyOptions(
      DBOptions(), before,
      {{"compression_opts.level", "7"},
       {"bottommost_compression_opts.enabled", "true"},
       {"compaction_options_universal.size_ratio", "9"},
       {"compaction_options_fifo.max_table_files_size", "1M"},
       {"block_based_table_factory", "{block_size=2000;block_restart_interval=5}"},
       {"block_based_table_factory.block_size", "3000"},
       {"table_factory.format_version", "4"}},
      &cf);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(cf.compression_opts.level, 7);
  EXPECT_EQ(cf.compression_opts.strategy, 2);
  EXPECT_TRUE(cf.bottommost_compression_opts.enabled);
  EXPECT_EQ(cf.compaction_options_universal.size_ratio, 9u);
  EXPECT_EQ(cf.compaction_options_fifo.max_table_files_size, 1u << 20);
  const auto* const after = cf.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(after->block_size, 3000u);
  EXPECT_EQ(after->block_restart_interval, 5);
  EXPECT_EQ(after->format_version, 4u);
  EXPECT_EQ(after->filter_policy, table.filter_policy);
  EXPECT_EQ(before.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 1000u);

  for (const char* name :
       {"compression_opts.nothing", "compression_opts.", "block_based_table_factory.nothing",
        "block_based_table_factory.no_block_cache", "table_factory.block_cache",
        "block_based_table_factory.metadata_cache_options.partition_pinning", "write_buffer_size.x",
        "merge_operator.x", ".level", "memtable_factory.lookahead"}) {
    const Status refused = ChangeColumnFamilyOptions(DBOptions(), before, {{name, "1"}}, &cf);
    EXPECT_TRUE(refused.IsInvalidArgument()) << name << ": " << refused.ToString();
  }
  EXPECT_TRUE(ChangeColumnFamilyOptions(DBOptions(), before,
                                        {{"compression_opts.level", "1;strategy=9"}}, &cf)
                  .IsInvalidArgument());
  EXPECT_EQ(cf.compression_opts.level, 7) << "an error changes nothing";
}

TEST(ChangeOptionsTest, WhatRocksDbChangesWhileItIsOpen) {
  for (const char* name :
       {"strict_bytes_per_sync", "bytes_per_sync", "wal_bytes_per_sync", "max_open_files",
        "max_background_jobs", "base_background_compactions", "max_background_compactions",
        "max_background_flushes", "max_subcompactions", "avoid_flush_during_shutdown",
        "writable_file_max_buffer_size", "delayed_write_rate", "max_total_wal_size",
        "delete_obsolete_files_period_micros", "stats_dump_period_sec", "stats_persist_period_sec",
        "stats_history_buffer_size", "compaction_readahead_size"}) {
    DBOptions db;
    const Status s = ChangeDbOptions(DBOptions(), {{name, "1"}}, &db);
    EXPECT_TRUE(s.ok()) << name << ": " << s.ToString();
  }
}

TEST(ChangeOptionsTest, NothingChangesAfterAnError) {
  for (const OptionChanges& changes : std::vector<OptionChanges>{
           {},
           {{"write_buffer_size", "1M"}, {"num_levels", "3"}},
           {{"write_buffer_size", "1M"}, {"no_such_option", "3"}},
           {{"write_buffer_size", "1M"}, {"max_bytes_for_level_multiplier", "0"}},
           {{"write_buffer_size", "1M"}, {"compression", "kXpressCompression"}},
           {{"write_buffer_size", "1M"}, {"compression", "kNone"}},
           {{"write_buffer_size", "1M"}, {"ttl", "soon"}},
       }) {
    ColumnFamilyOptions cf;
    cf.write_buffer_size = 12345;
    EXPECT_FALSE(ChangeColumnFamilyOptions(DBOptions(), ColumnFamilyOptions(), changes, &cf).ok());
    EXPECT_EQ(cf.write_buffer_size, 12345u);
  }
}

TEST(ChangeOptionsTest, WhatIsFixedAtOpenIsRefusedByName) {
  DBOptions db;
  const Status s = ChangeDbOptions(DBOptions(), {{"wal_dir", "/x"}}, &db);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("wal_dir"), std::string::npos) << s.ToString();
  EXPECT_TRUE(
      ChangeDbOptions(DBOptions(), {{"max_background_jobs", "0"}}, &db).IsInvalidArgument());
  EXPECT_EQ(db.max_background_jobs, 2);
}

}  // namespace
}  // namespace varve
