// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the functions for opening databases, column families, writing, reading and maintenance.
// Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Opening and closing ----

// Open a database and return its handle; null, with a message in *errptr, after an error. The
// options are copied, but not the objects that they refer to without owning them: see the setters.
VARVE_C_API rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name,
                                    char** errptr);
VARVE_C_API rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options,
                                                  const char* name,
                                                  unsigned char error_if_wal_file_exists,
                                                  char** errptr);

// All existing families must be named, "default" too; a read-only open may omit some. `handles` has
// room for num_families and is filled on success only.
VARVE_C_API rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options,
                                                    const char* name, int num_families,
                                                    const char* const* family_names,
                                                    const rocksdb_options_t* const* family_options,
                                                    rocksdb_column_family_handle_t** handles,
                                                    char** errptr);
VARVE_C_API rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int num_families,
    const char* const* family_names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, unsigned char error_if_wal_file_exists,
    char** errptr);

// Opens for reading a database that another process writes; the LOG goes into secondary_path.
// rocksdb_try_catch_up_with_primary reads what has been written since.
VARVE_C_API rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                                 const char* secondary_path, char** errptr);
VARVE_C_API rocksdb_t* rocksdb_open_as_secondary_column_families(
    const rocksdb_options_t* options, const char* name, const char* secondary_path,
    int num_families, const char* const* family_names,
    const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
    char** errptr);
VARVE_C_API void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr);

// Requires that all column family handles, iterators, snapshots and pinned values have been
// released.
VARVE_C_API void rocksdb_close(rocksdb_t* db);

// Deletes a closed database with all its files. A missing one is no error.
VARVE_C_API void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name,
                                    char** errptr);
// Repairs a database that cannot be opened, and keeps all readable data
// (varve/utilities/repair.h).
VARVE_C_API void rocksdb_repair_db(const rocksdb_options_t* options, const char* name,
                                   char** errptr);

// ---- Column families ----

// Returns the names of all families of a database, *num_families of them. The database may be
// closed.
VARVE_C_API char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name,
                                                size_t* num_families, char** errptr);
// Frees a list that the function above returned.
VARVE_C_API void rocksdb_list_column_families_destroy(char** list, size_t num_families);
// Creates a column family with the options, and returns its handle, which must be destroyed before
// the database is closed. If only its OPTIONS file could not be written, the family exists: then
// there is a handle as well as an error.
VARVE_C_API rocksdb_column_family_handle_t* rocksdb_create_column_family(
    rocksdb_t* db, const rocksdb_options_t* options, const char* name, char** errptr);

// Stops at the first error. Sets *num_created to the number of handles in the result, also after an
// error. Returns null if there are none.
VARVE_C_API rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* options, int num_families, const char* const* names,
    size_t* num_created, char** errptr);

// Frees the list, not the handles in it.
VARVE_C_API void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list);

// The data can still be read through open handles and iterators.
VARVE_C_API void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                            char** errptr);

// Returns a handle, which must be destroyed like other handles.
VARVE_C_API rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db);
// Frees a handle; the column family stays. Null is allowed.
VARVE_C_API void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* handle);
// Returns the number that no other column family of the database has or gets.
VARVE_C_API uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* handle);

// Returns a malloc'ed name without terminator.
VARVE_C_API char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* handle,
                                                        size_t* name_len);

// ---- Writing ----

// Each call is one atomic update, logged as the write options say. Functions named ..._cf take a
// column family, the others use "default". Functions named ..._with_ts are only for column
// families whose comparator has timestamps; ts must have that size.
//
// Keys and values are any bytes, of the given lengths, and are copied. WriteOptions in
// varve/options.h says what a write promises, if it succeeded and if it set *errptr.
VARVE_C_API void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                             size_t keylen, const char* val, size_t vallen, char** errptr);
VARVE_C_API void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                rocksdb_column_family_handle_t* family, const char* key,
                                size_t keylen, const char* val, size_t vallen, char** errptr);
VARVE_C_API void rocksdb_put_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                     const char* key, size_t keylen, const char* ts, size_t tslen,
                                     const char* val, size_t vallen, char** errptr);
VARVE_C_API void rocksdb_put_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                        rocksdb_column_family_handle_t* family, const char* key,
                                        size_t keylen, const char* ts, size_t tslen,
                                        const char* val, size_t vallen, char** errptr);

// A missing key is no error.
VARVE_C_API void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                const char* key, size_t keylen, char** errptr);
VARVE_C_API void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                   rocksdb_column_family_handle_t* family, const char* key,
                                   size_t keylen, char** errptr);
VARVE_C_API void rocksdb_delete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                        const char* key, size_t keylen, const char* ts,
                                        size_t tslen, char** errptr);
VARVE_C_API void rocksdb_delete_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                           rocksdb_column_family_handle_t* family, const char* key,
                                           size_t keylen, const char* ts, size_t tslen,
                                           char** errptr);

// Requires that the key was put exactly once since it was last deleted.
VARVE_C_API void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                      const char* key, size_t keylen, char** errptr);
VARVE_C_API void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                         rocksdb_column_family_handle_t* family, const char* key,
                                         size_t keylen, char** errptr);
VARVE_C_API void rocksdb_singledelete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                              const char* key, size_t keylen, const char* ts,
                                              size_t tslen, char** errptr);
VARVE_C_API void rocksdb_singledelete_cf_with_ts(rocksdb_t* db,
                                                 const rocksdb_writeoptions_t* options,
                                                 rocksdb_column_family_handle_t* family,
                                                 const char* key, size_t keylen, const char* ts,
                                                 size_t tslen, char** errptr);

// Deletes the keys from start_key up to, but not including, end_key.
VARVE_C_API void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                         rocksdb_column_family_handle_t* family,
                                         const char* start_key, size_t start_key_len,
                                         const char* end_key, size_t end_key_len, char** errptr);

// It is an error if the family has no merge operator.
VARVE_C_API void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               const char* key, size_t keylen, const char* val, size_t vallen,
                               char** errptr);
VARVE_C_API void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t keylen, const char* val, size_t vallen, char** errptr);

// Applies the batch atomically. It is also an error if an earlier update could not be added to the
// batch.
VARVE_C_API void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               rocksdb_writebatch_t* batch, char** errptr);

// ---- Reading ----

// Return malloc'ed copies of the value, without terminator, and its size in *vallen; those named
// ..._with_ts also set *ts to a malloc'ed copy of its timestamp, of *tslen bytes. For a missing key
// they return null, with sizes of 0, and no error.
VARVE_C_API char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                              size_t keylen, size_t* vallen, char** errptr);
VARVE_C_API char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                 rocksdb_column_family_handle_t* family, const char* key,
                                 size_t keylen, size_t* vallen, char** errptr);
VARVE_C_API char* rocksdb_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                      const char* key, size_t keylen, size_t* vallen, char** ts,
                                      size_t* tslen, char** errptr);
VARVE_C_API char* rocksdb_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                         rocksdb_column_family_handle_t* family, const char* key,
                                         size_t keylen, size_t* vallen, char** ts, size_t* tslen,
                                         char** errptr);

// Return the value without a copy. The slice must be destroyed before the DB is closed.
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db,
                                                        const rocksdb_readoptions_t* options,
                                                        const char* key, size_t keylen,
                                                        char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family,
                                                           const char* key, size_t keylen,
                                                           char** errptr);
VARVE_C_API void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value);

// Returns the value, valid until the slice is destroyed; null, of size 0, for a null slice.
VARVE_C_API const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* value,
                                                    size_t* vallen);

// These are the same functions under other names.
VARVE_C_API rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db,
                                                             const rocksdb_readoptions_t* options,
                                                             const char* key, size_t keylen,
                                                             char** errptr);
VARVE_C_API rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(
    rocksdb_t* db, const rocksdb_readoptions_t* options, rocksdb_column_family_handle_t* family,
    const char* key, size_t keylen, char** errptr);
VARVE_C_API const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle,
                                                          size_t* vallen);
VARVE_C_API void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle);

// Returns 1 if the value, of *vallen bytes, is in the buffer. If it returns 0, *found says whether
// the value exists and was too large.
VARVE_C_API unsigned char rocksdb_get_into_buffer(rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options,
                                                  const char* key, size_t keylen, char* buffer,
                                                  size_t buffer_size, size_t* vallen,
                                                  unsigned char* found, char** errptr);
VARVE_C_API unsigned char rocksdb_get_into_buffer_cf(rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     rocksdb_column_family_handle_t* family,
                                                     const char* key, size_t keylen, char* buffer,
                                                     size_t buffer_size, size_t* vallen,
                                                     unsigned char* found, char** errptr);

// Read many keys at one state of the database. Arrays have num_keys elements; values[i] and errs[i]
// are set to malloc'ed memory or null, both null for a missing key. The old contents of errs are
// ignored.
VARVE_C_API void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                   size_t num_keys, const char* const* keys,
                                   const size_t* key_sizes, char** values, size_t* value_sizes,
                                   char** errs);
// Also return the timestamps of the values, malloc'ed like the values.
VARVE_C_API void rocksdb_multi_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                           size_t num_keys, const char* const* keys,
                                           const size_t* key_sizes, char** values,
                                           size_t* value_sizes, char** timestamps,
                                           size_t* timestamp_sizes, char** errs);
VARVE_C_API void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                      const rocksdb_column_family_handle_t* const* families,
                                      size_t num_keys, const char* const* keys,
                                      const size_t* key_sizes, char** values, size_t* value_sizes,
                                      char** errs);

VARVE_C_API void rocksdb_multi_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                              const rocksdb_column_family_handle_t* const* families,
                                              size_t num_keys, const char* const* keys,
                                              const size_t* key_sizes, char** values,
                                              size_t* value_sizes, char** timestamps,
                                              size_t* timestamp_sizes, char** errs);

// Reads keys of one family without copying the values. sorted_input: the keys are already in its
// order.
VARVE_C_API void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                              rocksdb_column_family_handle_t* family,
                                              size_t num_keys, const char* const* keys,
                                              const size_t* key_sizes,
                                              rocksdb_pinnableslice_t** values, char** errs,
                                              const bool sorted_input);
VARVE_C_API void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db,
                                                    const rocksdb_readoptions_t* options,
                                                    rocksdb_column_family_handle_t* family,
                                                    size_t num_keys, const rocksdb_slice_t* keys,
                                                    rocksdb_pinnableslice_t** values, char** errs,
                                                    const bool sorted_input);

// Get the operands of a key as they were written, oldest first, preceded by the base value if there
// is one. Return 1 if the key exists and `operands` holds them; its old contents are replaced.
// options may be null for all defaults. *number_of_operands, which may be null, gets their number
// even when they are more than the options expect, which is an error. Not in RocksDB's header.
VARVE_C_API unsigned char rocksdb_get_merge_operands(
    rocksdb_t* db, const rocksdb_readoptions_t* read_options, const char* key, size_t keylen,
    const rocksdb_get_merge_operands_options_t* options, rocksdb_merge_operands_t* operands,
    int* number_of_operands, char** errptr);
VARVE_C_API unsigned char rocksdb_get_merge_operands_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* read_options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
    const rocksdb_get_merge_operands_options_t* options, rocksdb_merge_operands_t* operands,
    int* number_of_operands, char** errptr);

// Holds the operands of a read. If it is reused, it needs no new memory for small operands. Many or
// large operands are not copied: the memory they lie in stays pinned until the next read, clear or
// destroy, one of which must happen before the DB is closed.
VARVE_C_API rocksdb_merge_operands_t* rocksdb_merge_operands_create(void);
VARVE_C_API void rocksdb_merge_operands_destroy(rocksdb_merge_operands_t* operands);
VARVE_C_API void rocksdb_merge_operands_clear(rocksdb_merge_operands_t* operands);
VARVE_C_API size_t rocksdb_merge_operands_count(const rocksdb_merge_operands_t* operands);

// Returns operand `index`, of *size bytes; null, of size 0, if the index is too large.
VARVE_C_API const char* rocksdb_merge_operands_value(const rocksdb_merge_operands_t* operands,
                                                     size_t index, size_t* size);

// Return 0 if the key is surely absent, else 1, also after an error. Do no I/O. *value_found (may
// be null) becomes 1 if the value is in memory or the key is surely absent; then *value, unless
// null, is a malloc'ed copy of *val_len bytes, empty for an absent key, to be freed. Else *value is
// not set. A timestamp of length 0 means none.
VARVE_C_API unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                const char* key, size_t key_len, char** value,
                                                size_t* val_len, const char* timestamp,
                                                size_t timestamp_len, unsigned char* value_found);
VARVE_C_API unsigned char rocksdb_key_may_exist_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options, rocksdb_column_family_handle_t* family,
    const char* key, size_t key_len, char** value, size_t* val_len, const char* timestamp,
    size_t timestamp_len, unsigned char* value_found);

// ---- Flushing ----

// Write memtables to table files.
VARVE_C_API void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr);
VARVE_C_API void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                                  rocksdb_column_family_handle_t* family, char** errptr);
VARVE_C_API void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                                   rocksdb_column_family_handle_t** families, int num_families,
                                   char** errptr);

// Writes the log's buffer to the operating system and, if `sync`, to stable storage.
VARVE_C_API void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr);
VARVE_C_API void rocksdb_flush_wal_with_options(rocksdb_t* db,
                                                const rocksdb_flushwaloptions_t* options,
                                                char** errptr);

// ---- Compaction ----

// Compact [start_key, limit_key], both included; null means from the first or to the last key.
// Errors are only written to the info log.
VARVE_C_API void rocksdb_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                                       const char* limit_key, size_t limit_key_len);
VARVE_C_API void rocksdb_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                          const char* start_key, size_t start_key_len,
                                          const char* limit_key, size_t limit_key_len);

// options may be null.
VARVE_C_API void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options,
                                           const char* start_key, size_t start_key_len,
                                           const char* limit_key, size_t limit_key_len);
VARVE_C_API void rocksdb_compact_range_cf_opt(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                              rocksdb_compactoptions_t* options,
                                              const char* start_key, size_t start_key_len,
                                              const char* limit_key, size_t limit_key_len);

// Marks the range for background compaction.
VARVE_C_API void rocksdb_suggest_compact_range(rocksdb_t* db, const char* start_key,
                                               size_t start_key_len, const char* limit_key,
                                               size_t limit_key_len, char** errptr);
VARVE_C_API void rocksdb_suggest_compact_range_cf(rocksdb_t* db,
                                                  rocksdb_column_family_handle_t* family,
                                                  const char* start_key, size_t start_key_len,
                                                  const char* limit_key, size_t limit_key_len,
                                                  char** errptr);

// Deletes tables that lie wholly within the range, even if snapshots still see their entries.
VARVE_C_API void rocksdb_delete_file_in_range(rocksdb_t* db, const char* start_key,
                                              size_t start_key_len, const char* limit_key,
                                              size_t limit_key_len, char** errptr);
VARVE_C_API void rocksdb_delete_file_in_range_cf(rocksdb_t* db,
                                                 rocksdb_column_family_handle_t* family,
                                                 const char* start_key, size_t start_key_len,
                                                 const char* limit_key, size_t limit_key_len,
                                                 char** errptr);

// Waits until there is nothing left to flush or compact.
VARVE_C_API void rocksdb_wait_for_compact(rocksdb_t* db,
                                          rocksdb_wait_for_compact_options_t* options,
                                          char** errptr);

// These calls nest.
VARVE_C_API void rocksdb_pause_background_work(rocksdb_t* db, char** errptr);
VARVE_C_API void rocksdb_continue_background_work(rocksdb_t* db, char** errptr);

// Ends all background work permanently; with `wait`, returns when it has ended.
VARVE_C_API void rocksdb_cancel_all_background_work(rocksdb_t* db, unsigned char wait);
VARVE_C_API void rocksdb_disable_manual_compaction(rocksdb_t* db);
VARVE_C_API void rocksdb_enable_manual_compaction(rocksdb_t* db);

// ---- Files ----

// These calls nest: files are deleted again after as many enable as disable calls.
VARVE_C_API void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr);
VARVE_C_API void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr);

// Read everything and compare the checksums of blocks, or of whole files.
VARVE_C_API void rocksdb_verify_checksum(rocksdb_t* db, char** errptr);
VARVE_C_API void rocksdb_verify_checksum_with_options(rocksdb_t* db,
                                                      const rocksdb_readoptions_t* options,
                                                      char** errptr);
VARVE_C_API void rocksdb_verify_file_checksums(rocksdb_t* db, char** errptr);
VARVE_C_API void rocksdb_verify_file_checksums_with_options(rocksdb_t* db,
                                                            const rocksdb_readoptions_t* options,
                                                            char** errptr);

// Returns a malloc'ed text without terminator; null if there is none.
VARVE_C_API char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_len);
VARVE_C_API uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db);

// Set and get full_history_ts_low, below which the history of a column family with timestamps need
// not be kept (varve/db.h). The result is empty if it was not set, and must be freed.
VARVE_C_API void rocksdb_increase_full_history_ts_low(rocksdb_t* db,
                                                      rocksdb_column_family_handle_t* family,
                                                      const char* ts_low, size_t ts_lowlen,
                                                      char** errptr);
VARVE_C_API char* rocksdb_get_full_history_ts_low(rocksdb_t* db,
                                                  rocksdb_column_family_handle_t* family,
                                                  size_t* ts_lowlen, char** errptr);

// ---- Options of an open database ----

// Change `count` dynamic options, given by names and values: all of them, or none after an error.
VARVE_C_API void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[],
                                     const char* const values[], char** errptr);
VARVE_C_API void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                        int count, const char* const keys[],
                                        const char* const values[], char** errptr);
VARVE_C_API void rocksdb_set_db_options(rocksdb_t* db, int count, const char* const keys[],
                                        const char* const values[], char** errptr);

// ---- Properties and sizes ----

// Return a malloc'ed text; null for an unknown name.
VARVE_C_API char* rocksdb_property_value(rocksdb_t* db, const char* propname);
VARVE_C_API char* rocksdb_property_value_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                            const char* propname);

// Return 0, or -1 if the name is unknown or its value is not a number.
VARVE_C_API int rocksdb_property_int(rocksdb_t* db, const char* propname, uint64_t* out_val);
VARVE_C_API int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                        const char* propname, uint64_t* out_val);

// Set sizes[i] to the bytes in table files of the i-th of num_ranges ranges, which exclude their
// limit.
VARVE_C_API void rocksdb_approximate_sizes(rocksdb_t* db, int num_ranges,
                                           const char* const* range_start_key,
                                           const size_t* range_start_key_len,
                                           const char* const* range_limit_key,
                                           const size_t* range_limit_key_len, uint64_t* sizes,
                                           char** errptr);
VARVE_C_API void rocksdb_approximate_sizes_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                              int num_ranges, const char* const* range_start_key,
                                              const size_t* range_start_key_len,
                                              const char* const* range_limit_key,
                                              const size_t* range_limit_key_len, uint64_t* sizes,
                                              char** errptr);

// include_flags is a sum of rocksdb_size_approximation_flags_... values.
VARVE_C_API void rocksdb_approximate_sizes_cf_with_flags(
    rocksdb_t* db, rocksdb_column_family_handle_t* family, int num_ranges,
    const char* const* range_start_key, const size_t* range_start_key_len,
    const char* const* range_limit_key, const size_t* range_limit_key_len, uint8_t include_flags,
    uint64_t* sizes, char** errptr);
VARVE_C_API void rocksdb_approximate_sizes_with_options(
    rocksdb_t* db, const rocksdb_size_approximation_options_t* options, int num_ranges,
    const char* const* range_start_key, const size_t* range_start_key_len,
    const char* const* range_limit_key, const size_t* range_limit_key_len, uint64_t* sizes,
    char** errptr);
VARVE_C_API void rocksdb_approximate_sizes_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* family,
    const rocksdb_size_approximation_options_t* options, int num_ranges,
    const char* const* range_start_key, const size_t* range_start_key_len,
    const char* const* range_limit_key, const size_t* range_limit_key_len, uint64_t* sizes,
    char** errptr);

#ifdef __cplusplus
}  // extern "C"
#endif
