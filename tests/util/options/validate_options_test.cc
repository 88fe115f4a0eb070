// SPDX-License-Identifier: Apache-2.0

// Tests which options are refused at open, by which status, and what zeros turn into.

#include "util/options/validate_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/merge_operator.h"
#include "varve/table.h"

namespace varve {
namespace {

// A comparator whose timestamps are no numbers.
class SevenByteTimes final : public Comparator {
 public:
  SevenByteTimes() : Comparator(7) {}
  const char* Name() const override { return "test.SevenByteTimes"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

TEST(ValidateOptionsTest, DefaultsAreThoseOfRocksDb) {
  const Options o;
  EXPECT_EQ(o.write_buffer_size, size_t{64} << 20);
  EXPECT_EQ(o.max_write_buffer_number, 2);
  EXPECT_EQ(o.level0_file_num_compaction_trigger, 4);
  EXPECT_EQ(o.level0_slowdown_writes_trigger, 20);
  EXPECT_EQ(o.level0_stop_writes_trigger, 36);
  EXPECT_TRUE(o.level_compaction_dynamic_level_bytes);
  EXPECT_EQ(o.target_file_size_base, uint64_t{64} << 20);
  EXPECT_EQ(o.max_bytes_for_level_base, uint64_t{256} << 20);
  EXPECT_EQ(o.max_bytes_for_level_multiplier, 10);
  EXPECT_EQ(o.soft_pending_compaction_bytes_limit, uint64_t{64} << 30);
  EXPECT_EQ(o.hard_pending_compaction_bytes_limit, uint64_t{256} << 30);
  EXPECT_EQ(o.max_open_files, -1);
  EXPECT_EQ(o.wal_recovery_mode, WALRecoveryMode::kPointInTimeRecovery);
  EXPECT_EQ(o.max_background_jobs, 2);
  EXPECT_EQ(o.compression, kLZ4Compression);
  EXPECT_EQ(o.stats_dump_period_sec, 600u);
  EXPECT_EQ(o.db_host_id, kHostnameForDbHostId);
  EXPECT_TRUE(ValidateOptions(o, o).ok()) << ValidateOptions(o, o).ToString();
}

struct Refusal {
  const char* name;  // Must appear in the message.
  std::function<void(Options*)> spoil;
};

class NullMerge : public MergeOperator {
 public:
  const char* Name() const override { return "NullMerge"; }
};

class OtherMemTable : public MemTableRepFactory {
 public:
  const char* Name() const override { return "OtherMemTable"; }
};

template <typename F>
auto WithTable(F change) {
  return [change](Options* o) {
    BlockBasedTableOptions table;
    change(&table);
    o->table_factory.reset(NewBlockBasedTableFactory(table));
  };
}

TEST(ValidateOptionsTest, WhatTheEngineLacksIsNotSupportedByName) {
  const std::vector<Refusal> refusals = {
      {"file_temperature_age_thresholds",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 1}};
       }},
      {"max_read_amp",
       [](Options* o) {
         o->compaction_style = kCompactionStyleUniversal;
         o->compaction_options_universal.max_read_amp = 3;
       }},
      {"max_read_amp",
       [](Options* o) {
         o->compaction_style = kCompactionStyleUniversal;
         o->compaction_options_universal.max_read_amp = -2;
       }},
      {"enable_blob_files",
       [](Options* o) {
         o->enable_blob_files = true;
         o->comparator = BytewiseComparatorWithU64Ts();
         o->persist_user_defined_timestamps = false;
         o->allow_concurrent_memtable_write = false;
       }},
      {"blob_compression_type",
       [](Options* o) {
         o->enable_blob_files = true;
         o->blob_compression_type = kXpressCompression;
       }},
      {"inplace_callback",
       [](Options* o) {
         o->inplace_callback = [](char*, uint32_t*, Slice, std::string*) {
           return UpdateStatus::UPDATED;
         };
       }},
      {"memtable_factory",
       [](Options* o) { o->memtable_factory = std::make_shared<OtherMemTable>(); }},
      {"wal_compression", [](Options* o) { o->wal_compression = kLZ4Compression; }},
      {"db_paths", [](Options* o) { o->db_paths.assign(5, DbPath("/x", 1)); }},
      {"cf_paths", [](Options* o) { o->cf_paths.assign(5, DbPath("/x", 1)); }},
      {"compression", [](Options* o) { o->compression = kXpressCompression; }},
      {"memtable_protection_bytes_per_key",
       [](Options* o) { o->memtable_protection_bytes_per_key = 3; }},
      {"block_protection_bytes_per_key", [](Options* o) { o->block_protection_bytes_per_key = 3; }},
  };
  for (const Refusal& refusal : refusals) {
    Options options;
    refusal.spoil(&options);
    const Status s = ValidateOptions(options, options);
    EXPECT_TRUE(s.IsNotSupported()) << refusal.name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(refusal.name), std::string::npos) << s.ToString();
  }
}

TEST(ValidateOptionsTest, NonsenseIsInvalidByName) {
  const std::vector<Refusal> refusals = {
      {"env", [](Options* o) { o->env = nullptr; }},
      {"atomic_flush", [](Options* o) { o->atomic_flush = o->enable_pipelined_write = true; }},
      {"comparator", [](Options* o) { o->comparator = nullptr; }},
      {"blob_garbage_collection_age_cutoff",
       [](Options* o) {
         o->enable_blob_garbage_collection = true;
         o->blob_garbage_collection_age_cutoff = 1.01;
       }},
      {"blob_garbage_collection_force_threshold",
       [](Options* o) {
         o->enable_blob_garbage_collection = true;
         o->blob_garbage_collection_force_threshold = -0.01;
       }},
      {"max_table_files_size",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->compaction_options_fifo.max_table_files_size = 0;
       }},
      {"db_paths", [](Options* o) { o->db_paths.emplace_back("", 1); }},
      {"table_factory", [](Options* o) { o->table_factory = nullptr; }},
      {"memtable_factory", [](Options* o) { o->memtable_factory = nullptr; }},
      {"num_levels", [](Options* o) { o->num_levels = 0; }},
      {"num_levels", [](Options* o) { o->num_levels = 65; }},
      {"max_background_jobs", [](Options* o) { o->max_background_jobs = 0; }},
      {"max_subcompactions", [](Options* o) { o->max_subcompactions = 0; }},
      {"max_open_files", [](Options* o) { o->max_open_files = -2; }},
      {"target_file_size_base", [](Options* o) { o->target_file_size_base = 0; }},
      {"max_bytes_for_level_multiplier",
       [](Options* o) { o->max_bytes_for_level_multiplier = 0.5; }},
      {"max_bytes_for_level_multiplier",
       [](Options* o) { o->max_bytes_for_level_multiplier = std::nan(""); }},
      {"compaction_pri", [](Options* o) { o->compaction_pri = static_cast<CompactionPri>(99); }},
      {"write_identity_file",
       [](Options* o) { o->write_identity_file = o->write_dbid_to_manifest = false; }},
      {"block_size", WithTable([](BlockBasedTableOptions* t) { t->block_size = 0; })},
      {"format_version", WithTable([](BlockBasedTableOptions* t) { t->format_version = 8; })},
      {"block_restart_interval",
       WithTable([](BlockBasedTableOptions* t) { t->block_restart_interval = 0; })},
      {"block_align", WithTable([](BlockBasedTableOptions* t) { t->block_align = true; })},
      {"index_type", WithTable([](BlockBasedTableOptions* t) {
         t->index_type = BlockBasedTableOptions::kHashSearch;
       })},
  };
  for (const Refusal& refusal : refusals) {
    Options options;
    refusal.spoil(&options);
    const Status s = ValidateOptions(options, options);
    EXPECT_TRUE(s.IsInvalidArgument()) << refusal.name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(refusal.name), std::string::npos) << s.ToString();
  }
}

TEST(ValidateOptionsTest, TimestampsThatAreNotPersistedNeedNumbersAndOneWriter) {
  const std::string option = "persist_user_defined_timestamps";
  const auto refused_for = [&option](const Options& o, const std::string& reason) {
    const Status s = ValidateOptions(o, o);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(option), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find(reason), std::string::npos) << s.ToString();
  };
  Options o;
  o.persist_user_defined_timestamps = false;
  EXPECT_TRUE(ValidateOptions(o, o).ok()) << "without timestamps it means nothing";
  o.comparator = BytewiseComparatorWithU64Ts();
  refused_for(o, "allow_concurrent_memtable_write");
  o.allow_concurrent_memtable_write = false;
  EXPECT_TRUE(ValidateOptions(o, o).ok()) << ValidateOptions(o, o).ToString();
  o.atomic_flush = true;
  refused_for(o, "atomic_flush");
  o.atomic_flush = false;
  const SevenByteTimes others;
  o.comparator = &others;
  refused_for(o, others.Name());
}

TEST(ValidateOptionsTest, WaysOfWritingExcludeEachOtherAsInRocksDb) {
  Options o;
  o.unordered_write = true;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.two_write_queues = true;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.atomic_flush = true;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.allow_concurrent_memtable_write = false;
  EXPECT_TRUE(ValidateOptions(o, o).IsInvalidArgument());
  o.unordered_write = false;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.enable_pipelined_write = true;
  EXPECT_TRUE(ValidateOptions(o, o).IsInvalidArgument()) << "with atomic_flush";
  o.atomic_flush = false;
  EXPECT_TRUE(ValidateOptions(o, o).IsNotSupported()) << "with two_write_queues";
  o.two_write_queues = false;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.allow_concurrent_memtable_write = true;
  o.unordered_write = true;
  EXPECT_TRUE(ValidateOptions(o, o).IsInvalidArgument()) << "with unordered_write";
}

TEST(ValidateOptionsTest, VectorMemtablesGoWithEveryWayOfWriting) {
  Options o;
  o.memtable_factory = std::make_shared<VectorRepFactory>();
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.unordered_write = true;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
  o.unordered_write = false;
  o.allow_concurrent_memtable_write = false;
  EXPECT_TRUE(ValidateOptions(o, o).ok());
}

TEST(ValidateOptionsTest, CommonSettingsAreAccepted) {
  Options o;
  o.enable_pipelined_write = true;
  o.ttl = 3600;
  o.periodic_compaction_seconds = 7200;
  o.bottommost_file_compaction_delay = 60;
  o.max_open_files = 1000;
  o.enable_blob_files = true;
  o.min_blob_size = 4096;
  o.blob_garbage_collection_age_cutoff = 7;  // has no meaning without garbage collection
  o.max_write_buffer_number = 1;
  o.IncreaseParallelism(4);
  o.PrepareForBulkLoad();
  EXPECT_TRUE(ValidateOptions(o, o).ok()) << ValidateOptions(o, o).ToString();
  Options level;
  level.OptimizeLevelStyleCompaction();
  EXPECT_TRUE(ValidateOptions(level, level).ok()) << ValidateOptions(level, level).ToString();
  EXPECT_EQ(level.compression_per_level.size(), 7u);
}

TEST(DeriveOptionsTest, ZerosTurnIntoValues) {
  ColumnFamilyOptions cf;
  cf.write_buffer_size = 1;
  cf.max_write_buffer_number = 1;
  cf.min_write_buffer_number_to_merge = 9;
  cf.max_write_buffer_size_to_maintain = -1;
  cf.level0_file_num_compaction_trigger = 50;
  cf.soft_pending_compaction_bytes_limit = 0;
  cf.hard_pending_compaction_bytes_limit = 10;
  cf.max_bytes_for_level_multiplier_additional = {};
  const ColumnFamilyOptions derived = DeriveColumnFamilyOptions(cf);
  EXPECT_EQ(derived.write_buffer_size, 64u << 10);
  EXPECT_EQ(derived.arena_block_size, 8u << 10);
  EXPECT_EQ(derived.max_write_buffer_number, 2);
  EXPECT_EQ(derived.min_write_buffer_number_to_merge, 1);
  EXPECT_EQ(derived.max_write_buffer_size_to_maintain, 2 * (64 << 10));
  EXPECT_EQ(derived.max_compaction_bytes, 25 * cf.target_file_size_base);
  EXPECT_EQ(derived.level0_slowdown_writes_trigger, 50);
  EXPECT_EQ(derived.level0_stop_writes_trigger, 50);
  EXPECT_EQ(derived.soft_pending_compaction_bytes_limit, 10u);
  EXPECT_EQ(derived.max_bytes_for_level_multiplier_additional.size(), 7u);
  EXPECT_TRUE(ValidateColumnFamilyOptions(derived).ok());
}

TEST(DeriveOptionsTest, BelowL0ThereIsALevel) {
  ColumnFamilyOptions cf;
  cf.num_levels = 1;
  EXPECT_TRUE(ValidateColumnFamilyOptions(cf).ok());
  const ColumnFamilyOptions derived = DeriveColumnFamilyOptions(cf);
  EXPECT_EQ(derived.num_levels, 2);
  EXPECT_EQ(derived.max_bytes_for_level_multiplier_additional.size(), 2u);
}

TEST(DeriveOptionsTest, HugeSizesDoNotOverflow) {
  ColumnFamilyOptions cf;
  cf.target_file_size_base = UINT64_MAX / 2;
  cf.write_buffer_size = SIZE_MAX;
  cf.max_write_buffer_number = 1 << 30;
  cf.max_write_buffer_size_to_maintain = -1;
  const ColumnFamilyOptions derived = DeriveColumnFamilyOptions(cf);
  EXPECT_EQ(derived.max_compaction_bytes, UINT64_MAX);
  EXPECT_GT(derived.max_write_buffer_size_to_maintain, int64_t{1} << 60);
}

TEST(DeriveOptionsTest, BackgroundJobsAreSharedOut) {
  DBOptions db;
  db.max_background_jobs = 8;
  EXPECT_EQ(DeriveDbOptions(db).max_background_flushes, 2);
  EXPECT_EQ(DeriveDbOptions(db).max_background_compactions, 6);
  db.max_background_jobs = 1;
  EXPECT_EQ(DeriveDbOptions(db).max_background_flushes, 1);
  EXPECT_EQ(DeriveDbOptions(db).max_background_compactions, 1);
  db.max_background_compactions = 5;
  EXPECT_EQ(DeriveDbOptions(db).max_background_compactions, 5);
  EXPECT_EQ(DeriveDbOptions(db).delayed_write_rate, uint64_t{16} << 20);
}

}  // namespace
}  // namespace varve
