// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares statistics and the perf context. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Statistics ----

// Must be called before a database is opened; databases opened with copies of the options share the
// statistics.
VARVE_C_API void rocksdb_options_enable_statistics(rocksdb_options_t* options);

// Levels are rocksdb_statistics_level_... . Without statistics the setter has no effect, and the
// getter returns "disable all".
VARVE_C_API void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level);
VARVE_C_API int rocksdb_options_get_statistics_level(rocksdb_options_t* options);

// Returns a malloc'ed text; null without statistics.
VARVE_C_API char* rocksdb_options_statistics_get_string(rocksdb_options_t* options);

// ticker_type is a number of enum Tickers (varve/statistics.h). Returns 0 for an unknown one.
VARVE_C_API uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                                 uint32_t ticker_type);

// histogram_type is a number of enum Histograms. An unknown one gives zeros.
VARVE_C_API void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create(void);
VARVE_C_API void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_median(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_p95(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_p99(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_average(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_std_dev(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_max(rocksdb_statistics_histogram_data_t*);
VARVE_C_API uint64_t rocksdb_statistics_histogram_data_get_count(rocksdb_statistics_histogram_data_t*);
VARVE_C_API uint64_t rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t*);
VARVE_C_API double rocksdb_statistics_histogram_data_get_min(rocksdb_statistics_histogram_data_t*);
// clang-format on

// ---- Metrics texts ----

// These functions (varve/utilities/metrics.h) are not in RocksDB.

// Return all metrics of a database with the default options, as Prometheus's text or as JSON: a
// malloc'ed, zero-terminated text, or null with an error.
VARVE_C_API char* rocksdb_metrics_text(rocksdb_t* db, char** errptr);
VARVE_C_API char* rocksdb_metrics_json(rocksdb_t* db, char** errptr);

// Writes the text to the file `path`, which is replaced at once.
VARVE_C_API void rocksdb_metrics_dump(rocksdb_t* db, const char* path, char** errptr);

// ---- Perf context ----

// The metrics of rocksdb_perfcontext_metric, the fields of varve::PerfContext, whose header says
// what they count and which stay zero. The last ones, from rocksdb_data_block_read_byte on, are
// RocksDB's only and are 0. The total is RocksDB's number, which is two more than it has names.
enum {
  rocksdb_user_key_comparison_count = 0,
  rocksdb_block_cache_hit_count,
  rocksdb_block_read_count,
  rocksdb_block_read_byte,
  rocksdb_block_read_time,
  rocksdb_block_checksum_time,
  rocksdb_block_decompress_time,
  rocksdb_get_read_bytes,
  rocksdb_multiget_read_bytes,
  rocksdb_iter_read_bytes,
  rocksdb_internal_key_skipped_count,
  rocksdb_internal_delete_skipped_count,
  rocksdb_internal_recent_skipped_count,
  rocksdb_internal_merge_count,
  rocksdb_get_snapshot_time,
  rocksdb_get_from_memtable_time,
  rocksdb_get_from_memtable_count,
  rocksdb_get_post_process_time,
  rocksdb_get_from_output_files_time,
  rocksdb_seek_on_memtable_time,
  rocksdb_seek_on_memtable_count,
  rocksdb_next_on_memtable_count,
  rocksdb_prev_on_memtable_count,
  rocksdb_seek_child_seek_time,
  rocksdb_seek_child_seek_count,
  rocksdb_seek_min_heap_time,
  rocksdb_seek_max_heap_time,
  rocksdb_seek_internal_seek_time,
  rocksdb_find_next_user_entry_time,
  rocksdb_write_wal_time,
  rocksdb_write_memtable_time,
  rocksdb_write_delay_time,
  rocksdb_write_pre_and_post_process_time,
  rocksdb_db_mutex_lock_nanos,
  rocksdb_db_condition_wait_nanos,
  rocksdb_merge_operator_time_nanos,
  rocksdb_read_index_block_nanos,
  rocksdb_read_filter_block_nanos,
  rocksdb_new_table_block_iter_nanos,
  rocksdb_new_table_iterator_nanos,
  rocksdb_block_seek_nanos,
  rocksdb_find_table_nanos,
  rocksdb_bloom_memtable_hit_count,
  rocksdb_bloom_memtable_miss_count,
  rocksdb_bloom_sst_hit_count,
  rocksdb_bloom_sst_miss_count,
  rocksdb_key_lock_wait_time,
  rocksdb_key_lock_wait_count,
  rocksdb_env_new_sequential_file_nanos,
  rocksdb_env_new_random_access_file_nanos,
  rocksdb_env_new_writable_file_nanos,
  rocksdb_env_reuse_writable_file_nanos,
  rocksdb_env_new_random_rw_file_nanos,
  rocksdb_env_new_directory_nanos,
  rocksdb_env_file_exists_nanos,
  rocksdb_env_get_children_nanos,
  rocksdb_env_get_children_file_attributes_nanos,
  rocksdb_env_delete_file_nanos,
  rocksdb_env_create_dir_nanos,
  rocksdb_env_create_dir_if_missing_nanos,
  rocksdb_env_delete_dir_nanos,
  rocksdb_env_get_file_size_nanos,
  rocksdb_env_get_file_modification_time_nanos,
  rocksdb_env_rename_file_nanos,
  rocksdb_env_link_file_nanos,
  rocksdb_env_lock_file_nanos,
  rocksdb_env_unlock_file_nanos,
  rocksdb_env_new_logger_nanos,
  rocksdb_number_async_seek,
  rocksdb_blob_cache_hit_count,
  rocksdb_blob_read_count,
  rocksdb_blob_read_byte,
  rocksdb_blob_read_time,
  rocksdb_blob_checksum_time,
  rocksdb_blob_decompress_time,
  rocksdb_internal_range_del_reseek_count,
  rocksdb_block_read_cpu_time,
  rocksdb_internal_merge_point_lookup_count,
  rocksdb_data_block_read_byte,
  rocksdb_index_block_read_byte,
  rocksdb_filter_block_read_byte,
  rocksdb_compression_dict_block_read_byte,
  rocksdb_metadata_block_read_byte,
  rocksdb_blob_cache_read_byte,
  rocksdb_total_metric_count = 86
};

// Sets what is counted for the calling thread. Levels are the numbers of enum PerfLevel
// (varve/perf_level.h), not of the older rocksdb_enable_..., of which only the first three agree.
VARVE_C_API void rocksdb_set_perf_level(int level);

// Returns the context of the calling thread, for use on that thread only.
VARVE_C_API rocksdb_perfcontext_t* rocksdb_perfcontext_create(void);
// Sets all counters of the calling thread to zero.
VARVE_C_API void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context);

// Returns a malloc'ed text.
VARVE_C_API char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                             unsigned char exclude_zero_counters);

// `metric` is a number of the enum above; the result is 0 for one that is not counted here.
VARVE_C_API uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
