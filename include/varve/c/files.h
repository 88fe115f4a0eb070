// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares detailed lists of files that a program makes or reads, and compactions of chosen files.
// Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Descriptions of files that a program makes ----

// Describe files for importing column families. livefiles_add copies the file.
VARVE_C_API void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file,
                                                         const char* text);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_livefile_t* rocksdb_livefile_create(void);
VARVE_C_API void rocksdb_livefile_destroy(rocksdb_livefile_t*);
VARVE_C_API void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t*, uint64_t);
VARVE_C_API void rocksdb_livefile_set_level(rocksdb_livefile_t*, int);
VARVE_C_API void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t*, uint64_t);
VARVE_C_API void rocksdb_livefile_set_num_entries(rocksdb_livefile_t*, uint64_t);
VARVE_C_API void rocksdb_livefile_set_size(rocksdb_livefile_t*, size_t);
VARVE_C_API void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t*, uint64_t);
// clang-format on

VARVE_C_API void rocksdb_livefile_set_directory(rocksdb_livefile_t* file, const char* text);
VARVE_C_API void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key,
                                                  size_t size);
VARVE_C_API void rocksdb_livefile_set_name(rocksdb_livefile_t* file, const char* text);
VARVE_C_API void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key,
                                                   size_t size);
VARVE_C_API void rocksdb_livefiles_add(rocksdb_livefiles_t* files, rocksdb_livefile_t* file);
VARVE_C_API rocksdb_livefiles_t* rocksdb_livefiles_create(void);

// ---- Metadata of a part ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Select the metadata: one level (-1: all), and keys from start_key to end_key, both included. Keys
// are copied; null means no limit.
VARVE_C_API rocksdb_column_family_metadata_options_t* rocksdb_column_family_metadata_options_create(void);
VARVE_C_API void rocksdb_column_family_metadata_options_destroy(rocksdb_column_family_metadata_options_t*);
VARVE_C_API void rocksdb_column_family_metadata_options_set_level(rocksdb_column_family_metadata_options_t*, int);
VARVE_C_API int rocksdb_column_family_metadata_options_get_level(rocksdb_column_family_metadata_options_t*);
// clang-format on

VARVE_C_API const char* rocksdb_column_family_metadata_options_get_end_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* key_len);
VARVE_C_API void rocksdb_column_family_metadata_options_set_end_key(
    rocksdb_column_family_metadata_options_t* options, const char* key, size_t key_len);
VARVE_C_API const char* rocksdb_column_family_metadata_options_get_start_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* key_len);
VARVE_C_API void rocksdb_column_family_metadata_options_set_start_key(
    rocksdb_column_family_metadata_options_t* options, const char* key, size_t key_len);
VARVE_C_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* family,
    const rocksdb_column_family_metadata_options_t* options);
VARVE_C_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_with_options(
    rocksdb_t* db, const rocksdb_column_family_metadata_options_t* options);

// ---- Files to copy for a copy of the database ----

// Returns the list of DB::GetLiveFilesStorageInfo (varve/db.h), which _destroy frees. For an index
// out of range, texts are null and numbers 0. Returns null and an error if there is no list.
VARVE_C_API rocksdb_livefiles_storage_info_t* rocksdb_get_livefiles_storage_info(
    rocksdb_t* db, const rocksdb_livefiles_storage_info_options_t* options, char** errptr);
VARVE_C_API size_t
rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t* info);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_livefiles_storage_info_destroy(rocksdb_livefiles_storage_info_t*);

// These are the fields of LiveFilesStorageInfoOptions (varve/options.h) under their names.
VARVE_C_API void rocksdb_livefiles_storage_info_options_set_atomic_flush(rocksdb_livefiles_storage_info_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_livefiles_storage_info_options_get_atomic_flush(rocksdb_livefiles_storage_info_options_t*);
VARVE_C_API rocksdb_livefiles_storage_info_options_t* rocksdb_livefiles_storage_info_options_create(void);
VARVE_C_API void rocksdb_livefiles_storage_info_options_destroy(rocksdb_livefiles_storage_info_options_t*);
VARVE_C_API void rocksdb_livefiles_storage_info_options_set_include_checksum_info(rocksdb_livefiles_storage_info_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_livefiles_storage_info_options_get_include_checksum_info(rocksdb_livefiles_storage_info_options_t*);
VARVE_C_API void rocksdb_livefiles_storage_info_options_set_wal_size_for_flush(rocksdb_livefiles_storage_info_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_livefiles_storage_info_options_get_wal_size_for_flush(rocksdb_livefiles_storage_info_options_t*);
// clang-format on

VARVE_C_API const char* rocksdb_livefiles_storage_info_directory(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API const char* rocksdb_livefiles_storage_info_file_checksum_func_name(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API const char* rocksdb_livefiles_storage_info_file_checksum(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API uint64_t rocksdb_livefiles_storage_info_file_number(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API int rocksdb_livefiles_storage_info_file_type(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API const char* rocksdb_livefiles_storage_info_relative_filename(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API const char* rocksdb_livefiles_storage_info_replacement_contents(
    const rocksdb_livefiles_storage_info_t* info, size_t index, size_t* size);
VARVE_C_API uint64_t
rocksdb_livefiles_storage_info_size(const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API int rocksdb_livefiles_storage_info_temperature(
    const rocksdb_livefiles_storage_info_t* info, size_t index);
VARVE_C_API unsigned char rocksdb_livefiles_storage_info_trim_to_size(
    const rocksdb_livefiles_storage_info_t* info, size_t index);

// ---- Compaction of chosen files ----

// Names are relative, as in the metadata. The names and the number of the outputs are stored in the
// output parameters (either pointer may be null), and the job's info in a handle of
// rocksdb_compactionjobinfo_create, if given.
VARVE_C_API void rocksdb_compact_files_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* family,
    const rocksdb_compaction_options_t* options, const char* const* input_file_names,
    size_t num_input_file_names, int output_level, int output_path_id, char*** output_file_names,
    size_t* num_output_file_names, rocksdb_compactionjobinfo_t* compaction_job_info, char** errptr);
VARVE_C_API void rocksdb_compact_files_output_file_names_destroy(char** output_file_names,
                                                                 size_t num_output_file_names);
VARVE_C_API void rocksdb_compact_files(
    rocksdb_t* db, const rocksdb_compaction_options_t* options, const char* const* input_file_names,
    size_t num_input_file_names, int output_level, int output_path_id, char*** output_file_names,
    size_t* num_output_file_names, rocksdb_compactionjobinfo_t* compaction_job_info, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// compression: a codec, or -1 for the family's choice. output_file_size_limit: bytes.
// max_subcompactions: 0 for the database's value. allow_trivial_move: moves files where possible.
VARVE_C_API void rocksdb_compaction_options_set_allow_trivial_move(rocksdb_compaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_compaction_options_get_allow_trivial_move(rocksdb_compaction_options_t*);
VARVE_C_API void rocksdb_compaction_options_set_compression(rocksdb_compaction_options_t*, int);
VARVE_C_API int rocksdb_compaction_options_get_compression(rocksdb_compaction_options_t*);
VARVE_C_API rocksdb_compaction_options_t* rocksdb_compaction_options_create(void);
VARVE_C_API void rocksdb_compaction_options_destroy(rocksdb_compaction_options_t*);
VARVE_C_API void rocksdb_compaction_options_set_max_subcompactions(rocksdb_compaction_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_compaction_options_get_max_subcompactions(rocksdb_compaction_options_t*);
VARVE_C_API void rocksdb_compaction_options_set_output_file_size_limit(rocksdb_compaction_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_compaction_options_get_output_file_size_limit(rocksdb_compaction_options_t*);

// A number of varve::Temperature; 0: the family's.
VARVE_C_API void rocksdb_compaction_options_set_output_temperature_override(rocksdb_compaction_options_t*, int);
VARVE_C_API int rocksdb_compaction_options_get_output_temperature_override(rocksdb_compaction_options_t*);
// clang-format on

// A flag that other threads may set to stop the compaction. It must outlive the compaction.
VARVE_C_API unsigned char* rocksdb_compaction_options_canceled_create(void);
VARVE_C_API void rocksdb_compaction_options_canceled_destroy(unsigned char* canceled);
VARVE_C_API void rocksdb_compaction_options_canceled_set(unsigned char* canceled,
                                                         unsigned char value);
VARVE_C_API void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t* options,
                                                         unsigned char* canceled);

// ---- Removing a file ----

// NotSupported, which it writes to the info log. From RocksDB 7.
VARVE_C_REFUSED void rocksdb_delete_file(rocksdb_t* db, const char* name);

// ---- Stopping compactions ----

// NotSupported, which they write to the info log. See rocksdb_disable_manual_compaction.
VARVE_C_REFUSED void rocksdb_abort_all_compactions(rocksdb_t* db);
VARVE_C_REFUSED void rocksdb_resume_all_compactions(rocksdb_t* db);

#ifdef __cplusplus
}  // extern "C"
#endif
