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
DEFINE_int32(blob_cache_numshardbits, 6, kAbsent);
DEFINE_uint64(blob_cache_size, 8388608, kAbsent);
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
DEFINE_bool(charge_blob_cache, false, kAbsent);
DEFINE_int32(prepopulate_blob_cache, 0, kAbsent);
DEFINE_bool(use_blob_cache, false, kAbsent);
DEFINE_bool(use_blob_db, false, kAbsent);
DEFINE_bool(use_shared_block_and_blob_cache, true, kAbsent);

// Compaction styles and tiers.
DEFINE_uint64(fifo_age_for_warm, 0, kAbsent);
DEFINE_bool(fifo_compaction_allow_compaction, true, kAbsent);
DEFINE_uint64(fifo_compaction_max_table_files_size_mb, 0, kAbsent);
DEFINE_uint64(fifo_compaction_ttl, 0, kAbsent);
DEFINE_int64(preclude_last_level_data_seconds, 0, kAbsent);
DEFINE_int64(preserve_internal_time_seconds, 0, kAbsent);
DEFINE_bool(simulate_hdd, false, kAbsent);
DEFINE_string(simulate_hybrid_fs_file, "", kAbsent);
DEFINE_int32(simulate_hybrid_hdd_multipliers, 1, kAbsent);

// Deletion patterns within fills.
DEFINE_uint64(disposable_entries_batch_size, 0, kAbsent);
DEFINE_uint64(disposable_entries_delete_delay, 0, kAbsent);
DEFINE_int32(disposable_entries_value_size, 64, kAbsent);
DEFINE_bool(expand_range_tombstones, false, kAbsent);
DEFINE_int64(max_num_range_tombstones, 0, kAbsent);
DEFINE_uint64(persistent_entries_batch_size, 0, kAbsent);
DEFINE_int32(persistent_entries_value_size, 64, kAbsent);
DEFINE_int64(range_tombstone_width, 100, kAbsent);
DEFINE_bool(use_single_deletes, true, kAbsent);
DEFINE_int64(writes_before_delete_range, 0, kAbsent);
DEFINE_int64(writes_per_range_tombstone, 0, kAbsent);

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
DEFINE_bool(file_checksum, false, kAbsent);
DEFINE_string(fs_uri, "", kAbsent);
DEFINE_int64(hash_bucket_count, 1048576, kAbsent);
DEFINE_bool(identity_as_first_hash, false, kAbsent);
DEFINE_bool(io_uring_enabled, true, kAbsent);
DEFINE_int32(memtable_insert_with_hint_prefix_size, 0, kAbsent);
DEFINE_int32(random_access_max_buffer_size, 1048576, kAbsent);
DEFINE_bool(seek_missing_prefix, false, kAbsent);
DEFINE_bool(use_cuckoo_table, false, kAbsent);
DEFINE_bool(use_keep_filter, false, kAbsent);
DEFINE_bool(use_plain_table, false, kAbsent);

// Parameters of benchmarks that are not there.
DEFINE_int32(deletepercent, 2, kAbsent);
DEFINE_string(expire_style, "none", kAbsent);
DEFINE_double(iter_k, 2.517, kAbsent);
DEFINE_double(iter_sigma, 14.236, kAbsent);
DEFINE_double(iter_theta, 0.0, kAbsent);
DEFINE_double(key_dist_a, 0.0, kAbsent);
DEFINE_double(key_dist_b, 0.0, kAbsent);
DEFINE_int32(key_id_range, 100000, kAbsent);
DEFINE_double(keyrange_dist_a, 0.0, kAbsent);
DEFINE_double(keyrange_dist_b, 0.0, kAbsent);
DEFINE_double(keyrange_dist_c, 0.0, kAbsent);
DEFINE_double(keyrange_dist_d, 0.0, kAbsent);
DEFINE_int64(keyrange_num, 1, kAbsent);
DEFINE_int64(mix_accesses, -1, kAbsent);
DEFINE_double(mix_get_ratio, 1.0, kAbsent);
DEFINE_int64(mix_max_scan_len, 10000, kAbsent);
DEFINE_int64(mix_max_value_size, 1024, kAbsent);
DEFINE_double(mix_put_ratio, 0.0, kAbsent);
DEFINE_double(mix_seek_ratio, 0.0, kAbsent);
DEFINE_int32(num_deletion_threads, 1, kAbsent);
DEFINE_int64(numdistinct, 1000, kAbsent);
DEFINE_double(sine_a, 1.0, kAbsent);
DEFINE_double(sine_b, 1.0, kAbsent);
DEFINE_double(sine_c, 0.0, kAbsent);
DEFINE_double(sine_d, 1.0, kAbsent);
DEFINE_bool(sine_mix_rate, false, kAbsent);
DEFINE_uint64(sine_mix_rate_interval_milliseconds, 10000, kAbsent);
DEFINE_double(sine_mix_rate_noise, 0.0, kAbsent);
DEFINE_bool(sine_write_rate, false, kAbsent);
DEFINE_uint64(sine_write_rate_interval_milliseconds, 10000, kAbsent);
DEFINE_double(stddev, 2000.0, kAbsent);
DEFINE_uint64(time_range, 100000, kAbsent);
DEFINE_double(value_k, 0.2615, kAbsent);
DEFINE_double(value_sigma, 25.45, kAbsent);
DEFINE_double(value_theta, 0.0, kAbsent);

// Several databases.
DEFINE_string(column_family_distribution, "", kAbsent);
DEFINE_int32(num_hot_column_families, 0, kAbsent);
DEFINE_int32(num_multi_db, 0, kAbsent);

// Comparators.
DEFINE_bool(use_uint64_comparator, false, kAbsent);

// Traces and reports.
DEFINE_bool(build_info, false, kAbsent);
DEFINE_bool(use_stderr_info_logger, false, kAbsent);
DEFINE_bool(print_malloc_stats, false, kAbsent);
DEFINE_bool(report_file_operations, false, kAbsent);
DEFINE_bool(show_table_properties, false, kAbsent);
DEFINE_string(statistics_string, "", kAbsent);
DEFINE_string(trace_file, "", kAbsent);
DEFINE_double(trace_replay_fast_forward, 1.0, kAbsent);
DEFINE_int32(trace_replay_threads, 1, kAbsent);
DEFINE_string(truth_db, "/dev/shm/truth_db/dbbench", kAbsent);
