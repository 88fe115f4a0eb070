// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares iterators and snapshots. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Iterators ----

// An iterator shows the entries of a column family in key order, as they were when it was made.
//
//   rocksdb_iterator_t* it = rocksdb_create_iterator(db, read_options);
//   for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it)) ...
//   rocksdb_iter_get_error(it, &error);
//   rocksdb_iter_destroy(it);
//
// A new iterator has no position. Not thread-safe. Destroy it before the DB is closed; the read
// options may be destroyed earlier. Arguments must not be null, except in rocksdb_iter_destroy.
VARVE_C_API rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db,
                                                        const rocksdb_readoptions_t* options);
VARVE_C_API rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family);

// Makes iterators over one state of the database; `iterators` has room for num_families and is
// filled on success only.
VARVE_C_API void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options,
                                          rocksdb_column_family_handle_t** families,
                                          rocksdb_iterator_t** iterators, size_t num_families,
                                          char** errptr);
// Frees an iterator. Null is allowed.
VARVE_C_API void rocksdb_iter_destroy(rocksdb_iterator_t* iter);

// Returns 1 if the iterator is at an entry. Returns 0 after the last entry and after an error: see
// rocksdb_iter_get_error.
VARVE_C_API unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iter);
// Moves to the first entry, or to the last one.
VARVE_C_API void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iter);
VARVE_C_API void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iter);

// Moves to the first entry at or after the key; ..._for_prev to the last one at or before it.
VARVE_C_API void rocksdb_iter_seek(rocksdb_iterator_t* iter, const char* key, size_t keylen);
VARVE_C_API void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iter, const char* key,
                                            size_t keylen);

// These require a valid iterator. Their results are valid until the next move. With
// rocksdb_readoptions_set_allow_unprepared_value a value in a blob file is read when it is asked
// for; if that fails, the value is null, and the iterator is not valid and has the error.
VARVE_C_API void rocksdb_iter_next(rocksdb_iterator_t* iter);
VARVE_C_API void rocksdb_iter_prev(rocksdb_iterator_t* iter);
VARVE_C_API const char* rocksdb_iter_key(const rocksdb_iterator_t* iter, size_t* keylen);
VARVE_C_API const char* rocksdb_iter_value(const rocksdb_iterator_t* iter, size_t* vallen);
VARVE_C_API rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iter);
VARVE_C_API rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iter);

// Return the timestamp of the entry; empty if the comparator has no timestamps.
VARVE_C_API const char* rocksdb_iter_timestamp(const rocksdb_iterator_t* iter, size_t* tslen);
VARVE_C_API rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t* iter);
// Sets *errptr if the iterator stopped because of an error, and leaves it alone otherwise.
VARVE_C_API void rocksdb_iter_get_error(const rocksdb_iterator_t* iter, char** errptr);

// Reads the newest state from the next seek on.
VARVE_C_API void rocksdb_iter_refresh(const rocksdb_iterator_t* iter, char** errptr);

// ---- Snapshots ----

// A snapshot keeps the state of the database as it is now readable: pass it to reads by
// rocksdb_readoptions_set_snapshot. Returns null if the DB cannot take one. Release it before the
// DB is closed.
VARVE_C_API const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db);
VARVE_C_API void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot);
// Returns the number of the last write that the snapshot shows.
VARVE_C_API uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot);

#ifdef __cplusplus
}  // extern "C"
#endif
