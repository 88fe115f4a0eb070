// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/rot_shapes.h"

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

namespace varve::testing {

namespace {

const RotShape kRotShapes[] = {
    {"range_deletes",
     {"default"},
     80,
     30,
     0,
     false,
     [](ColumnFamilyOptions*, BlockBasedTableOptions* table) { table->block_size = 512; }},
    {"two_families",
     {"default", "other"},
     40,
     15,
     25,
     false,
     [](ColumnFamilyOptions*, BlockBasedTableOptions* table) {
       table->block_size = 1024;
       table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
       table->metadata_block_size = 64;
     }},
    {"pending_log",
     {"default", "other"},
     50,
     20,
     0,
     true,
     [](ColumnFamilyOptions*, BlockBasedTableOptions*) {}},
    {"compressed_with_filter",
     {"default"},
     90,
     20,
     60,
     false,
     [](ColumnFamilyOptions* cf, BlockBasedTableOptions* table) {
       cf->compression = kSnappyCompression;
       table->filter_policy.reset(NewBloomFilterPolicy(10));
       table->block_size = 400;
       table->block_restart_interval = 2;
       table->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
     }},
    {.name = "merges",
     .families = {"default", "texts", "sums"},
     .writes = 40,
     .flush_every = 15,
     .compact_at = 25,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions* table) { table->block_size = 512; }},
    {.name = "entities",
     .families = {"default", "columns"},
     .writes = 40,
     .flush_every = 15,
     .compact_at = 30,
     .pending = true,
     .tune =
         [](ColumnFamilyOptions*, BlockBasedTableOptions* table) {
           table->block_size = 512;
           table->filter_policy.reset(NewBloomFilterPolicy(10));
         }},
    {.name = "blobs",
     .families = {"default", "columns"},
     .writes = 40,
     .flush_every = 15,
     .compact_at = 30,
     .pending = true,
     .tune =
         [](ColumnFamilyOptions* cf, BlockBasedTableOptions* table) {
           cf->enable_blob_files = true;
           cf->min_blob_size = 60;
           cf->enable_blob_garbage_collection = true;
           table->block_size = 512;
         }},
    {.name = "timestamps",
     .families = {"default", "versions"},
     .writes = 50,
     .flush_every = 15,
     .compact_at = 35,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions* table) { table->block_size = 512; },
     .mark_at = 30},
    {.name = "timestamps_that_tables_forget",
     .families = {"default", "bare"},
     .writes = 50,
     .flush_every = 20,
     .compact_at = 0,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions*) {}},
    {.name = "two_logs",
     .families = {"default", "other"},
     .writes = 50,
     .flush_every = 20,
     .compact_at = 0,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions*) {},
     .killed_at = 46},
    {.name = "compressed_log",
     .families = {"default", "other"},
     .writes = 50,
     .flush_every = 20,
     .compact_at = 0,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions*) {},
     .killed_at = 46,
     .tune_log = [](DBOptions* db) { db->wal_compression = kZSTD; }},
    {.name = "recycled_log",
     .families = {"default", "other"},
     .writes = 50,
     .flush_every = 15,
     .compact_at = 0,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions*) {},
     .tune_log = [](DBOptions* db) { db->recycle_log_file_num = 2; },
     .quiet_log = true},
    {.name = "ranged_log",
     .families = {"default", "other"},
     .writes = 40,
     .flush_every = 15,
     .compact_at = 0,
     .pending = true,
     .tune = [](ColumnFamilyOptions*, BlockBasedTableOptions*) {},
     .tune_log =
         [](DBOptions* db) {
           db->wal_bytes_per_sync = 1 << 10;
           db->strict_bytes_per_sync = true;
         }},
    {.name = "dictionary",
     .families = {"default"},
     .writes = 90,
     .flush_every = 30,
     .compact_at = 60,
     .pending = false,
     .tune =
         [](ColumnFamilyOptions* cf, BlockBasedTableOptions* table) {
           cf->compression = kZSTD;
           cf->compression_opts.max_dict_bytes = 1024;
           cf->compression_opts.zstd_max_train_bytes = 8192;
           table->block_size = 512;
           table->checksum = kCRC32c;
         }},
    {.name = "partitioned_filters",
     .families = {"default"},
     .writes = 90,
     .flush_every = 20,
     .compact_at = 60,
     .pending = false,
     .tune =
         [](ColumnFamilyOptions* cf, BlockBasedTableOptions* table) {
           cf->prefix_extractor.reset(NewCappedPrefixTransform(6));
           table->filter_policy.reset(NewRibbonFilterPolicy(10));
           table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
           table->partition_filters = true;
           table->metadata_block_size = 64;
           table->block_size = 400;
           table->cache_index_and_filter_blocks = true;
         }},
};

}  // namespace

std::span<const RotShape> RotShapes() {
  return kRotShapes;
}

}  // namespace varve::testing
