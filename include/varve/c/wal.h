// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares log files and their contents. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Log files ----

// Get the current log file, or the list of all, oldest first. The list owns its files. Sizes are in
// bytes.
VARVE_C_API rocksdb_wal_file_t* rocksdb_get_current_wal_file(rocksdb_t* db, char** errptr);
VARVE_C_API rocksdb_wal_files_t* rocksdb_get_sorted_wal_files(rocksdb_t* db, char** errptr);
VARVE_C_API void rocksdb_wal_file_destroy(rocksdb_wal_file_t* file);
VARVE_C_API uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t* file);
VARVE_C_API const char* rocksdb_wal_file_path_name(const rocksdb_wal_file_t* file);
VARVE_C_API uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t* file);
VARVE_C_API uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t* file);
VARVE_C_API int rocksdb_wal_file_type(const rocksdb_wal_file_t* file);
VARVE_C_API size_t rocksdb_wal_files_count(const rocksdb_wal_files_t* files);
VARVE_C_API void rocksdb_wal_files_destroy(rocksdb_wal_files_t* files);
VARVE_C_API const rocksdb_wal_file_t* rocksdb_wal_files_get_wal_file(
    const rocksdb_wal_files_t* files, size_t index);

// ---- Updates since a sequence number ----

// Returns an iterator that begins with the batch that contains seq_number; 0 is taken as 1.
// NotFound: it is above the latest one, or no log has it any more. options may be null. Checksums
// are always compared, whatever verify_checksums (default 1) says.
VARVE_C_API rocksdb_wal_iterator_t* rocksdb_get_updates_since(
    rocksdb_t* db, uint64_t seq_number, const rocksdb_wal_readoptions_t* options, char** errptr);
VARVE_C_API rocksdb_wal_readoptions_t* rocksdb_wal_readoptions_create(void);
VARVE_C_API void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t* options);
VARVE_C_STORED unsigned char rocksdb_wal_readoptions_get_verify_checksums(
    rocksdb_wal_readoptions_t* options);
VARVE_C_STORED void rocksdb_wal_readoptions_set_verify_checksums(rocksdb_wal_readoptions_t* options,
                                                                 unsigned char verify_checksums);

// The caller owns the batches. The iterator is not valid where there is no batch: without an error,
// all visible updates have been returned, and then and after TryAgain rocksdb_wal_iter_next looks
// again; after NotFound no log has the next sequence numbers. Destroy iterators before the database
// is closed, or do not use them afterwards.
VARVE_C_API rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iter,
                                                             uint64_t* seq);
VARVE_C_API void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter);
VARVE_C_API void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iter);
VARVE_C_API void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iter, char** errptr);
VARVE_C_API unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iterator);

// ---- Filters of recovery ----

// Results of log_record_found.
enum {
  rocksdb_wal_filter_continue_processing = 0,
  rocksdb_wal_filter_ignore_current_record = 1,
  rocksdb_wal_filter_stop_replay = 2,
  rocksdb_wal_filter_corrupted_record = 3
};
typedef void (*rocksdb_walfilter_column_family_log_number_map_cb)(
    void* state, const uint32_t* column_family_ids, const uint64_t* log_numbers,
    size_t column_family_log_number_count, const char* const* column_family_names,
    const size_t* column_family_name_lengths, const uint32_t* column_family_name_ids,
    size_t column_family_name_count);
typedef int (*rocksdb_walfilter_log_record_found_cb)(void* state, unsigned long long log_number,
                                                     const char* log_file_name,
                                                     size_t log_file_name_len,
                                                     const rocksdb_writebatch_t* batch,
                                                     rocksdb_writebatch_t* new_batch,
                                                     unsigned char* batch_changed);

// Varve has no such filters: opening with one returns NotSupported. Options do not own it.
VARVE_C_STORED void rocksdb_options_clear_wal_filter(rocksdb_options_t* options);
VARVE_C_STORED void rocksdb_options_set_wal_filter(rocksdb_options_t* options,
                                                   rocksdb_walfilter_t* filter);
VARVE_C_STORED rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* state, void (*destructor)(void*),
    rocksdb_walfilter_column_family_log_number_map_cb column_family_log_number_map,
    rocksdb_walfilter_log_record_found_cb log_record_found, const char* (*name)(void*));
VARVE_C_STORED void rocksdb_walfilter_destroy(rocksdb_walfilter_t* filter);

#ifdef __cplusplus
}  // extern "C"
#endif
