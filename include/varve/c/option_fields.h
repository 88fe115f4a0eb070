// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares options of databases and column families that are numbers and flags. Part of varve/c.h,
// which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Opening and recovery ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are fields of Options; varve/options.h and varve/advanced_options.h state meaning, unit,
// default and refused values. Flags are 0 or 1. Names differ from the fields only where noted.
VARVE_C_API void rocksdb_options_set_create_if_missing(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_create_if_missing(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_create_missing_column_families(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_create_missing_column_families(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_error_if_exists(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_error_if_exists(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_paranoid_checks(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_paranoid_checks(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_flush_verify_memtable_count(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_flush_verify_memtable_count(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_compaction_verify_record_count(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_compaction_verify_record_count(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_track_and_verify_wals_in_manifest(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_track_and_verify_wals_in_manifest(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_track_and_verify_wals(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_track_and_verify_wals(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_verify_sst_unique_id_in_manifest(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_verify_sst_unique_id_in_manifest(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_skip_stats_update_on_db_open(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_skip_stats_update_on_db_open(rocksdb_options_t*);

// Values are rocksdb_..._recovery.
VARVE_C_API void rocksdb_options_set_wal_recovery_mode(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_wal_recovery_mode(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_best_efforts_recovery(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_best_efforts_recovery(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_avoid_flush_during_recovery(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_avoid_flush_during_recovery(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_avoid_flush_during_shutdown(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_avoid_flush_during_shutdown(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_2pc(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_2pc(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_write_dbid_to_manifest(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_write_dbid_to_manifest(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_write_identity_file(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_write_identity_file(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_data_in_errors(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_data_in_errors(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_enforce_single_del_contracts(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_enforce_single_del_contracts(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_bgerror_resume_count(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_bgerror_resume_count(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_bgerror_resume_retry_interval(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_bgerror_resume_retry_interval(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_follower_refresh_catchup_period_ms(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_follower_refresh_catchup_period_ms(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_follower_catchup_retry_count(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_follower_catchup_retry_count(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_follower_catchup_retry_wait_ms(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_follower_catchup_retry_wait_ms(rocksdb_options_t*);
// clang-format on

// ---- Logs and other files ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_info_log_level(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_info_log_level(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_log_file_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_max_log_file_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_log_file_time_to_roll(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_log_file_time_to_roll(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_keep_log_file_num(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_keep_log_file_num(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_open_files(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_open_files(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_max_file_opening_threads(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_max_file_opening_threads(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_total_wal_size(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_max_total_wal_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_use_fsync(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_use_fsync(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_delete_obsolete_files_period_micros(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_delete_obsolete_files_period_micros(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_manifest_file_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_max_manifest_file_size(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_manifest_preallocation_size(rocksdb_options_t*, size_t);
VARVE_C_STORED size_t rocksdb_options_get_manifest_preallocation_size(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_table_cache_numshardbits(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_table_cache_numshardbits(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_recycle_log_file_num(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_recycle_log_file_num(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_WAL_ttl_seconds(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_WAL_ttl_seconds(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_WAL_size_limit_MB(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_WAL_size_limit_MB(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_mmap_reads(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_mmap_reads(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_allow_mmap_writes(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_allow_mmap_writes(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_use_direct_reads(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_use_direct_reads(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_use_direct_io_for_flush_and_compaction(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_use_direct_io_for_flush_and_compaction(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_fallocate(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_fallocate(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_is_fd_close_on_exec(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_is_fd_close_on_exec(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_advise_random_on_open(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_advise_random_on_open(rocksdb_options_t*);

// The setter has no "set" in its name.
VARVE_C_STORED void rocksdb_options_compaction_readahead_size(rocksdb_options_t*, size_t);
VARVE_C_STORED size_t rocksdb_options_get_compaction_readahead_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_writable_file_max_buffer_size(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_writable_file_max_buffer_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_bytes_per_sync(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_bytes_per_sync(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_wal_bytes_per_sync(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_wal_bytes_per_sync(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_strict_bytes_per_sync(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_strict_bytes_per_sync(rocksdb_options_t*);

// Numbers of varve::Temperature.
VARVE_C_API void rocksdb_options_set_metadata_write_temperature(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_metadata_write_temperature(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_wal_write_temperature(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_wal_write_temperature(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_log_readahead_size(rocksdb_options_t*, size_t);
VARVE_C_STORED size_t rocksdb_options_get_log_readahead_size(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_avoid_unnecessary_blocking_io(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_avoid_unnecessary_blocking_io(rocksdb_options_t*);
// clang-format on

// ---- Background work ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_max_background_jobs(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_background_jobs(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_background_compactions(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_background_compactions(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_background_flushes(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_background_flushes(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_subcompactions(rocksdb_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_options_get_max_subcompactions(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_enable_thread_tracking(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_enable_thread_tracking(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_stats_dump_period_sec(rocksdb_options_t*, unsigned int);
VARVE_C_API unsigned int rocksdb_options_get_stats_dump_period_sec(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_stats_persist_period_sec(rocksdb_options_t*, unsigned int);
VARVE_C_API unsigned int rocksdb_options_get_stats_persist_period_sec(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_persist_stats_to_disk(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_persist_stats_to_disk(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_stats_history_buffer_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_stats_history_buffer_size(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_dump_malloc_stats(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_dump_malloc_stats(rocksdb_options_t*);
// clang-format on

// ---- Writing ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_db_write_buffer_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_db_write_buffer_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_delayed_write_rate(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_delayed_write_rate(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_enable_pipelined_write(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_enable_pipelined_write(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_unordered_write(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_unordered_write(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_two_write_queues(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_two_write_queues(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_ingest_behind(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_ingest_behind(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_cf_allow_ingest_behind(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_cf_allow_ingest_behind(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_atomic_flush(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_atomic_flush(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_allow_concurrent_memtable_write(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_allow_concurrent_memtable_write(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_enable_write_thread_adaptive_yield(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_enable_write_thread_adaptive_yield(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_max_write_batch_group_size_bytes(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_max_write_batch_group_size_bytes(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_write_thread_max_yield_usec(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_write_thread_max_yield_usec(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_write_thread_slow_yield_usec(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_write_thread_slow_yield_usec(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_use_adaptive_mutex(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_use_adaptive_mutex(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_manual_wal_flush(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_manual_wal_flush(rocksdb_options_t*);

// Values, here and below, are rocksdb_..._compression.
VARVE_C_API void rocksdb_options_set_wal_compression(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_wal_compression(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_prefix_seek_opt_in_only(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_prefix_seek_opt_in_only(rocksdb_options_t*);
// clang-format on

// ---- Memtables ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_write_buffer_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_write_buffer_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_write_buffer_number(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_max_write_buffer_number(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_min_write_buffer_number_to_merge(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_min_write_buffer_number_to_merge(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_write_buffer_size_to_maintain(rocksdb_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_options_get_max_write_buffer_size_to_maintain(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_inplace_update_support(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_inplace_update_support(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_inplace_update_num_locks(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_inplace_update_num_locks(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_memtable_prefix_bloom_size_ratio(rocksdb_options_t*, double);
VARVE_C_API double rocksdb_options_get_memtable_prefix_bloom_size_ratio(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_memtable_whole_key_filtering(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_memtable_whole_key_filtering(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_memtable_huge_page_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_memtable_huge_page_size(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_bloom_locality(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_bloom_locality(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_arena_block_size(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_arena_block_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_memtable_protection_bytes_per_key(rocksdb_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_options_get_memtable_protection_bytes_per_key(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_block_protection_bytes_per_key(rocksdb_options_t*, uint8_t);
VARVE_C_API uint8_t rocksdb_options_get_block_protection_bytes_per_key(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_memtable_max_range_deletions(rocksdb_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_options_get_memtable_max_range_deletions(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_successive_merges(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_max_successive_merges(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_strict_max_successive_merges(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_strict_max_successive_merges(rocksdb_options_t*);
// clang-format on

// ---- Levels ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_compression(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_compression(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_bottommost_compression(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_bottommost_compression(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_num_levels(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_num_levels(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_level0_file_num_compaction_trigger(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_level0_file_num_compaction_trigger(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_level0_slowdown_writes_trigger(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_level0_slowdown_writes_trigger(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_level0_stop_writes_trigger(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_level0_stop_writes_trigger(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_target_file_size_base(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_target_file_size_base(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_target_file_size_multiplier(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_target_file_size_multiplier(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_level_compaction_dynamic_level_bytes(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_level_compaction_dynamic_level_bytes(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_bytes_for_level_base(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_max_bytes_for_level_base(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_bytes_for_level_multiplier(rocksdb_options_t*, double);
VARVE_C_API double rocksdb_options_get_max_bytes_for_level_multiplier(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_compaction_bytes(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_max_compaction_bytes(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_soft_pending_compaction_bytes_limit(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_soft_pending_compaction_bytes_limit(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_hard_pending_compaction_bytes_limit(rocksdb_options_t*, size_t);
VARVE_C_API size_t rocksdb_options_get_hard_pending_compaction_bytes_limit(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_disable_auto_compactions(rocksdb_options_t*, int);
VARVE_C_API unsigned char rocksdb_options_get_disable_auto_compactions(rocksdb_options_t*);

// Values are rocksdb_..._compaction and rocksdb_k_..._compaction_pri.
VARVE_C_API void rocksdb_options_set_compaction_style(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_compaction_style(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_compaction_pri(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_compaction_pri(rocksdb_options_t*);

// Temperatures are numbers of varve::Temperature.
VARVE_C_API void rocksdb_options_set_default_write_temperature(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_default_write_temperature(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_last_level_temperature(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_last_level_temperature(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_default_temperature(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_default_temperature(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_ttl(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_ttl(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_periodic_compaction_seconds(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_periodic_compaction_seconds(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_max_sequential_skip_in_iterations(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_max_sequential_skip_in_iterations(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_optimize_filters_for_hits(rocksdb_options_t*, int);
VARVE_C_API unsigned char rocksdb_options_get_optimize_filters_for_hits(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_paranoid_file_checks(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_paranoid_file_checks(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_force_consistency_checks(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_force_consistency_checks(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_report_bg_io_stats(rocksdb_options_t*, int);
VARVE_C_API unsigned char rocksdb_options_get_report_bg_io_stats(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_sample_for_compression(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_sample_for_compression(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_persist_user_defined_timestamps(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_persist_user_defined_timestamps(rocksdb_options_t*);
// clang-format on

// ---- Blob files ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// In these names "gc" means the fields' garbage_collection.
VARVE_C_API void rocksdb_options_set_enable_blob_files(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_enable_blob_files(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_min_blob_size(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_min_blob_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_file_size(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_blob_file_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_compression_type(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_blob_compression_type(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_enable_blob_gc(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_enable_blob_gc(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_gc_age_cutoff(rocksdb_options_t*, double);
VARVE_C_API double rocksdb_options_get_blob_gc_age_cutoff(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_gc_force_threshold(rocksdb_options_t*, double);
VARVE_C_API double rocksdb_options_get_blob_gc_force_threshold(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_compaction_readahead_size(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_blob_compaction_readahead_size(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_blob_file_starting_level(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_blob_file_starting_level(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_prepopulate_blob_cache(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_prepopulate_blob_cache(rocksdb_options_t*);

// RocksDB does not have this option.
VARVE_C_API void rocksdb_options_set_punch_holes_in_blob_files(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_punch_holes_in_blob_files(rocksdb_options_t*);
// clang-format on

// ---- Compaction styles ----

// The options are copied.
VARVE_C_API void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal);
VARVE_C_API void rocksdb_options_set_fifo_compaction_options(
    rocksdb_options_t* options, rocksdb_fifo_compaction_options_t* fifo);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_universal_compaction_options_t* rocksdb_universal_compaction_options_create(void);
VARVE_C_API void rocksdb_universal_compaction_options_destroy(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_size_ratio(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_size_ratio(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_min_merge_width(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_min_merge_width(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_max_merge_width(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_max_merge_width(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_max_size_amplification_percent(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_max_size_amplification_percent(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_compression_size_percent(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_compression_size_percent(rocksdb_universal_compaction_options_t*);

// Values are rocksdb_..._compaction_stop_style.
VARVE_C_API void rocksdb_universal_compaction_options_set_stop_style(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_stop_style(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_allow_trivial_move(rocksdb_universal_compaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_universal_compaction_options_get_allow_trivial_move(rocksdb_universal_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_incremental(rocksdb_universal_compaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_universal_compaction_options_get_incremental(rocksdb_universal_compaction_options_t*);
VARVE_C_API rocksdb_fifo_compaction_options_t* rocksdb_fifo_compaction_options_create(void);
VARVE_C_API void rocksdb_fifo_compaction_options_destroy(rocksdb_fifo_compaction_options_t*);
VARVE_C_API void rocksdb_fifo_compaction_options_set_allow_compaction(rocksdb_fifo_compaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_fifo_compaction_options_get_allow_compaction(rocksdb_fifo_compaction_options_t*);
VARVE_C_API void rocksdb_fifo_compaction_options_set_max_table_files_size(rocksdb_fifo_compaction_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_fifo_compaction_options_get_max_table_files_size(rocksdb_fifo_compaction_options_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
