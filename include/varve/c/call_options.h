// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the options of single calls. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Reads ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of ReadOptions (varve/options.h) under their names. Flags are 0 or 1.
VARVE_C_API rocksdb_readoptions_t* rocksdb_readoptions_create(void);
VARVE_C_API void rocksdb_readoptions_destroy(rocksdb_readoptions_t*);

// 0 reads everything; 1 does no I/O; 2 leaves memtables out once a write was not logged; 3 reads
// memtables only.
VARVE_C_API void rocksdb_readoptions_set_read_tier(rocksdb_readoptions_t*, int);
VARVE_C_API int rocksdb_readoptions_get_read_tier(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_rate_limiter_priority(rocksdb_readoptions_t*, int);
VARVE_C_API int rocksdb_readoptions_get_rate_limiter_priority(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_value_size_soft_limit(rocksdb_readoptions_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_readoptions_get_value_size_soft_limit(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_verify_checksums(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_verify_checksums(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_fill_cache(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_ignore_range_deletions(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_ignore_range_deletions(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_async_io(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_async_io(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_optimize_multiget_for_io(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_optimize_multiget_for_io(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_readahead_size(rocksdb_readoptions_t*, size_t);
VARVE_C_API size_t rocksdb_readoptions_get_readahead_size(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_max_skippable_internal_keys(rocksdb_readoptions_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_readoptions_get_max_skippable_internal_keys(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_tailing(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_tailing(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_total_order_seek(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_total_order_seek(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_auto_prefix_mode(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_auto_prefix_mode(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_prefix_same_as_start(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_prefix_same_as_start(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_pin_data(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_pin_data(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_adaptive_readahead(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_adaptive_readahead(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_background_purge_on_iterator_cleanup(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_background_purge_on_iterator_cleanup(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_auto_readahead_size(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_auto_readahead_size(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_allow_unprepared_value(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_allow_unprepared_value(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_auto_refresh_iterator_with_snapshot(rocksdb_readoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_readoptions_get_auto_refresh_iterator_with_snapshot(rocksdb_readoptions_t*);
VARVE_C_API void rocksdb_readoptions_set_io_activity(rocksdb_readoptions_t*, int);
VARVE_C_API int rocksdb_readoptions_get_io_activity(rocksdb_readoptions_t*);
// clang-format on

// The snapshot is not owned. Null: the newest state.
VARVE_C_API void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options,
                                                  const rocksdb_snapshot_t* snapshot);

// Keys are copied; null removes the bound.
VARVE_C_API void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options,
                                                             const char* key, size_t keylen);
VARVE_C_API void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options,
                                                             const char* key, size_t keylen);
VARVE_C_API void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t* options, const char* ts,
                                                   size_t tslen);
VARVE_C_API void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t* options,
                                                       const char* ts, size_t tslen);

// Microseconds since 1970; 0: none.
VARVE_C_API void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options,
                                                  uint64_t microseconds);
VARVE_C_API uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options);

// Microseconds for one request to the file system; 0: no limit.
VARVE_C_API void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options,
                                                    uint64_t microseconds);
VARVE_C_API uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options);

// The threshold may be unset; the getter then returns 0.
VARVE_C_API void rocksdb_readoptions_set_merge_operand_count_threshold(
    rocksdb_readoptions_t* options, size_t threshold);
VARVE_C_API void rocksdb_readoptions_clear_merge_operand_count_threshold(
    rocksdb_readoptions_t* options);
VARVE_C_API unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(
    rocksdb_readoptions_t* options);
VARVE_C_API size_t
rocksdb_readoptions_get_merge_operand_count_threshold(rocksdb_readoptions_t* options);

// ---- Writes ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of WriteOptions under their names.
VARVE_C_API rocksdb_writeoptions_t* rocksdb_writeoptions_create(void);
VARVE_C_API void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_writeoptions_get_sync(rocksdb_writeoptions_t*);

// 1: writes are not logged; data that was not flushed is lost in a crash.
VARVE_C_API void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t*, int);
VARVE_C_API unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_ignore_missing_column_families(rocksdb_writeoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_writeoptions_get_ignore_missing_column_families(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_no_slowdown(rocksdb_writeoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_writeoptions_get_no_slowdown(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_low_pri(rocksdb_writeoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_writeoptions_get_low_pri(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_memtable_insert_hint_per_batch(rocksdb_writeoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_writeoptions_get_memtable_insert_hint_per_batch(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_rate_limiter_priority(rocksdb_writeoptions_t*, int);
VARVE_C_API int rocksdb_writeoptions_get_rate_limiter_priority(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_protection_bytes_per_key(rocksdb_writeoptions_t*, size_t);
VARVE_C_API size_t rocksdb_writeoptions_get_protection_bytes_per_key(rocksdb_writeoptions_t*);
VARVE_C_API void rocksdb_writeoptions_set_io_activity(rocksdb_writeoptions_t*, int);
VARVE_C_API int rocksdb_writeoptions_get_io_activity(rocksdb_writeoptions_t*);
// clang-format on

// ---- Flushes ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// wait, 1 by default: the flush returns when the table exists.
VARVE_C_API rocksdb_flushoptions_t* rocksdb_flushoptions_create(void);
VARVE_C_API void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t*);
VARVE_C_API void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_flushoptions_get_wait(rocksdb_flushoptions_t*);
VARVE_C_API void rocksdb_flushoptions_set_allow_write_stall(rocksdb_flushoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_flushoptions_get_allow_write_stall(rocksdb_flushoptions_t*);
VARVE_C_API rocksdb_flushwaloptions_t* rocksdb_flushwaloptions_create(void);
VARVE_C_API void rocksdb_flushwaloptions_destroy(rocksdb_flushwaloptions_t*);
VARVE_C_API void rocksdb_flushwaloptions_set_sync(rocksdb_flushwaloptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_flushwaloptions_get_sync(rocksdb_flushwaloptions_t*);
VARVE_C_API void rocksdb_flushwaloptions_set_rate_limiter_priority(rocksdb_flushwaloptions_t*, int);
VARVE_C_API int rocksdb_flushwaloptions_get_rate_limiter_priority(rocksdb_flushwaloptions_t*);
// clang-format on

// ---- Compactions ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of CompactRangeOptions under their names.
VARVE_C_API rocksdb_compactoptions_t* rocksdb_compactoptions_create(void);
VARVE_C_API void rocksdb_compactoptions_destroy(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_exclusive_manual_compaction(rocksdb_compactoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_compactoptions_get_exclusive_manual_compaction(rocksdb_compactoptions_t*);

// 0: skip; 1: if there is a compaction filter; 2: force; 3: force, except for files that this call
// wrote.
VARVE_C_API void rocksdb_compactoptions_set_bottommost_level_compaction(rocksdb_compactoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_compactoptions_get_bottommost_level_compaction(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_change_level(rocksdb_compactoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_compactoptions_get_change_level(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_target_level(rocksdb_compactoptions_t*, int);
VARVE_C_API int rocksdb_compactoptions_get_target_level(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_target_path_id(rocksdb_compactoptions_t*, int);
VARVE_C_API int rocksdb_compactoptions_get_target_path_id(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_allow_write_stall(rocksdb_compactoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_compactoptions_get_allow_write_stall(rocksdb_compactoptions_t*);
VARVE_C_API void rocksdb_compactoptions_set_max_subcompactions(rocksdb_compactoptions_t*, int);
VARVE_C_API int rocksdb_compactoptions_get_max_subcompactions(rocksdb_compactoptions_t*);
// clang-format on

VARVE_C_API void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t* options,
                                                                char* ts, size_t tslen);

// ---- Waiting for compactions ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of WaitForCompactOptions under their names.
VARVE_C_API rocksdb_wait_for_compact_options_t* rocksdb_wait_for_compact_options_create(void);
VARVE_C_API void rocksdb_wait_for_compact_options_destroy(rocksdb_wait_for_compact_options_t*);
VARVE_C_API void rocksdb_wait_for_compact_options_set_abort_on_pause(rocksdb_wait_for_compact_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_wait_for_compact_options_get_abort_on_pause(rocksdb_wait_for_compact_options_t*);
VARVE_C_API void rocksdb_wait_for_compact_options_set_flush(rocksdb_wait_for_compact_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_wait_for_compact_options_get_flush(rocksdb_wait_for_compact_options_t*);
VARVE_C_API void rocksdb_wait_for_compact_options_set_wait_for_purge(rocksdb_wait_for_compact_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_wait_for_compact_options_get_wait_for_purge(rocksdb_wait_for_compact_options_t*);
VARVE_C_API void rocksdb_wait_for_compact_options_set_close_db(rocksdb_wait_for_compact_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_wait_for_compact_options_get_close_db(rocksdb_wait_for_compact_options_t*);
// clang-format on

// 0: no timeout.
VARVE_C_API void rocksdb_wait_for_compact_options_set_timeout(
    rocksdb_wait_for_compact_options_t* options, uint64_t microseconds);
VARVE_C_API uint64_t
rocksdb_wait_for_compact_options_get_timeout(rocksdb_wait_for_compact_options_t* options);

// ---- Reading merge operands ----

// These are the fields of GetMergeOperandsOptions under their names.
VARVE_C_API rocksdb_get_merge_operands_options_t* rocksdb_get_merge_operands_options_create(void);
VARVE_C_API void rocksdb_get_merge_operands_options_destroy(
    rocksdb_get_merge_operands_options_t* options);

// The default 0, which only C has, means no limit. A negative number is an error when reading.
VARVE_C_API void rocksdb_get_merge_operands_options_set_expected_max_number_of_operands(
    rocksdb_get_merge_operands_options_t* options, int value);
VARVE_C_API int rocksdb_get_merge_operands_options_get_expected_max_number_of_operands(
    rocksdb_get_merge_operands_options_t* options);

// The callback is called with each operand, newest first, but not with the base value; if it
// returns 0, the search ends after that operand. Null, the default: all operands are read. The same
// operands may be passed to it again.
VARVE_C_API void rocksdb_get_merge_operands_options_set_continue_cb(
    rocksdb_get_merge_operands_options_t* options, void* state,
    unsigned char (*continue_cb)(void* state, const char* operand, size_t size));

// ---- Size approximation ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of SizeApproximationOptions under their names.
VARVE_C_API rocksdb_size_approximation_options_t* rocksdb_size_approximation_options_create(void);
VARVE_C_API void rocksdb_size_approximation_options_destroy(rocksdb_size_approximation_options_t*);
VARVE_C_API void rocksdb_size_approximation_options_set_include_memtables(rocksdb_size_approximation_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_size_approximation_options_get_include_memtables(rocksdb_size_approximation_options_t*);
VARVE_C_API void rocksdb_size_approximation_options_set_include_files(rocksdb_size_approximation_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_size_approximation_options_get_include_files(rocksdb_size_approximation_options_t*);
VARVE_C_API void rocksdb_size_approximation_options_set_files_size_error_margin(rocksdb_size_approximation_options_t*, double);
VARVE_C_API double rocksdb_size_approximation_options_get_files_size_error_margin(rocksdb_size_approximation_options_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
