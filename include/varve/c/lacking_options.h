// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares options for which Varve has no field. Part of varve/c.h, which states the general rules.
//
// A setter stores the value, and the getter returns it. Opening then returns NotSupported and names
// the option, unless the value is the default or the option only tunes a mechanism that Varve does
// not have: such values have no effect. Setters given a null handle request nothing.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Of databases ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// The names of periods say their unit.
VARVE_C_STORED void rocksdb_options_set_access_hint_on_compaction_start(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_access_hint_on_compaction_start(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_async_wal_precreate(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_async_wal_precreate(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_background_close_inactive_wals(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_background_close_inactive_wals(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_enforce_write_buffer_manager_during_recovery(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_enforce_write_buffer_manager_during_recovery(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_fast_sst_open(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_fast_sst_open(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_max_compaction_trigger_wakeup_seconds(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_max_compaction_trigger_wakeup_seconds(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_max_manifest_space_amp_pct(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_max_manifest_space_amp_pct(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_open_files_async(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_open_files_async(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_optimize_manifest_for_recovery(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_optimize_manifest_for_recovery(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_read_io_executor_threads(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_read_io_executor_threads(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_reuse_manifest_on_open(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_reuse_manifest_on_open(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_use_direct_io_for_compaction_reads(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_use_direct_io_for_compaction_reads(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_verify_manifest_content_on_close(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_verify_manifest_content_on_close(rocksdb_options_t*);
// clang-format on

VARVE_C_STORED const char* rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                                      size_t* size);
VARVE_C_STORED void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                               const char* value);

// Sets of numbers: compaction styles and file types.
VARVE_C_STORED void rocksdb_options_calculate_sst_write_lifetime_hint_set_add(
    rocksdb_options_t* options, int compaction_style);
VARVE_C_STORED void rocksdb_options_calculate_sst_write_lifetime_hint_set_clear(
    rocksdb_options_t* options);
VARVE_C_STORED unsigned char rocksdb_options_calculate_sst_write_lifetime_hint_set_contains(
    rocksdb_options_t* options, int compaction_style);
VARVE_C_STORED size_t
rocksdb_options_calculate_sst_write_lifetime_hint_set_count(rocksdb_options_t* options);
VARVE_C_STORED void rocksdb_options_calculate_sst_write_lifetime_hint_set_remove(
    rocksdb_options_t* options, int compaction_style);
VARVE_C_STORED void rocksdb_options_checksum_handoff_file_types_add(rocksdb_options_t* options,
                                                                    int file_type);
VARVE_C_STORED void rocksdb_options_checksum_handoff_file_types_clear(rocksdb_options_t* options);
VARVE_C_STORED unsigned char rocksdb_options_checksum_handoff_file_types_contains(
    rocksdb_options_t* options, int file_type);
VARVE_C_STORED size_t rocksdb_options_checksum_handoff_file_types_count(rocksdb_options_t* options);
VARVE_C_STORED void rocksdb_options_checksum_handoff_file_types_remove(rocksdb_options_t* options,
                                                                       int file_type);

// ---- Of column families ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_STORED void rocksdb_options_set_blob_direct_write_partitions(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_blob_direct_write_partitions(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_disallow_memtable_writes(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_disallow_memtable_writes(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_enable_blob_direct_write(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_enable_blob_direct_write(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_experimental_mempurge_threshold(rocksdb_options_t*, double);
VARVE_C_STORED double rocksdb_options_get_experimental_mempurge_threshold(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_max_write_buffer_number_to_maintain(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_max_write_buffer_number_to_maintain(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_memtable_avg_op_scan_flush_trigger(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_memtable_avg_op_scan_flush_trigger(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_memtable_batch_lookup_optimization(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_memtable_batch_lookup_optimization(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_memtable_op_scan_flush_trigger(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_memtable_op_scan_flush_trigger(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_memtable_verify_per_key_checksum_on_seek(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_memtable_verify_per_key_checksum_on_seek(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_min_tombstones_for_range_conversion(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_min_tombstones_for_range_conversion(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_paranoid_memory_checks(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_paranoid_memory_checks(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_preclude_last_level_data_seconds(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_preclude_last_level_data_seconds(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_preserve_internal_time_seconds(rocksdb_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_options_get_preserve_internal_time_seconds(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_read_triggered_compaction_threshold(rocksdb_options_t*, double);
VARVE_C_STORED double rocksdb_options_get_read_triggered_compaction_threshold(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_target_file_size_is_upper_bound(rocksdb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_options_get_target_file_size_is_upper_bound(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_uncache_aggressiveness(rocksdb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_options_get_uncache_aggressiveness(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_verify_output_flags(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_verify_output_flags(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_options_set_lowest_used_cache_tier(rocksdb_options_t*, int);
VARVE_C_STORED int rocksdb_options_get_lowest_used_cache_tier(rocksdb_options_t*);

// Varve has fields for these two: see varve/advanced_options.h and varve/options.h.
VARVE_C_API void rocksdb_options_set_bottommost_file_compaction_delay(rocksdb_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_options_get_bottommost_file_compaction_delay(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_skip_checking_sst_file_sizes_on_db_open(rocksdb_options_t*);
VARVE_C_STORED void rocksdb_cuckoo_options_set_cuckoo_block_size(rocksdb_cuckoo_table_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_cuckoo_options_get_cuckoo_block_size(rocksdb_cuckoo_table_options_t*);
VARVE_C_STORED void rocksdb_cuckoo_options_set_hash_ratio(rocksdb_cuckoo_table_options_t*, double);
VARVE_C_STORED void rocksdb_cuckoo_options_set_hash_table_ratio(rocksdb_cuckoo_table_options_t*, double);
VARVE_C_STORED double rocksdb_cuckoo_options_get_hash_table_ratio(rocksdb_cuckoo_table_options_t*);
VARVE_C_STORED void rocksdb_cuckoo_options_set_identity_as_first_hash(rocksdb_cuckoo_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_cuckoo_options_get_identity_as_first_hash(rocksdb_cuckoo_table_options_t*);
VARVE_C_STORED void rocksdb_cuckoo_options_set_max_search_depth(rocksdb_cuckoo_table_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_cuckoo_options_get_max_search_depth(rocksdb_cuckoo_table_options_t*);
VARVE_C_STORED void rocksdb_cuckoo_options_set_use_module_hash(rocksdb_cuckoo_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_cuckoo_options_get_use_module_hash(rocksdb_cuckoo_table_options_t*);
// clang-format on

// Options for cuckoo tables, which Varve refuses.
VARVE_C_STORED rocksdb_cuckoo_table_options_t* rocksdb_cuckoo_options_create(void);
VARVE_C_STORED void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t* options);
VARVE_C_STORED void rocksdb_options_set_cuckoo_table_factory(
    rocksdb_options_t* options, rocksdb_cuckoo_table_options_t* table_options);

// This is a preset for universal compaction: write buffers of a quarter of the budget, six at most,
// two merged; 80 percent of the data is compressed.
VARVE_C_API void rocksdb_options_optimize_universal_style_compaction(
    rocksdb_options_t* options, uint64_t memtable_memory_budget);

// ---- Of tables ----

// A second cache of compressed blocks (RocksDB 7), and indexes that a program defines.
VARVE_C_STORED void rocksdb_block_based_options_set_block_cache_compressed(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* block_cache_compressed);
VARVE_C_STORED void rocksdb_block_based_options_set_user_defined_index_factory_from_string(
    rocksdb_block_based_table_options_t* options, const char* value, size_t value_len,
    char** errptr);
VARVE_C_STORED const char* rocksdb_block_based_options_get_user_defined_index_factory_name(
    const rocksdb_block_based_table_options_t* options, size_t* name_len);
VARVE_C_STORED void rocksdb_block_based_options_clear_user_defined_index_factory(
    rocksdb_block_based_table_options_t* options);

// ---- More of compaction styles ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_fifo_compaction_options_set_age_for_warm(rocksdb_fifo_compaction_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_fifo_compaction_options_get_age_for_warm(rocksdb_fifo_compaction_options_t*);
VARVE_C_STORED void rocksdb_fifo_compaction_options_set_allow_trivial_copy_when_change_temperature(rocksdb_fifo_compaction_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_fifo_compaction_options_get_allow_trivial_copy_when_change_temperature(rocksdb_fifo_compaction_options_t*);
VARVE_C_API void rocksdb_fifo_compaction_options_set_max_data_files_size(rocksdb_fifo_compaction_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_fifo_compaction_options_get_max_data_files_size(rocksdb_fifo_compaction_options_t*);
VARVE_C_STORED void rocksdb_fifo_compaction_options_set_trivial_copy_buffer_size(rocksdb_fifo_compaction_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_fifo_compaction_options_get_trivial_copy_buffer_size(rocksdb_fifo_compaction_options_t*);
VARVE_C_API void rocksdb_fifo_compaction_options_set_use_kv_ratio_compaction(rocksdb_fifo_compaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_fifo_compaction_options_get_use_kv_ratio_compaction(rocksdb_fifo_compaction_options_t*);
VARVE_C_API void rocksdb_universal_compaction_options_set_max_read_amp(rocksdb_universal_compaction_options_t*, int);
VARVE_C_API int rocksdb_universal_compaction_options_get_max_read_amp(rocksdb_universal_compaction_options_t*);
VARVE_C_STORED void rocksdb_universal_compaction_options_set_reduce_file_locking(rocksdb_universal_compaction_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_universal_compaction_options_get_reduce_file_locking(rocksdb_universal_compaction_options_t*);
// clang-format on

// ---- Of single calls ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// force_atomic_flush other than 0 is NotSupported; listeners are never waited for. Sizes leave blob
// files out.
VARVE_C_API void rocksdb_compactoptions_set_blob_garbage_collection_age_cutoff(rocksdb_compactoptions_t*, double);
VARVE_C_API double rocksdb_compactoptions_get_blob_garbage_collection_age_cutoff(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_blob_garbage_collection_policy(rocksdb_compactoptions_t*, int);
VARVE_C_API int rocksdb_compactoptions_get_blob_garbage_collection_policy(rocksdb_compactoptions_t*);
VARVE_C_STORED void rocksdb_flushoptions_set_force_atomic_flush(rocksdb_flushoptions_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_flushoptions_get_force_atomic_flush(rocksdb_flushoptions_t*);
VARVE_C_STORED void rocksdb_flushoptions_set_listener_wait(rocksdb_flushoptions_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_flushoptions_get_listener_wait(rocksdb_flushoptions_t*);
VARVE_C_STORED void rocksdb_size_approximation_options_set_include_blob_files(rocksdb_size_approximation_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_size_approximation_options_get_include_blob_files(rocksdb_size_approximation_options_t*);
// clang-format on

// `managed` (RocksDB 7) is ignored, as in RocksDB. request_id has no effect: traces do not record
// it.
VARVE_C_STORED void rocksdb_readoptions_set_managed(rocksdb_readoptions_t* options,
                                                    unsigned char value);
VARVE_C_STORED void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t* options);
VARVE_C_STORED const char* rocksdb_readoptions_get_request_id(rocksdb_readoptions_t* options,
                                                              size_t* request_id_len);
VARVE_C_STORED void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t* options,
                                                       const char* request_id,
                                                       size_t request_id_len);
VARVE_C_STORED void rocksdb_readoptions_set_table_index_factory_from_string(
    rocksdb_readoptions_t* options, const char* value, size_t value_len, char** errptr);
VARVE_C_STORED const char* rocksdb_readoptions_get_table_index_factory_name(
    const rocksdb_readoptions_t* options, size_t* name_len);
VARVE_C_STORED void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t* options);

// ---- Write buffer managers ----

// Says whether writers wait at the limit.
VARVE_C_API void rocksdb_write_buffer_manager_set_allow_stall(
    rocksdb_write_buffer_manager_t* manager, bool new_allow_stall);

#ifdef __cplusplus
}  // extern "C"
#endif
