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
// NotFound: seq_number is above the latest one, or no log has it any more. options may be null.
// Checksums are always compared, whatever verify_checksums (default 1) says.
VARVE_C_API rocksdb_wal_iterator_t* rocksdb_get_updates_since(
    rocksdb_t* db, uint64_t seq_number, const rocksdb_wal_readoptions_t* options, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_wal_readoptions_t* rocksdb_wal_readoptions_create(void);
VARVE_C_API void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t*);
VARVE_C_STORED void rocksdb_wal_readoptions_set_verify_checksums(rocksdb_wal_readoptions_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_wal_readoptions_get_verify_checksums(rocksdb_wal_readoptions_t*);
// clang-format on

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

// ---- Change streams ----

// Varve's own: all writes from a named, persistent position on. varve/change_stream.h describes the
// options and the calls.
// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_change_stream_options_t* rocksdb_change_stream_options_create(void);
VARVE_C_API void rocksdb_change_stream_options_destroy(rocksdb_change_stream_options_t*);
VARVE_C_API void rocksdb_change_stream_options_set_from(rocksdb_change_stream_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_change_stream_options_get_from(rocksdb_change_stream_options_t*);
VARVE_C_API void rocksdb_change_stream_options_set_create_if_missing(rocksdb_change_stream_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_change_stream_options_get_create_if_missing(rocksdb_change_stream_options_t*);
VARVE_C_API void rocksdb_change_stream_options_set_durable_only(rocksdb_change_stream_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_change_stream_options_get_durable_only(rocksdb_change_stream_options_t*);
VARVE_C_API void rocksdb_change_stream_options_set_max_retained_bytes(rocksdb_change_stream_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_change_stream_options_get_max_retained_bytes(rocksdb_change_stream_options_t*);
VARVE_C_API void rocksdb_change_stream_options_set_max_idle_seconds(rocksdb_change_stream_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_change_stream_options_get_max_idle_seconds(rocksdb_change_stream_options_t*);
// clang-format on

// Kinds of records. The last two are gaps: writes without the log or ingested files, and numbers
// that a log may have lost.
enum {
  rocksdb_change_nothing = 0,
  rocksdb_change_batch = 1,
  rocksdb_change_gap_not_logged = 2,
  rocksdb_change_gap_lost = 3
};

// The name of the position, which must be set.
VARVE_C_API void rocksdb_change_stream_options_set_name(rocksdb_change_stream_options_t* options,
                                                        const char* name, size_t size);
// Destroy streams before the database is closed, or do not use them afterwards.
VARVE_C_API rocksdb_change_stream_t* rocksdb_change_stream_open(
    rocksdb_t* db, const rocksdb_change_stream_options_t* options, char** errptr);
// Keeps the position.
VARVE_C_API void rocksdb_change_stream_destroy(rocksdb_change_stream_t* stream);
VARVE_C_API void rocksdb_change_stream_drop(rocksdb_t* db, const char* name, size_t size,
                                            char** errptr);

// Read the next record and return its kind; after an error it is rocksdb_change_nothing.
VARVE_C_API int rocksdb_change_stream_next(rocksdb_change_stream_t* stream, char** errptr);
VARVE_C_API int rocksdb_change_stream_wait_next(rocksdb_change_stream_t* stream,
                                                uint64_t timeout_micros, char** errptr);
// These describe the record that was read last. The numbers are inclusive, and 0 without a record.
VARVE_C_API uint64_t rocksdb_change_stream_first(const rocksdb_change_stream_t* stream);
VARVE_C_API uint64_t rocksdb_change_stream_last(const rocksdb_change_stream_t* stream);
// Returns a copy, which the caller owns; null if the record is no batch.
VARVE_C_API rocksdb_writebatch_t* rocksdb_change_stream_get_batch(
    const rocksdb_change_stream_t* stream);
// For a gap that was not logged: sets *count to the number of column families that may have it, and
// returns 1; returns 0 if they are not known. Names are valid until the next record is read; an
// index that is too large gives null.
VARVE_C_API unsigned char rocksdb_change_stream_families(const rocksdb_change_stream_t* stream,
                                                         size_t* count);
VARVE_C_API const char* rocksdb_change_stream_family_name(const rocksdb_change_stream_t* stream,
                                                          size_t index, size_t* size);

VARVE_C_API void rocksdb_change_stream_acknowledge(rocksdb_change_stream_t* stream, uint64_t last,
                                                   unsigned char durably, char** errptr);
VARVE_C_API uint64_t rocksdb_change_stream_position(const rocksdb_change_stream_t* stream);

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

// A filter decides, while a database is opened, which records of its logs are replayed; see
// varve/wal_filter.h. Options do not own it: it must outlive the opening. The callbacks may be
// null; without log_record_found every record is replayed. The handles of batches are valid during
// the call. The names given to the first callback do not end with a null byte.
VARVE_C_API void rocksdb_options_clear_wal_filter(rocksdb_options_t* options);
VARVE_C_API void rocksdb_options_set_wal_filter(rocksdb_options_t* options,
                                                rocksdb_walfilter_t* filter);
VARVE_C_API rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* state, void (*destructor)(void*),
    rocksdb_walfilter_column_family_log_number_map_cb column_family_log_number_map,
    rocksdb_walfilter_log_record_found_cb log_record_found, const char* (*name)(void*));
VARVE_C_API void rocksdb_walfilter_destroy(rocksdb_walfilter_t* filter);

#ifdef __cplusplus
}  // extern "C"
#endif
