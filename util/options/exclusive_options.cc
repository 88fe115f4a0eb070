// SPDX-License-Identifier: Apache-2.0

// Each row is a pair of options that are valid alone and not together, with the condition under
// which the pair is met and the status. Rows are independent, and the first one that is met is
// reported. A new rule is a row; the message is made of its texts, so it names both options.

#include "util/options/exclusive_options.h"

#include <algorithm>
#include <string>
#include <vector>

namespace varve {

namespace {

using Combination = ExclusiveOptions::Combination;
using Of = ExclusiveOptions::Of;

constexpr const char* kTogether = "set together with";
constexpr const char* kWithout = "set without";

bool HasTable(const Combination& o) {
  return o.table != nullptr;
}

// True if samples are gathered and a dictionary is trained, of which no byte may be kept.
bool Trains(const CompressionOptions& compression) {
  return compression.zstd_max_train_bytes > 0 && compression.max_dict_bytes == 0;
}

bool AgesAscend(const std::vector<FileTemperatureAge>& ages) {
  const auto descends = [](const FileTemperatureAge& a, const FileTemperatureAge& b) {
    return a.age >= b.age;
  };
  return std::adjacent_find(ages.begin(), ages.end(), descends) == ages.end();
}

bool KeepsNoTimestamps(const ColumnFamilyOptions& cf) {
  return !cf.persist_user_defined_timestamps && cf.comparator->timestamp_size() != 0;
}

bool ReservesLastLevel(const Combination& o) {
  return o.cf->cf_allow_ingest_behind || o.db->allow_ingest_behind;
}

// Each row is met by a forbidden combination. `met` may read o.db, o.cf and o.table only as far as
// its `of` promises that they are set; o.table is null for other table formats, which HasTable
// checks.
constexpr ExclusiveOptions kExclusive[] = {
    // Files.
    {Of::kDatabase, "DBOptions::use_direct_reads", kTogether, "DBOptions::allow_mmap_reads",
     Status::kNotSupported,
     [](const Combination& o) { return o.db->use_direct_reads && o.db->allow_mmap_reads; }},
    {Of::kDatabase, "DBOptions::use_direct_io_for_flush_and_compaction", kTogether,
     "DBOptions::writable_file_max_buffer_size = 0", Status::kInvalidArgument,
     [](const Combination& o) {
       return o.db->use_direct_io_for_flush_and_compaction &&
              o.db->writable_file_max_buffer_size == 0;
     }},
    {Of::kDatabase, "DBOptions::write_identity_file", "false, and so is",
     "DBOptions::write_dbid_to_manifest", Status::kInvalidArgument,
     [](const Combination& o) {
       return !o.db->write_identity_file && !o.db->write_dbid_to_manifest;
     }},

    // Write modes.
    {Of::kDatabase, "DBOptions::unordered_write", kWithout,
     "DBOptions::allow_concurrent_memtable_write", Status::kInvalidArgument,
     [](const Combination& o) {
       return o.db->unordered_write && !o.db->allow_concurrent_memtable_write;
     }},
    {Of::kDatabase, "DBOptions::unordered_write", kTogether, "DBOptions::enable_pipelined_write",
     Status::kInvalidArgument,
     [](const Combination& o) { return o.db->unordered_write && o.db->enable_pipelined_write; }},
    {Of::kDatabase, "DBOptions::atomic_flush", kTogether, "DBOptions::enable_pipelined_write",
     Status::kInvalidArgument,
     [](const Combination& o) { return o.db->atomic_flush && o.db->enable_pipelined_write; }},
    {Of::kDatabase, "DBOptions::two_write_queues", kTogether, "DBOptions::enable_pipelined_write",
     Status::kNotSupported,
     [](const Combination& o) { return o.db->two_write_queues && o.db->enable_pipelined_write; }},
    {Of::kBoth, "ColumnFamilyOptions::max_successive_merges", kTogether,
     "DBOptions::unordered_write", Status::kInvalidArgument,
     [](const Combination& o) {
       return o.cf->max_successive_merges != 0 && o.db->unordered_write;
     }},

    // RocksDB refuses these two as well for timestamps that no table stores.
    {Of::kBoth, "ColumnFamilyOptions::persist_user_defined_timestamps: false", kTogether,
     "DBOptions::atomic_flush", Status::kInvalidArgument,
     [](const Combination& o) { return KeepsNoTimestamps(*o.cf) && o.db->atomic_flush; }},
    {Of::kBoth, "ColumnFamilyOptions::persist_user_defined_timestamps: false", kTogether,
     "DBOptions::allow_concurrent_memtable_write", Status::kInvalidArgument,
     [](const Combination& o) {
       return KeepsNoTimestamps(*o.cf) && o.db->allow_concurrent_memtable_write;
     }},

    // Families.
    {Of::kFamily, "ColumnFamilyOptions::compaction_filter", kTogether,
     "ColumnFamilyOptions::compaction_filter_factory", Status::kInvalidArgument,
     [](const Combination& o) {
       return o.cf->compaction_filter != nullptr && o.cf->compaction_filter_factory != nullptr;
     }},
    {Of::kBoth, "ColumnFamilyOptions::cf_allow_ingest_behind", "needs at least 3 as",
     "ColumnFamilyOptions::num_levels", Status::kInvalidArgument,
     [](const Combination& o) { return ReservesLastLevel(o) && o.cf->num_levels < 3; }},
    {Of::kBoth, "ColumnFamilyOptions::cf_allow_ingest_behind", kTogether,
     "ColumnFamilyOptions::compaction_style: kCompactionStyleFIFO", Status::kInvalidArgument,
     [](const Combination& o) {
       return ReservesLastLevel(o) && o.cf->compaction_style == kCompactionStyleFIFO;
     }},
    {Of::kFamily, "CompressionOptions::zstd_max_train_bytes", kWithout,
     "CompressionOptions::max_dict_bytes", Status::kInvalidArgument,
     [](const Combination& o) {
       return Trains(o.cf->compression_opts) || (o.cf->bottommost_compression_opts.enabled &&
                                                 Trains(o.cf->bottommost_compression_opts));
     }},

    {Of::kFamily, "CompactionOptionsFIFO::max_table_files_size", "0 without",
     "CompactionOptionsFIFO::max_data_files_size", Status::kInvalidArgument,
     [](const Combination& o) {
       return o.cf->compaction_style == kCompactionStyleFIFO &&
              o.cf->compaction_options_fifo.max_table_files_size == 0 &&
              o.cf->compaction_options_fifo.max_data_files_size == 0;
     }},
    {Of::kFamily, "CompactionOptionsFIFO::file_temperature_age_thresholds", "do not ascend in",
     "FileTemperatureAge::age", Status::kNotSupported,
     [](const Combination& o) {
       return o.cf->compaction_style == kCompactionStyleFIFO &&
              !AgesAscend(o.cf->compaction_options_fifo.file_temperature_age_thresholds);
     }},
    {Of::kFamily, "CompactionOptionsFIFO::file_temperature_age_thresholds", kTogether,
     "ColumnFamilyOptions::num_levels above 1", Status::kNotSupported,
     [](const Combination& o) {
       return o.cf->compaction_style == kCompactionStyleFIFO && o.cf->num_levels > 1 &&
              !o.cf->compaction_options_fifo.file_temperature_age_thresholds.empty();
     }},
    {Of::kFamily, "CompactionOptionsUniversal::max_read_amp", "neither -1 nor 0 and less than",
     "ColumnFamilyOptions::level0_file_num_compaction_trigger", Status::kNotSupported,
     [](const Combination& o) {
       const int most = o.cf->compaction_options_universal.max_read_amp;
       return o.cf->compaction_style == kCompactionStyleUniversal && most != -1 && most != 0 &&
              most < o.cf->level0_file_num_compaction_trigger;
     }},

    // Tables.
    {Of::kFamily, "BlockBasedTableOptions::block_cache", kTogether,
     "BlockBasedTableOptions::no_block_cache", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->no_block_cache && o.table->block_cache != nullptr;
     }},
    {Of::kFamily, "BlockBasedTableOptions::cache_index_and_filter_blocks", kTogether,
     "BlockBasedTableOptions::no_block_cache", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->no_block_cache && o.table->cache_index_and_filter_blocks;
     }},
    {Of::kFamily, "BlockBasedTableOptions::pin_l0_filter_and_index_blocks_in_cache", kTogether,
     "BlockBasedTableOptions::no_block_cache", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->no_block_cache &&
              o.table->pin_l0_filter_and_index_blocks_in_cache;
     }},
    {Of::kFamily, "BlockBasedTableOptions::block_align", kTogether,
     "ColumnFamilyOptions::compression other than kNoCompression", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->block_align && o.cf->compression != kNoCompression;
     }},
    {Of::kFamily, "BlockBasedTableOptions::block_align", "needs a power of two as",
     "BlockBasedTableOptions::block_size", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->block_align &&
              (o.table->block_size & (o.table->block_size - 1)) != 0;
     }},
    {Of::kFamily, "BlockBasedTableOptions::index_type: kHashSearch", kWithout,
     "ColumnFamilyOptions::prefix_extractor", Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) && o.table->index_type == BlockBasedTableOptions::kHashSearch &&
              o.cf->prefix_extractor == nullptr;
     }},
    {Of::kFamily, "BlockBasedTableOptions::data_block_index_type: kDataBlockBinaryAndHash",
     "needs more than 0 as", "BlockBasedTableOptions::data_block_hash_table_util_ratio",
     Status::kInvalidArgument,
     [](const Combination& o) {
       return HasTable(o) &&
              o.table->data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
              o.table->data_block_hash_table_util_ratio <= 0;
     }},
};

}  // namespace

std::span<const ExclusiveOptions> AllExclusiveOptions() {
  return kExclusive;
}

Status CheckExclusiveOptions(ExclusiveOptions::Of of, const DBOptions* db,
                             const ColumnFamilyOptions* cf) {
  const BlockBasedTableOptions* const table =
      cf == nullptr || cf->table_factory == nullptr
          ? nullptr
          : cf->table_factory->GetOptions<BlockBasedTableOptions>();
  for (const ExclusiveOptions& pair : kExclusive) {
    if (pair.of != of || !pair.met({db, cf, table})) continue;
    const std::string message = std::string(pair.option) + ": " + pair.how + " " + pair.with;
    return Status(pair.code, Status::kNone, Status::kNoError, message);
  }
  return Status::OK();
}

}  // namespace varve
