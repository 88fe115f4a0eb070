// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares callbacks about the background work of a database, and the information that they get.
// Part of varve/c.h, which states the general rules.
//
// Infos and texts are valid during the callback that gets them, or as long as a handle that the
// program created. Texts have a length and, if they come from C++, a terminator. Times are in
// microseconds unless the name says nanos; sizes are in bytes. Null handles give 0, null or
// nothing.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Listeners ----

// Callbacks, any of which may be null, run on the thread that does the work, several at a time. The
// database passed to them is valid during the call; they must not close it or wait for its work.
typedef void (*on_flush_begin_cb)(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info);
typedef void (*on_flush_completed_cb)(void* state, rocksdb_t* db,
                                      const rocksdb_flushjobinfo_t* info);
typedef void (*on_compaction_begin_cb)(void* state, rocksdb_t* db,
                                       const rocksdb_compactionjobinfo_t* info);
typedef void (*on_compaction_completed_cb)(void* state, rocksdb_t* db,
                                           const rocksdb_compactionjobinfo_t* info);
typedef void (*on_subcompaction_begin_cb)(void* state, const rocksdb_subcompactionjobinfo_t* info);
typedef void (*on_subcompaction_completed_cb)(void* state,
                                              const rocksdb_subcompactionjobinfo_t* info);
typedef void (*on_external_file_ingested_cb)(void* state, rocksdb_t* db,
                                             const rocksdb_externalfileingestioninfo_t* info);
typedef void (*on_background_error_cb)(void* state, uint32_t reason, rocksdb_status_ptr_t* status);
typedef void (*on_stall_conditions_changed_cb)(void* state, const rocksdb_writestallinfo_t* info);
typedef void (*on_memtable_sealed_cb)(void* state, const rocksdb_memtableinfo_t* info);

// `destructor`, if given, is called with `state` when all options and databases have released the
// listener. Options take ownership of a listener, which may be given to several of them; one that
// was given to none must be destroyed by the caller.
VARVE_C_API rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void*), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb on_subcompaction_begin,
    on_subcompaction_completed_cb on_subcompaction_completed,
    on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed,
    on_memtable_sealed_cb on_memtable_sealed);
VARVE_C_API void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener);
VARVE_C_API void rocksdb_options_add_eventlistener(rocksdb_options_t* options,
                                                   rocksdb_eventlistener_t* listener);

// ---- Background errors ----

// The error that is passed to on_background_error. If the callback resets it, the error does not
// stop the database.
VARVE_C_API void rocksdb_reset_status(rocksdb_status_ptr_t* status_ptr);
VARVE_C_API void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr);

// ---- Flushes ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// flush_reason is a number of varve::FlushReason.
VARVE_C_API uint32_t rocksdb_flushjobinfo_blob_compression_type(const rocksdb_flushjobinfo_t*);
VARVE_C_API size_t rocksdb_flushjobinfo_blob_file_addition_infos_count(const rocksdb_flushjobinfo_t*);
VARVE_C_API uint32_t rocksdb_flushjobinfo_cf_id(const rocksdb_flushjobinfo_t*);
VARVE_C_API const char* rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t*, size_t*);
VARVE_C_API uint64_t rocksdb_flushjobinfo_file_number(const rocksdb_flushjobinfo_t*);
VARVE_C_API const char* rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t*, size_t*);
VARVE_C_API uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t*);
VARVE_C_API int rocksdb_flushjobinfo_job_id(const rocksdb_flushjobinfo_t*);
VARVE_C_API uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t*);
VARVE_C_API uint64_t rocksdb_flushjobinfo_oldest_blob_file_number(const rocksdb_flushjobinfo_t*);
VARVE_C_API uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t*);
VARVE_C_API const rocksdb_table_properties_t* rocksdb_flushjobinfo_table_properties(const rocksdb_flushjobinfo_t*);
VARVE_C_API uint64_t rocksdb_flushjobinfo_thread_id(const rocksdb_flushjobinfo_t*);
VARVE_C_API unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(const rocksdb_flushjobinfo_t*);
VARVE_C_API unsigned char rocksdb_flushjobinfo_triggered_writes_stop(const rocksdb_flushjobinfo_t*);
// clang-format on

// ---- Compactions ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// compaction_reason is a number of varve::CompactionReason. Indices begin at 0; an index out of
// range gives null. status sets an error if the job failed.
VARVE_C_API unsigned char rocksdb_compactionjobinfo_aborted(const rocksdb_compactionjobinfo_t*);
VARVE_C_API int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_compactionjobinfo_blob_compression_type(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_blob_file_addition_infos_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_blob_file_garbage_infos_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_compactionjobinfo_cf_id(const rocksdb_compactionjobinfo_t*);
VARVE_C_API const char* rocksdb_compactionjobinfo_cf_name(const rocksdb_compactionjobinfo_t*, size_t*);
VARVE_C_API uint32_t rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_compactionjobinfo_compression(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_input_file_infos_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t*);
VARVE_C_API int rocksdb_compactionjobinfo_job_id(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t*);
VARVE_C_API int rocksdb_compactionjobinfo_num_l0_files(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_output_file_infos_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_output_files_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t*);
VARVE_C_API const rocksdb_compaction_job_stats_t* rocksdb_compactionjobinfo_stats(const rocksdb_compactionjobinfo_t*);
VARVE_C_API size_t rocksdb_compactionjobinfo_table_properties_count(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_thread_id(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_compactionjobinfo_total_output_bytes(const rocksdb_compactionjobinfo_t*);

// Describes a part of a compaction that runs on its own thread.
VARVE_C_API int rocksdb_subcompactionjobinfo_base_input_level(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_subcompactionjobinfo_blob_compression_type(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_subcompactionjobinfo_cf_id(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API const char* rocksdb_subcompactionjobinfo_cf_name(const rocksdb_subcompactionjobinfo_t*, size_t*);
VARVE_C_API uint32_t rocksdb_subcompactionjobinfo_compaction_reason(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API uint32_t rocksdb_subcompactionjobinfo_compression(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API int rocksdb_subcompactionjobinfo_job_id(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API const rocksdb_compaction_job_stats_t* rocksdb_subcompactionjobinfo_stats(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API int rocksdb_subcompactionjobinfo_subcompaction_job_id(const rocksdb_subcompactionjobinfo_t*);
VARVE_C_API uint64_t rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t*);

// Files and counters of one job.
VARVE_C_API uint64_t rocksdb_compaction_file_info_file_number(const rocksdb_compaction_file_info_t*);
VARVE_C_API int rocksdb_compaction_file_info_level(const rocksdb_compaction_file_info_t*);
VARVE_C_API uint64_t rocksdb_compaction_file_info_oldest_blob_file_number(const rocksdb_compaction_file_info_t*);
VARVE_C_API unsigned char rocksdb_compaction_job_stats_has_accurate_num_input_records(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_cpu_micros(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_elapsed_micros(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_file_fsync_nanos(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_file_prepare_write_nanos(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_file_range_sync_nanos(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_file_write_nanos(const rocksdb_compaction_job_stats_t*);
VARVE_C_API unsigned char rocksdb_compaction_job_stats_is_full_compaction(const rocksdb_compaction_job_stats_t*);
VARVE_C_API unsigned char rocksdb_compaction_job_stats_is_manual_compaction(const rocksdb_compaction_job_stats_t*);
VARVE_C_API unsigned char rocksdb_compaction_job_stats_is_remote_compaction(const rocksdb_compaction_job_stats_t*);
VARVE_C_API const char* rocksdb_compaction_job_stats_largest_output_key_prefix(const rocksdb_compaction_job_stats_t*, size_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_blobs_read(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_corrupt_keys(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_expired_deletion_records(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_filtered_input_files_at_output_level(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_filtered_input_files(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_input_deletion_records(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_input_files_at_output_level(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_input_files_trivially_moved(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_input_files(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_input_records(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_output_files_blob(const rocksdb_compaction_job_stats_t*);
VARVE_C_API size_t rocksdb_compaction_job_stats_num_output_files(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_output_records(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_records_replaced(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_single_del_fallthru(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_num_single_del_mismatch(const rocksdb_compaction_job_stats_t*);
VARVE_C_API const char* rocksdb_compaction_job_stats_smallest_output_key_prefix(const rocksdb_compaction_job_stats_t*, size_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_blob_bytes_read(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_input_bytes(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_input_raw_key_bytes(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_input_raw_value_bytes(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_output_bytes_blob(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_output_bytes(const rocksdb_compaction_job_stats_t*);
VARVE_C_API uint64_t rocksdb_compaction_job_stats_total_skipped_input_bytes(const rocksdb_compaction_job_stats_t*);

// These describe blob files. Bytes are those of their records.
VARVE_C_API uint64_t rocksdb_blob_file_addition_info_blob_file_number(const rocksdb_blob_file_addition_info_t*);
VARVE_C_API const char* rocksdb_blob_file_addition_info_blob_file_path(const rocksdb_blob_file_addition_info_t*, size_t*);
VARVE_C_API uint64_t rocksdb_blob_file_addition_info_total_blob_bytes(const rocksdb_blob_file_addition_info_t*);
VARVE_C_API uint64_t rocksdb_blob_file_addition_info_total_blob_count(const rocksdb_blob_file_addition_info_t*);
VARVE_C_API uint64_t rocksdb_blob_file_garbage_info_blob_file_number(const rocksdb_blob_file_garbage_info_t*);
VARVE_C_API const char* rocksdb_blob_file_garbage_info_blob_file_path(const rocksdb_blob_file_garbage_info_t*, size_t*);
VARVE_C_API uint64_t rocksdb_blob_file_garbage_info_garbage_blob_bytes(const rocksdb_blob_file_garbage_info_t*);
VARVE_C_API uint64_t rocksdb_blob_file_garbage_info_garbage_blob_count(const rocksdb_blob_file_garbage_info_t*);
// clang-format on

VARVE_C_API rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create(void);
VARVE_C_API void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info);
VARVE_C_API const char* rocksdb_compactionjobinfo_input_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos, size_t* size);
VARVE_C_API const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_input_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos);
VARVE_C_API const rocksdb_blob_file_addition_info_t*
rocksdb_flushjobinfo_blob_file_addition_info_at(const rocksdb_flushjobinfo_t* info, size_t pos);
VARVE_C_API const rocksdb_blob_file_addition_info_t*
rocksdb_compactionjobinfo_blob_file_addition_info_at(const rocksdb_compactionjobinfo_t* info,
                                                     size_t pos);
VARVE_C_API const rocksdb_blob_file_garbage_info_t*
rocksdb_compactionjobinfo_blob_file_garbage_info_at(const rocksdb_compactionjobinfo_t* info,
                                                    size_t pos);
VARVE_C_API const char* rocksdb_compactionjobinfo_output_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos, size_t* size);
VARVE_C_API const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_output_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos);
VARVE_C_API void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info,
                                                  char** errptr);
VARVE_C_API const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* info, const char* file_name, size_t file_name_len);
VARVE_C_API const char* rocksdb_compactionjobinfo_table_properties_key_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos, size_t* key_len);
VARVE_C_API const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos);

VARVE_C_API void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info,
                                                     char** errptr);

// ---- Other events ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// condition numbers: 0 delayed, 1 stopped, 2 normal.
VARVE_C_API const char* rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t*, size_t*);
VARVE_C_API uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t*);
VARVE_C_API uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t*);
VARVE_C_API const char* rocksdb_memtableinfo_newest_udt(const rocksdb_memtableinfo_t*, size_t*);
VARVE_C_API uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t*);
VARVE_C_API uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t*);
VARVE_C_API const char* rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t*, size_t*);
VARVE_C_API const rocksdb_writestallcondition_t* rocksdb_writestallinfo_cur(const rocksdb_writestallinfo_t*);
VARVE_C_API const rocksdb_writestallcondition_t* rocksdb_writestallinfo_prev(const rocksdb_writestallinfo_t*);

// Describes an ingested file.
VARVE_C_API const char* rocksdb_externalfileingestioninfo_cf_name(const rocksdb_externalfileingestioninfo_t*, size_t*);
VARVE_C_API const char* rocksdb_externalfileingestioninfo_external_file_path(const rocksdb_externalfileingestioninfo_t*, size_t*);
VARVE_C_API uint64_t rocksdb_externalfileingestioninfo_global_seqno(const rocksdb_externalfileingestioninfo_t*);
VARVE_C_API const char* rocksdb_externalfileingestioninfo_internal_file_path(const rocksdb_externalfileingestioninfo_t*, size_t*);
VARVE_C_API const rocksdb_table_properties_t* rocksdb_externalfileingestioninfo_table_properties(const rocksdb_externalfileingestioninfo_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
