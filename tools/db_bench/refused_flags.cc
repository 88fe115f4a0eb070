// SPDX-License-Identifier: Apache-2.0
// Flags of features that the engine or this tool lacks. They parse, so that a command which spells
// out their defaults runs; any other value stops the program rather than measure something else.
// CheckRefusedFlags() refuses what this file defines, so a feature that arrives moves its flags
// out.

#include <cstdio>
#include <vector>

#include "tools/db_bench/flags.h"

namespace varve::bench {

bool CheckRefusedFlags() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  const std::string this_file = __FILE__;
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    if (flag.filename != this_file || flag.current_value == flag.default_value) continue;
    std::fprintf(stderr, "--%s=%s is not supported; only its default, \"%s\", is\n",
                 flag.name.c_str(), flag.current_value.c_str(), flag.default_value.c_str());
    return false;
  }
  return true;
}

}  // namespace varve::bench

namespace {
const char kAbsent[] = "Not supported: only the default is accepted";
}  // namespace

// Caches.
DEFINE_string(block_cache_trace_file, "", kAbsent);
DEFINE_int64(block_cache_trace_max_trace_file_size_in_bytes, 68719476736, kAbsent);
DEFINE_int32(block_cache_trace_sampling_frequency, 1, kAbsent);
DEFINE_int64(compressed_cache_size, -1, kAbsent);
DEFINE_uint32(compressed_secondary_cache_compress_format_version, 2, kAbsent);
DEFINE_string(compressed_secondary_cache_compression_type, "lz4", kAbsent);
DEFINE_double(compressed_secondary_cache_high_pri_pool_ratio, 0.0, kAbsent);
DEFINE_double(compressed_secondary_cache_low_pri_pool_ratio, 0.0, kAbsent);
DEFINE_int32(compressed_secondary_cache_numshardbits, 6, kAbsent);
DEFINE_int64(compressed_secondary_cache_size, 8388608, kAbsent);
DEFINE_bool(read_cache_direct_read, true, kAbsent);
DEFINE_bool(read_cache_direct_write, true, kAbsent);
DEFINE_string(read_cache_path, "", kAbsent);
DEFINE_int64(read_cache_size, 4294967296, kAbsent);
DEFINE_int64(row_cache_size, 0, kAbsent);
DEFINE_string(secondary_cache_uri, "", kAbsent);
DEFINE_string(secondary_path, "", kAbsent);
DEFINE_int32(secondary_update_interval, 5, kAbsent);
DEFINE_int64(simcache_size, -1, kAbsent);
DEFINE_bool(use_cache_jemalloc_no_dump_allocator, false, kAbsent);
DEFINE_bool(use_cache_memkind_kmem_allocator, false, kAbsent);
DEFINE_bool(use_compressed_secondary_cache, false, kAbsent);
DEFINE_bool(use_secondary_db, false, kAbsent);

// Caching and storing values apart.
DEFINE_uint64(blob_db_bytes_per_sync, 524288, kAbsent);
DEFINE_string(blob_db_compression_type, "snappy", kAbsent);
DEFINE_bool(blob_db_enable_gc, false, kAbsent);
DEFINE_uint64(blob_db_file_size, 268435456, kAbsent);
DEFINE_double(blob_db_gc_cutoff, 0.25, kAbsent);
DEFINE_bool(blob_db_is_fifo, false, kAbsent);
DEFINE_uint64(blob_db_max_db_size, 0, kAbsent);
DEFINE_uint64(blob_db_max_ttl_range, 0, kAbsent);
DEFINE_uint64(blob_db_min_blob_size, 0, kAbsent);
DEFINE_uint64(blob_db_ttl_range_secs, 3600, kAbsent);
DEFINE_bool(use_blob_db, false, kAbsent);

// Compaction styles and tiers.
DEFINE_int64(preclude_last_level_data_seconds, 0, kAbsent);
DEFINE_int64(preserve_internal_time_seconds, 0, kAbsent);
DEFINE_bool(simulate_hdd, false, kAbsent);
DEFINE_string(simulate_hybrid_fs_file, "", kAbsent);
DEFINE_int32(simulate_hybrid_hdd_multipliers, 1, kAbsent);

// Engine internals.
DEFINE_bool(enable_cpu_prio, false, kAbsent);
DEFINE_bool(enable_io_prio, false, kAbsent);
DEFINE_bool(auto_refresh_iterator_with_snapshot, false, kAbsent);
DEFINE_bool(check_flush_compaction_key_order, true, kAbsent);
DEFINE_string(compaction_fadvice, "NORMAL", kAbsent);
DEFINE_double(cuckoo_hash_ratio, 0.9, kAbsent);
DEFINE_int32(disable_seek_compaction, 0, kAbsent);
DEFINE_bool(enable_numa, false, kAbsent);
DEFINE_string(env_uri, "", kAbsent);
DEFINE_double(experimental_mempurge_threshold, 0.0, kAbsent);
DEFINE_bool(explicit_snapshot, false, kAbsent);
DEFINE_string(fs_uri, "", kAbsent);
DEFINE_int64(hash_bucket_count, 1048576, kAbsent);
DEFINE_bool(identity_as_first_hash, false, kAbsent);
DEFINE_bool(io_uring_enabled, true, kAbsent);
DEFINE_int32(memtable_insert_with_hint_prefix_size, 0, kAbsent);
DEFINE_int32(random_access_max_buffer_size, 1048576, kAbsent);
DEFINE_bool(seek_missing_prefix, false, kAbsent);
DEFINE_bool(use_cuckoo_table, false, kAbsent);
DEFINE_bool(use_keep_filter, false, kAbsent);

DEFINE_bool(async_wal_precreate, false, kAbsent);
DEFINE_uint32(blob_direct_write_partitions, 1, kAbsent);
DEFINE_bool(enable_blob_direct_write, false, kAbsent);
DEFINE_uint64(max_compaction_trigger_wakeup_seconds, 43200, kAbsent);
DEFINE_int32(max_manifest_space_amp_pct, 500, kAbsent);
DEFINE_bool(memtable_batch_lookup_optimization, false, kAbsent);
DEFINE_uint32(memtable_op_scan_flush_trigger, 0, kAbsent);
DEFINE_bool(memtable_verify_per_key_checksum_on_seek, false, kAbsent);
// RocksDB's program has the letters of this name in this order.
DEFINE_bool(memtable_veirfy_per_key_checksum_on_seek, false, kAbsent);
DEFINE_uint32(min_tombstones_for_range_conversion, 0, kAbsent);
DEFINE_bool(open_files_async, false, kAbsent);
DEFINE_bool(paranoid_memory_checks, false, kAbsent);
DEFINE_double(read_triggered_compaction_threshold, 0.0, kAbsent);
DEFINE_uint32(uncache_aggressiveness, 0, kAbsent);
DEFINE_bool(use_direct_io_for_compaction_reads, false, kAbsent);
DEFINE_bool(use_trie_index, false, kAbsent);
DEFINE_bool(verify_manifest_content_on_close, false, kAbsent);
DEFINE_string(cache_uri, "", kAbsent);
DEFINE_string(compression_manager, "none", kAbsent);
DEFINE_uint64(fifo_compaction_max_data_files_size_mb, 0, kAbsent);
DEFINE_bool(fifo_compaction_use_kv_ratio_compaction, false, kAbsent);
DEFINE_string(leader_path, "", kAbsent);
DEFINE_bool(open_as_follower, false, kAbsent);
DEFINE_string(tiered_adm_policy, "auto", kAbsent);
DEFINE_bool(use_tiered_cache, false, kAbsent);

// Parameters of benchmarks that are not there.
DEFINE_int64(multiscan_size, 10, kAbsent);
DEFINE_int64(multiscan_stride, 100, kAbsent);
DEFINE_bool(openandcompact_allow_resumption, false, kAbsent);
DEFINE_uint32(openandcompact_cancel_after_millseconds, 1, kAbsent);
DEFINE_bool(openandcompact_test_cancel_on_odd, false, kAbsent);
DEFINE_int32(same_value_percentage, 0, kAbsent);
DEFINE_bool(use_multiscan, false, kAbsent);

// The value that RocksDB's program takes by default is not known here, so every value is refused.
DEFINE_string(blob_direct_write_buffer_size, "", kAbsent);
DEFINE_string(blob_direct_write_flush_interval_ms, "", kAbsent);
DEFINE_string(blob_direct_write_use_direct_io, "", kAbsent);
DEFINE_string(compressed_secondary_cache_compression_level, "", kAbsent);
DEFINE_string(coro_jobs_per_thread, "", kAbsent);
DEFINE_string(embedded_blob_min_size, "", kAbsent);
DEFINE_string(fatal_shutdown_watchdog_seconds, "", kAbsent);
DEFINE_string(fault_injection_read_after_reads, "", kAbsent);
DEFINE_string(ingest_external_file_batch_size, "", kAbsent);
DEFINE_string(ingest_external_file_fill_cache, "", kAbsent);
DEFINE_string(ingest_external_file_num_batches, "", kAbsent);
DEFINE_string(ingest_external_file_use_blob, "", kAbsent);
DEFINE_string(io_dispatcher_max_prefetch_memory_bytes, "", kAbsent);
DEFINE_string(multiscan_coalesce_threshold, "", kAbsent);
DEFINE_string(multiscan_max_prefetch_size, "", kAbsent);
DEFINE_string(multiscan_use_async_io, "", kAbsent);
DEFINE_string(num_short_wide_columns, "", kAbsent);
DEFINE_string(num_wide_columns, "", kAbsent);
DEFINE_string(seek_nexts_to_delete, "", kAbsent);
DEFINE_string(tolerate_io_errors_for_remote_dbs, "", kAbsent);

// Parameters of benchmarks of writes that are not there.
DEFINE_int32(num_deletion_threads, 1, kAbsent);
DEFINE_bool(sine_write_rate, false, kAbsent);
DEFINE_uint64(sine_write_rate_interval_milliseconds, 10000, kAbsent);

// Several databases.
DEFINE_string(column_family_distribution, "", kAbsent);
DEFINE_int32(num_hot_column_families, 0, kAbsent);
DEFINE_int32(num_multi_db, 0, kAbsent);

// Comparators.
DEFINE_bool(use_uint64_comparator, false, kAbsent);

// Reports.
DEFINE_bool(build_info, false, kAbsent);
DEFINE_bool(use_stderr_info_logger, false, kAbsent);
DEFINE_bool(print_malloc_stats, false, kAbsent);
DEFINE_bool(report_file_operations, false, kAbsent);
DEFINE_bool(show_table_properties, false, kAbsent);
DEFINE_string(statistics_string, "", kAbsent);
