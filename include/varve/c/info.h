// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares information about files, levels and memory. Part of varve/c.h, which states the general
// rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Table files ----

// Lists all tables of all families. An index out of range gives null or 0; texts live as long as
// the list.
VARVE_C_API const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db);
VARVE_C_API int rocksdb_livefiles_count(const rocksdb_livefiles_t* files);
VARVE_C_API const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files,
                                                             int index);

// The name is relative to the directory, with a leading slash.
VARVE_C_API const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files, int index);
VARVE_C_API const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files, int index);
VARVE_C_API int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index);

// Returns bytes.
VARVE_C_API size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files, int index);

// Keys have no terminator.
VARVE_C_API const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t* files, int index,
                                                      size_t* size);
VARVE_C_API const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index,
                                                     size_t* size);
VARVE_C_API uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files, int index);
VARVE_C_API uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files, int index);
VARVE_C_API uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files, int index);
VARVE_C_API uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files, int index);
VARVE_C_API void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files);

// ---- Levels ----

// Objects obtained from metadata must be destroyed before it. Texts are malloc'ed.
VARVE_C_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db);
VARVE_C_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* family);
VARVE_C_API void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata);
VARVE_C_API uint64_t
rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata);
VARVE_C_API size_t
rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* metadata);
VARVE_C_API char* rocksdb_column_family_metadata_get_name(
    rocksdb_column_family_metadata_t* metadata);
VARVE_C_API size_t
rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t* metadata);

// Returns null if there is no such level. The functions for files below do likewise.
VARVE_C_API rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* metadata, size_t i);
VARVE_C_API void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* level);
VARVE_C_API int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* level);
VARVE_C_API uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* level);
VARVE_C_API size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* level);
VARVE_C_API rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* level, size_t i);
VARVE_C_API void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* file);
VARVE_C_API char* rocksdb_sst_file_metadata_get_relative_filename(
    rocksdb_sst_file_metadata_t* file);
VARVE_C_API char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* file);
VARVE_C_API uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* file);

// Keys have no terminator.
VARVE_C_API char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* file,
                                                            size_t* len);
VARVE_C_API char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* file,
                                                           size_t* len);

// ---- Memory ----

// Measure the bytes that databases and caches together use, in four parts.
VARVE_C_API rocksdb_memory_consumers_t* rocksdb_memory_consumers_create(void);
VARVE_C_API void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers,
                                                 rocksdb_t* db);
VARVE_C_API void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                                    rocksdb_cache_t* cache);
VARVE_C_API void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers);
VARVE_C_API rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr);
VARVE_C_API void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage);
VARVE_C_API uint64_t
rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* usage);
VARVE_C_API uint64_t
rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* usage);
VARVE_C_API uint64_t
rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t* usage);
VARVE_C_API uint64_t
rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* usage);

#ifdef __cplusplus
}  // extern "C"
#endif
