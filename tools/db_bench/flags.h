// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the gflags that code reads. They are defined in workload_flags.cc, engine_flags.cc and
// refused_flags.cc.

#include <gflags/gflags.h>

#include <cstdint>
#include <string>

namespace varve::bench {

// Returns false, with a line on stderr that names the flag, if a flag was set that asks for an
// unsupported feature.
[[nodiscard]] bool CheckRefusedFlags();

}  // namespace varve::bench

DECLARE_string(benchmarks);
DECLARE_string(db);
DECLARE_string(wal_dir);
DECLARE_string(backup_dir);
DECLARE_uint64(backup_rate_limit);
DECLARE_string(restore_dir);
DECLARE_uint64(restore_rate_limit);
DECLARE_bool(use_existing_db);
DECLARE_bool(use_existing_keys);
DECLARE_bool(readonly);
DECLARE_int64(num);
DECLARE_int64(reads);
DECLARE_int64(writes);
DECLARE_int64(deletes);
DECLARE_int32(bgwriter_num);
DECLARE_int32(threads);
DECLARE_int32(duration);
DECLARE_int32(ops_between_duration_checks);
DECLARE_int64(seed);
DECLARE_bool(finish_after_writes);
DECLARE_int32(num_column_families);
DECLARE_int64(ingest_files);
DECLARE_int32(key_size);
DECLARE_int32(user_timestamp_size);
DECLARE_bool(read_with_latest_user_timestamp);
DECLARE_int32(prefix_size);
DECLARE_int64(keys_per_prefix);
DECLARE_int32(value_size);
DECLARE_string(value_size_distribution_type);
DECLARE_int32(value_size_min);
DECLARE_int32(value_size_max);
DECLARE_double(compression_ratio);
DECLARE_double(read_random_exp_range);
DECLARE_int64(batch_size);
DECLARE_bool(disable_wal);
DECLARE_bool(low_pri);
DECLARE_bool(sync);
DECLARE_uint64(benchmark_write_rate_limit);
DECLARE_double(overwrite_probability);
DECLARE_uint32(overwrite_window_size);
DECLARE_uint64(benchmark_read_rate_limit);
DECLARE_bool(multiread_batched);
DECLARE_int64(multiread_stride);
DECLARE_int32(seek_nexts);
DECLARE_bool(reverse_iterator);
DECLARE_int64(max_scan_distance);
DECLARE_bool(use_tailing_iterator);
DECLARE_int32(readwritepercent);
DECLARE_int64(merge_keys);
DECLARE_int32(mergereadpercent);
DECLARE_bool(transaction_db);
DECLARE_bool(optimistic_transaction_db);
DECLARE_int32(txn_write_policy);
DECLARE_uint64(transaction_sets);
DECLARE_bool(transaction_set_snapshot);
DECLARE_int32(transaction_sleep);
DECLARE_uint64(transaction_lock_timeout);
DECLARE_bool(verify_checksum);
DECLARE_bool(total_order_seek);
DECLARE_bool(prefix_same_as_start);
DECLARE_bool(auto_prefix_mode);
DECLARE_int32(readahead_size);
DECLARE_bool(adaptive_readahead);
DECLARE_bool(auto_readahead_size);
DECLARE_bool(async_io);
DECLARE_bool(optimize_multiget_for_io);
DECLARE_bool(rate_limit_user_ops);
DECLARE_bool(rate_limit_auto_wal_flush);
DECLARE_uint32(write_batch_protection_bytes_per_key);
DECLARE_bool(histogram);
DECLARE_bool(statistics);
DECLARE_int32(stats_level);
DECLARE_int32(perf_level);
DECLARE_int64(stats_interval);
DECLARE_int64(stats_interval_seconds);
DECLARE_int32(stats_per_interval);
DECLARE_int32(thread_status_per_interval);
DECLARE_bool(progress_reports);
DECLARE_int64(report_interval_seconds);
DECLARE_string(report_file);
DECLARE_bool(report_open_timing);
DECLARE_uint64(slow_usecs);
DECLARE_bool(confidence_interval_only);
DECLARE_string(options_file);
DECLARE_int32(max_write_buffer_number_to_maintain);
DECLARE_string(memtablerep);
DECLARE_int32(skip_list_lookahead);
DECLARE_bool(memtable_use_huge_page);
DECLARE_double(memtable_bloom_size_ratio);
DECLARE_uint64(wal_ttl_seconds);
DECLARE_uint64(wal_size_limit_MB);
DECLARE_string(merge_operator);
DECLARE_int32(compaction_style);
DECLARE_int32(compaction_pri);
DECLARE_uint64(ttl_seconds);
DECLARE_int32(universal_size_ratio);
DECLARE_int32(universal_min_merge_width);
DECLARE_int32(universal_max_merge_width);
DECLARE_int32(universal_max_size_amplification_percent);
DECLARE_int32(universal_compression_size_percent);
DECLARE_bool(universal_allow_trivial_move);
DECLARE_bool(universal_incremental);
DECLARE_uint64(subcompactions);
DECLARE_int32(num_high_pri_threads);
DECLARE_int32(num_low_pri_threads);
DECLARE_int32(num_bottom_pri_threads);
DECLARE_uint64(rate_limiter_bytes_per_sec);
DECLARE_int64(rate_limiter_refill_period_us);
DECLARE_bool(rate_limiter_auto_tuned);
DECLARE_bool(rate_limit_bg_reads);
DECLARE_int32(open_files);
DECLARE_int32(file_opening_threads);
DECLARE_bool(mmap_read);
DECLARE_bool(mmap_write);
DECLARE_int64(cache_size);
DECLARE_string(cache_type);
DECLARE_int32(cache_numshardbits);
DECLARE_double(cache_high_pri_pool_ratio);
DECLARE_double(cache_low_pri_pool_ratio);
DECLARE_int64(prepopulate_block_cache);
DECLARE_bool(cost_write_buffer_to_cache);
DECLARE_bool(charge_compression_dictionary_building_buffer);
DECLARE_bool(charge_file_metadata);
DECLARE_bool(charge_filter_construction);
DECLARE_bool(charge_table_reader);
DECLARE_int32(block_size);
DECLARE_int32(format_version);
DECLARE_int32(checksum_type);
DECLARE_int32(bloom_bits);
DECLARE_bool(use_ribbon_filter);
DECLARE_bool(partition_index);
DECLARE_bool(partition_index_and_filters);
DECLARE_bool(index_with_first_key);
DECLARE_int64(index_shortening_mode);
DECLARE_bool(use_hash_search);
DECLARE_bool(use_data_block_hash_index);
DECLARE_string(compression_type);
DECLARE_int32(compression_level);
DECLARE_int32(compression_max_dict_bytes);
DECLARE_int32(compression_zstd_max_train_bytes);
DECLARE_bool(compression_use_zstd_dict_trainer);
DECLARE_uint64(compression_max_dict_buffer_bytes);
DECLARE_int32(compression_parallel_threads);
DECLARE_uint64(sample_for_compression);
DECLARE_uint32(memtable_protection_bytes_per_key);
DECLARE_uint32(block_protection_bytes_per_key);
DECLARE_int32(min_level_to_compress);
