// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/changeable_options.h"

namespace varve::testing {

const std::vector<ChangeableOption>& FamilyOptions() {
  static const std::vector<ChangeableOption> options = {
      {"prefix_extractor", {"rocksdb.FixedPrefix.3"}},
      {"write_buffer_size", {"65536", "131072", "1048576"}},
      {"max_write_buffer_number", {"2", "3", "6"}},
      {"memtable_prefix_bloom_size_ratio", {"0", "0.1", "0.25"}},
      {"memtable_whole_key_filtering", {"true", "false"}},
      {"arena_block_size", {"0", "4096"}},
      {"memtable_max_range_deletions", {"0", "1", "8"}},
      {"compression", {"kNoCompression", "kSnappyCompression", "kZSTD"}},
      {"bottommost_compression", {"kNoCompression", "kZSTD", "kDisableCompressionOption"}},
      {"compression_per_level", {"kNoCompression:kSnappyCompression", ""}},
      {"target_file_size_base", {"4096", "32768", "1048576"}},
      {"target_file_size_multiplier", {"1", "2"}},
      {"max_bytes_for_level_base", {"16384", "65536", "4194304"}},
      {"max_bytes_for_level_multiplier", {"2", "4", "10"}},
      {"max_bytes_for_level_multiplier_additional", {"1:2:1:1:1:1:1", "1:1:1:1:1:1:1"}},
      {"max_compaction_bytes", {"0", "8192", "1048576"}},
      {"disable_auto_compactions", {"true", "false", "false"}},
      {"level0_file_num_compaction_trigger", {"1", "2", "4", "8"}},
      {"level0_slowdown_writes_trigger", {"20", "100"}},
      {"level0_stop_writes_trigger", {"36", "100"}},
      {"soft_pending_compaction_bytes_limit", {"0", "68719476736"}},
      {"hard_pending_compaction_bytes_limit", {"0", "274877906944"}},
      {"compaction_style", {"kCompactionStyleLevel", "kCompactionStyleUniversal"}},
      {"compaction_options_universal",
       {"{size_ratio=1;max_size_amplification_percent=25;}",
        "{size_ratio=50;max_size_amplification_percent=200;allow_trivial_move=true;}"}},
      {"compaction_pri",
       {"kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst",
        "kMinOverlappingRatio", "kRoundRobin"}},
      {"max_sequential_skip_in_iterations", {"0", "1", "8"}},
      {"max_successive_merges", {"0", "1", "8"}},
      {"strict_max_successive_merges", {"true", "false"}},
      {"paranoid_file_checks", {"true", "false"}},
      {"report_bg_io_stats", {"true", "false"}},
      {"enable_blob_files", {"true", "true", "false"}},
      {"min_blob_size", {"0", "16", "4096"}},
      {"blob_file_size", {"1000", "268435456"}},
      {"blob_compression_type", {"kNoCompression", "kSnappyCompression"}},
      {"enable_blob_garbage_collection", {"true", "false"}},
      {"blob_garbage_collection_age_cutoff", {"0", "0.25", "1.0"}},
      {"blob_garbage_collection_force_threshold", {"0", "0.3", "1.0"}},
      {"blob_compaction_readahead_size", {"0", "4096"}},
      {"blob_file_starting_level", {"0", "2"}},
      {"punch_holes_in_blob_files", {"true", "true", "false"}},
      {"prepopulate_blob_cache", {"kDisable", "kFlushOnly"}},
  };
  return options;
}

const std::vector<ChangeableOption>& DatabaseOptions() {
  static const std::vector<ChangeableOption> options = {
      {"max_background_jobs", {"1", "2", "4"}},
      {"max_background_compactions", {"-1", "1", "3"}},
      {"max_background_flushes", {"-1", "1"}},
      {"max_subcompactions", {"1", "4"}},
      {"max_open_files", {"-1", "24", "1000"}},
      {"max_total_wal_size", {"0", "65536", "1048576"}},
      {"bytes_per_sync", {"0", "4096"}},
      {"wal_bytes_per_sync", {"0", "4096"}},
      {"writable_file_max_buffer_size", {"4096", "1048576"}},
      {"compaction_readahead_size", {"0", "4096", "2097152"}},
      {"delayed_write_rate", {"0", "16777216"}},
      {"stats_dump_period_sec", {"0", "600"}},
  };
  return options;
}

}  // namespace varve::testing
