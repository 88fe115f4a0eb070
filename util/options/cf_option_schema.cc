// SPDX-License-Identifier: Apache-2.0

// Defines the schema rows of ColumnFamilyOptions and its base.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "varve/options.h"

#include "util/compress/codec.h"
#include "util/options/option_schema.h"
#include "util/sync/task_limiter.h"

namespace varve {

namespace {

Status CheckCodec(const std::string& name, const void* field) {
  const auto type = *static_cast<const CompressionType*>(field);
  return CodecSupported(type) ? Status::OK() : CodecNotSupported(type, name);
}

// The bottommost level may also use the codec of the others.
Status CheckBottommostCodec(const std::string& name, const void* field) {
  const auto type = *static_cast<const CompressionType*>(field);
  return type == kDisableCompressionOption ? Status::OK() : CheckCodec(name, field);
}

Status CheckCodecs(const std::string& name, const void* field) {
  for (const CompressionType type : *static_cast<const std::vector<CompressionType>*>(field)) {
    Status s = CheckCodec(name, &type);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// A factor below 1 would make a level smaller than the one above it.
Status CheckFactors(const std::string& name, const void* field) {
  const auto& factors = *static_cast<const std::vector<int>*>(field);
  const bool valid = std::ranges::all_of(factors, [](int factor) { return factor >= 1; });
  return valid ? Status::OK() : Status::InvalidArgument(name + ": below 1");
}

// The engine needs more of a limiter than the public class declares, so a subclass of a program
// would be ignored without a word if it were accepted.
Status IsOurLimiter(const std::string& name, const void* field) {
  const auto& limiter = *static_cast<const std::shared_ptr<ConcurrentTaskLimiter>*>(field);
  if (limiter == nullptr || TaskLimiterOf(limiter.get()) != nullptr) return Status::OK();
  return Status::InvalidArgument(name + ": only what NewConcurrentTaskLimiter has made will do");
}

template <typename T>
Status CheckProtection(const std::string& name, const void* field) {
  const uint32_t bytes = *static_cast<const T*>(field);
  if (bytes == 0 || bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) return Status::OK();
  return Status::NotSupported(name + ": " + std::to_string(bytes) +
                              " bytes; checksums have 1, 2, 4 or 8, or there are none (0)");
}

#define VARVE_ROW(field, help) \
  MakeOptionRow<ColumnFamilyOptions, &ColumnFamilyOptions::field>(#field, help)

// The order is that of listings and OPTIONS files, and means nothing. A test compares the rows with
// the struct's fields by size and alignment, and with what the public header says of each field.
constexpr OptionRow kColumnFamilyRows[] = {
    // Objects.
    VARVE_ROW(comparator, "order of keys").Check(&NotNull<const Comparator*>),
    VARVE_ROW(merge_operator, "combines values"),
    VARVE_ROW(allow_other_merge_operator, "open although the name changed").NotInFile(),
    VARVE_ROW(compaction_filter, "drops or changes entries"),
    VARVE_ROW(compaction_filter_factory, "makes a filter for each compaction"),
    VARVE_ROW(sst_partitioner_factory, "where compactions end tables"),
    VARVE_ROW(compaction_thread_limiter, "how many compactions run")
        .NotInFile()
        .Check(&IsOurLimiter),
    VARVE_ROW(prefix_extractor, "cuts prefixes of keys").Dynamic(),
    VARVE_ROW(table_factory, "kind and options of tables")
        .Check(&NotNull<std::shared_ptr<TableFactory>>),
    VARVE_ROW(memtable_factory, "kind of memtables")
        .Check(&NotNull<std::shared_ptr<MemTableRepFactory>>),
    VARVE_ROW(table_properties_collector_factories, "adds properties to tables").NotInFile(),
    VARVE_ROW(cf_paths, "directories of tables, newest data first").NotInFile().Check(&CheckPaths),

    // Memtables.
    VARVE_ROW(write_buffer_size, "bytes of a memtable").Dynamic(),
    VARVE_ROW(max_write_buffer_number, "memtables before writes stop").Dynamic().AtLeast(1),
    VARVE_ROW(min_write_buffer_number_to_merge, "memtables merged by a flush").AtLeast(1),
    VARVE_ROW(max_write_buffer_size_to_maintain, "bytes of flushed memtables kept; -1: derived")
        .AtLeast(-1),
    VARVE_ROW(inplace_update_support, "overwrite in memtables")
        .Advisory("a new version beside the old one gives the same reads, and keeps snapshots"),
    VARVE_ROW(inplace_callback, "how values are overwritten")
        .DefaultOnly("it would change what snapshots and iterators have seen")
        .NotInFile(),
    VARVE_ROW(inplace_update_num_locks, "locks for overwriting").Dynamic().Advisory(kNoKnob),
    VARVE_ROW(memtable_prefix_bloom_size_ratio, "share of a memtable for a Bloom filter")
        .Dynamic()
        .Between(0, 0.25),
    VARVE_ROW(memtable_whole_key_filtering, "whole keys in that filter").Dynamic(),
    VARVE_ROW(memtable_huge_page_size, "bytes of a huge page; 0: ordinary ones")
        .Dynamic()
        .Advisory(kNoKnob),
    VARVE_ROW(bloom_locality, "cache lines of that filter").Advisory(kNoKnob),
    VARVE_ROW(arena_block_size, "bytes of an arena block; 0: derived").Dynamic(),
    VARVE_ROW(memtable_protection_bytes_per_key, "bytes of an entry's checksum in memory")
        .Dynamic()
        .Check(&CheckProtection<uint32_t>),
    VARVE_ROW(block_protection_bytes_per_key, "checksums of data blocks in the block cache")
        .Check(&CheckProtection<uint8_t>)
        .Extended(),
    VARVE_ROW(memtable_max_range_deletions, "range deletions before a flush; 0: no limit")
        .Dynamic()
        .Extended(),

    // Compression.
    VARVE_ROW(compression, "codec").Dynamic().Check(&CheckCodec),
    VARVE_ROW(bottommost_compression, "codec of the last level")
        .Dynamic()
        .Check(&CheckBottommostCodec),
    VARVE_ROW(compression_opts, "the codec's settings").Dynamic(),
    VARVE_ROW(bottommost_compression_opts, "settings in the last level").Dynamic(),
    VARVE_ROW(compression_per_level, "codec of each level").Dynamic().Check(&CheckCodecs),

    // Shape of the tree.
    VARVE_ROW(num_levels, "levels").Between(1, 64),
    VARVE_ROW(target_file_size_base, "bytes of a table in level 1").Dynamic().AtLeast(1),
    VARVE_ROW(target_file_size_multiplier, "factor for each further level").Dynamic().AtLeast(1),
    VARVE_ROW(cf_allow_ingest_behind, "room below all data: the last level").Extended(),
    VARVE_ROW(level_compaction_dynamic_level_bytes, "sizes follow the last level"),
    VARVE_ROW(max_bytes_for_level_base, "bytes of level 1").Dynamic().AtLeast(1),
    VARVE_ROW(max_bytes_for_level_multiplier, "factor between levels").Dynamic().AtLeast(1),
    VARVE_ROW(max_bytes_for_level_multiplier_additional, "more factors")
        .Dynamic()
        .Check(&CheckFactors),
    VARVE_ROW(max_compaction_bytes, "input bytes of a compaction; 0: derived").Dynamic(),
    VARVE_ROW(disable_auto_compactions, "compact when asked only").Dynamic(),
    VARVE_ROW(level0_file_num_compaction_trigger, "L0 files that start a compaction")
        .Dynamic()
        .AtLeast(1),
    VARVE_ROW(compaction_style, "strategy").Dynamic(),
    VARVE_ROW(compaction_pri, "which file goes first").Dynamic(),
    VARVE_ROW(compaction_options_universal, "universal style").Dynamic(),
    VARVE_ROW(compaction_options_fifo, "FIFO style").Dynamic(),
    VARVE_ROW(default_write_temperature, "where tables should lie").Dynamic().Extended(),
    VARVE_ROW(last_level_temperature, "where tables of the last level should lie").Dynamic(),
    VARVE_ROW(default_temperature, "where tables lie that say nothing").Extended(),
    VARVE_ROW(ttl, "seconds until data goes down; 0: never").Dynamic(),
    VARVE_ROW(periodic_compaction_seconds, "seconds until a file is rewritten; 0: never").Dynamic(),
    VARVE_ROW(bottommost_file_compaction_delay, "seconds before dead last-level entries go")
        .Dynamic()
        .Extended(),

    // Write stalls.
    VARVE_ROW(level0_slowdown_writes_trigger, "L0 files that slow writes").Dynamic(),
    VARVE_ROW(level0_stop_writes_trigger, "L0 files that stop writes").Dynamic().AtLeast(1),
    VARVE_ROW(soft_pending_compaction_bytes_limit, "backlog that slows writes; 0: none").Dynamic(),
    VARVE_ROW(hard_pending_compaction_bytes_limit, "backlog that stops writes; 0: none").Dynamic(),

    // Reading and merging.
    VARVE_ROW(max_sequential_skip_in_iterations, "hidden versions before a seek").Dynamic(),
    VARVE_ROW(max_successive_merges, "fold merges when writing").Dynamic(),
    VARVE_ROW(strict_max_successive_merges, "even if that needs a read").Dynamic().Extended(),
    VARVE_ROW(optimize_filters_for_hits, "no filters in the last level"),

    // Checks and statistics.
    VARVE_ROW(paranoid_file_checks, "read new tables back").Dynamic(),
    VARVE_ROW(force_consistency_checks, "verify each new version").Advisory("always on"),
    VARVE_ROW(report_bg_io_stats, "time background I/O").Dynamic(),
    VARVE_ROW(sample_for_compression, "of so many blocks one estimates other codecs").Dynamic(),
    VARVE_ROW(persist_user_defined_timestamps, "user timestamps in tables").Extended(),

    // Values in separate files.
    VARVE_ROW(enable_blob_files, "large values in files of their own").Dynamic(),
    VARVE_ROW(min_blob_size, "bytes of a large value").Dynamic(),
    VARVE_ROW(blob_file_size, "bytes of a value file").Dynamic(),
    VARVE_ROW(blob_compression_type, "codec of values").Dynamic(),
    VARVE_ROW(enable_blob_garbage_collection, "collect garbage").Dynamic(),
    VARVE_ROW(blob_garbage_collection_age_cutoff, "share of files considered").Dynamic(),
    VARVE_ROW(blob_garbage_collection_force_threshold, "share of garbage that forces it").Dynamic(),
    VARVE_ROW(blob_compaction_readahead_size, "bytes read ahead").Dynamic(),
    VARVE_ROW(punch_holes_in_blob_files, "give back what dropped values take").Dynamic().Extended(),
    VARVE_ROW(blob_file_starting_level, "first level with value files").Dynamic(),
    VARVE_ROW(blob_cache, "cache of values").NotInFile(),
    VARVE_ROW(prepopulate_blob_cache, "cache values as they are written").Dynamic(),
};

#undef VARVE_ROW

}  // namespace

const OptionTable& CfOptionTable() {
  static const auto table =
      OptionTable::Of<ColumnFamilyOptions>("ColumnFamilyOptions", kColumnFamilyRows);
  return table;
}

}  // namespace varve
