// SPDX-License-Identifier: Apache-2.0

// Defines the table of RocksDB's other option names, each with the values that can be ignored.

#include "util/options/foreign_options.h"

#include "util/options/option_text.h"

namespace varve {

namespace {

// An option that RocksDB has and this engine lacks.
struct ForeignOption {
  std::string_view struct_name;
  std::string_view name;
  // Values that ask for nothing, separated by '|'; "*" is all of them, because the option only
  // tunes speed, or RocksDB itself ignores it.
  std::string_view harmless;
};

// An option is lacking, and not harmless, if ignoring it would change results, durability or the
// files: such a database must not be opened as if nothing were missing. A '|' at the beginning
// makes the empty value harmless, too.
constexpr ForeignOption kForeignOptions[] = {
    {"DBOptions", "access_hint_on_compaction_start", "*"},
    {"DBOptions", "async_wal_precreate", "*"},
    {"DBOptions", "background_close_inactive_wals", "*"},
    {"DBOptions", "base_background_compactions", "*"},
    {"DBOptions", "calculate_sst_write_lifetime_hint_set", "*"},
    {"DBOptions", "checksum_handoff_file_types", "|{}"},
    {"DBOptions", "compaction_service", "nullptr"},
    {"DBOptions", "concurrent_prepare", "false"},
    {"DBOptions", "daily_offpeak_time_utc", ""},
    {"DBOptions", "disableDataSync", "*"},
    {"DBOptions", "disable_data_sync", "*"},
    {"DBOptions", "enforce_write_buffer_manager_during_recovery", "*"},
    {"DBOptions", "fast_sst_open", "*"},
    {"DBOptions", "max_compaction_trigger_wakeup_seconds", "*"},
    {"DBOptions", "max_manifest_space_amp_pct", "*"},
    {"DBOptions", "new_table_reader_for_compaction_inputs", "*"},
    {"DBOptions", "open_files_async", "*"},
    {"DBOptions", "optimize_manifest_for_recovery", "*"},
    {"DBOptions", "preserve_deletes", "false"},
    {"DBOptions", "random_access_max_buffer_size", "*"},
    {"DBOptions", "read_io_executor_threads", "*"},
    {"DBOptions", "reuse_manifest_on_open", "*"},
    {"DBOptions", "skip_log_error_on_recovery", "false"},
    {"DBOptions", "table_cache_remove_scan_count_limit", "*"},
    {"DBOptions", "use_direct_io_for_compaction_reads", "*"},
    {"DBOptions", "use_skip_list", "*"},
    {"DBOptions", "verify_manifest_content_on_close", "*"},

    {"ColumnFamilyOptions", "blob_direct_write_partitions", "*"},
    {"ColumnFamilyOptions", "bottommost_temperature", "kUnknown"},
    {"ColumnFamilyOptions", "check_flush_compaction_key_order", "*"},
    {"ColumnFamilyOptions", "compaction_measure_io_stats", "*"},
    {"ColumnFamilyOptions", "compression_manager", "nullptr"},
    {"ColumnFamilyOptions", "disallow_memtable_writes", "false"},
    {"ColumnFamilyOptions", "enable_blob_direct_write", "false"},
    {"ColumnFamilyOptions", "expanded_compaction_factor", "*"},
    {"ColumnFamilyOptions", "experimental_mempurge_threshold", "0|0.000000"},
    {"ColumnFamilyOptions", "filter_deletes", "*"},
    {"ColumnFamilyOptions", "hard_rate_limit", "*"},
    {"ColumnFamilyOptions", "ignore_max_compaction_bytes_for_input", "*"},
    {"ColumnFamilyOptions", "level_compaction_dynamic_file_size", "*"},
    {"ColumnFamilyOptions", "max_grandparent_overlap_factor", "*"},
    {"ColumnFamilyOptions", "max_mem_compaction_level", "*"},
    {"ColumnFamilyOptions", "max_write_buffer_number_to_maintain", "0"},
    {"ColumnFamilyOptions", "memtable_avg_op_scan_flush_trigger", "*"},
    {"ColumnFamilyOptions", "memtable_batch_lookup_optimization", "*"},
    {"ColumnFamilyOptions", "memtable_insert_with_hint_prefix_extractor", "*"},
    {"ColumnFamilyOptions", "memtable_op_scan_flush_trigger", "*"},
    {"ColumnFamilyOptions", "memtable_prefix_bloom_bits", "*"},
    {"ColumnFamilyOptions", "memtable_prefix_bloom_probes", "*"},
    {"ColumnFamilyOptions", "memtable_veirfy_per_key_checksum_on_seek", "false"},
    {"ColumnFamilyOptions", "memtable_verify_per_key_checksum_on_seek", "false"},
    {"ColumnFamilyOptions", "min_partial_merge_operands", "*"},
    {"ColumnFamilyOptions", "min_tombstones_for_range_conversion", "*"},
    {"ColumnFamilyOptions", "paranoid_memory_checks", "false"},
    {"ColumnFamilyOptions", "preclude_last_level_data_seconds", "0"},
    {"ColumnFamilyOptions", "preserve_internal_time_seconds", "0"},
    {"ColumnFamilyOptions", "purge_redundant_kvs_while_flush", "*"},
    {"ColumnFamilyOptions", "rate_limit_delay_max_milliseconds", "*"},
    {"ColumnFamilyOptions", "read_triggered_compaction_threshold", "*"},
    {"ColumnFamilyOptions", "skip_stats_update_on_db_open", "*"},
    {"ColumnFamilyOptions", "snap_refresh_nanos", "*"},
    {"ColumnFamilyOptions", "soft_rate_limit", "*"},
    {"ColumnFamilyOptions", "source_compaction_factor", "*"},
    {"ColumnFamilyOptions", "target_file_size_is_upper_bound", "*"},
    {"ColumnFamilyOptions", "uncache_aggressiveness", "*"},
    {"ColumnFamilyOptions", "verify_checksums_in_compaction", "*"},
    {"ColumnFamilyOptions", "verify_output_flags", "*"},

    {"BlockBasedTableOptions", "block_cache_compressed", "nullptr"},
    {"BlockBasedTableOptions", "hash_index_allow_collision", "*"},

    {"CompactionOptionsFIFO", "ttl", "*"},
};

// True if the value is among the harmless ones (ForeignOption::harmless).
bool IsHarmless(std::string_view harmless, std::string_view value) {
  if (harmless == "*") return true;
  value = TrimOptionText(value);
  while (true) {
    const size_t bar = harmless.find('|');
    if (harmless.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    harmless.remove_prefix(bar + 1);
  }
}

}  // namespace

ForeignVerdict JudgeForeignOption(std::string_view struct_name, std::string_view name,
                                  std::string_view value) {
  for (const ForeignOption& option : kForeignOptions) {
    if (option.struct_name == struct_name && option.name == name) {
      return IsHarmless(option.harmless, value) ? ForeignVerdict::kHarmless
                                                : ForeignVerdict::kLacking;
    }
  }
  return ForeignVerdict::kUnknown;
}

}  // namespace varve
