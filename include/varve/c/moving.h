// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares functions that move data in or out as files (ingestion, writing of tables, checkpoints,
// import, export), lifetimes, and opening at an older timestamp. Part of varve/c.h, which states
// the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Files opened by this library ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of EnvOptions (varve/env.h) under their names. Sizes are in bytes.
VARVE_C_API void rocksdb_envoptions_set_allow_fallocate(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_allow_fallocate(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_bytes_per_sync(rocksdb_envoptions_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_envoptions_get_bytes_per_sync(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_compaction_readahead_size(rocksdb_envoptions_t*, size_t);
VARVE_C_API size_t rocksdb_envoptions_get_compaction_readahead_size(rocksdb_envoptions_t*);
VARVE_C_API rocksdb_envoptions_t* rocksdb_envoptions_create(void);
VARVE_C_API void rocksdb_envoptions_destroy(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_fallocate_with_keep_size(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_fallocate_with_keep_size(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_fd_cloexec(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_fd_cloexec(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_strict_bytes_per_sync(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_strict_bytes_per_sync(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_use_direct_reads(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_use_direct_reads(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_use_direct_writes(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_use_direct_writes(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_use_mmap_reads(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_use_mmap_reads(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_use_mmap_writes(rocksdb_envoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_envoptions_get_use_mmap_writes(rocksdb_envoptions_t*);
VARVE_C_API void rocksdb_envoptions_set_writable_file_max_buffer_size(rocksdb_envoptions_t*, size_t);
VARVE_C_API size_t rocksdb_envoptions_get_writable_file_max_buffer_size(rocksdb_envoptions_t*);
// clang-format on

VARVE_C_API void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* options,
                                                     rocksdb_ratelimiter_t* rate_limiter);

// ---- Table files written by a program ----

// Write a sorted table outside of a database, to be ingested by one. They work like SstFileWriter
// (varve/sst_file_writer.h): open, add entries with ascending keys, finish. _add is _put. Options
// and comparator may be null, and are not needed after the call.
VARVE_C_API void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* writer, const char* key,
                                           size_t keylen, const char* value, size_t vallen,
                                           char** errptr);
VARVE_C_API rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* comparator);
VARVE_C_API rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options);
VARVE_C_API void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* writer,
                                                    const char* begin_key, size_t begin_keylen,
                                                    const char* end_key, size_t end_keylen,
                                                    char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_delete_with_ts(rocksdb_sstfilewriter_t* writer,
                                                      const char* key, size_t keylen,
                                                      const char* ts, size_t tslen, char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* writer, const char* key,
                                              size_t keylen, char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer);
VARVE_C_API void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer,
                                                 uint64_t* file_size);
VARVE_C_API void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer, char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* writer, const char* key,
                                             size_t keylen, const char* value, size_t vallen,
                                             char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name,
                                            char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_put_with_ts(rocksdb_sstfilewriter_t* writer, const char* key,
                                                   size_t keylen, const char* ts, size_t tslen,
                                                   const char* value, size_t vallen, char** errptr);
VARVE_C_API void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* writer, const char* key,
                                           size_t keylen, const char* value, size_t vallen,
                                           char** errptr);

// ---- Ingestion ----

// Add tables of rocksdb_sstfilewriter_t to a database, all or none. They work like
// DB::IngestExternalFile (varve/db.h).
VARVE_C_API void rocksdb_ingest_external_file_cf(rocksdb_t* db,
                                                 rocksdb_column_family_handle_t* family,
                                                 const char* const* file_list, size_t list_len,
                                                 const rocksdb_ingestexternalfileoptions_t* options,
                                                 char** errptr);
VARVE_C_API void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list,
                                              size_t list_len,
                                              const rocksdb_ingestexternalfileoptions_t* options,
                                              char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of IngestExternalFileOptions (varve/options.h) under their names.
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_blocking_flush(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_allow_db_generated_files(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_db_generated_files(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_allow_global_seqno(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_global_seqno(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API rocksdb_ingestexternalfileoptions_t* rocksdb_ingestexternalfileoptions_create(void);
VARVE_C_API void rocksdb_ingestexternalfileoptions_destroy(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_fail_if_not_bottommost_level(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_failed_move_fall_back_to_copy(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_failed_move_fall_back_to_copy(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_file_opening_threads(rocksdb_ingestexternalfileoptions_t*, int);
VARVE_C_API int rocksdb_ingestexternalfileoptions_get_file_opening_threads(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_fill_cache(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_fill_cache(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_ingest_behind(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_ingest_behind(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_link_files(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_link_files(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_move_files(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_move_files(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_prefetch_lmax_index_and_filter_blocks(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_prefetch_lmax_index_and_filter_blocks(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_snapshot_consistency(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_snapshot_consistency(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_verify_checksums_before_ingest(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_verify_checksums_before_ingest(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_verify_checksums_readahead_size(rocksdb_ingestexternalfileoptions_t*, size_t);
VARVE_C_API size_t rocksdb_ingestexternalfileoptions_get_verify_checksums_readahead_size(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_verify_file_checksum(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_verify_file_checksum(rocksdb_ingestexternalfileoptions_t*);
VARVE_C_API void rocksdb_ingestexternalfileoptions_set_write_global_seqno(rocksdb_ingestexternalfileoptions_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_ingestexternalfileoptions_get_write_global_seqno(rocksdb_ingestexternalfileoptions_t*);
// clang-format on

// ---- Checkpoints ----

// Make a copy of an open database in a directory of its own, by hard links where possible, or
// export a column family as files. They work like Checkpoint of varve/utilities/checkpoint.h. The
// database must outlive the object, which _destroy frees.
// rocksdb_export_import_files_metadata_destroy frees the metadata of an export.
VARVE_C_API void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint,
                                           const char* checkpoint_dir, uint64_t log_size_for_flush,
                                           char** errptr);
VARVE_C_API rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* family,
    const char* export_dir, char** errptr);
VARVE_C_API rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t*);
// clang-format on

// ---- Export and import of column families ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Metadata can be created, filled and read. Setters and getters copy the files.
VARVE_C_API rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create(void);
VARVE_C_API void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t*);

// move_files: moves files instead of copying them; default 0.
VARVE_C_API rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create(void);
VARVE_C_API void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t*);
VARVE_C_API void rocksdb_import_column_family_options_set_move_files(rocksdb_import_column_family_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_import_column_family_options_get_move_files(rocksdb_import_column_family_options_t*);
// clang-format on

VARVE_C_API char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata);
VARVE_C_API void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* text);
VARVE_C_API rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata);
VARVE_C_API void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files);

// Works like DB::CreateColumnFamilyWithImport (varve/db.h). Returns null after an error. The family
// exists nevertheless if only the OPTIONS file could not be written.
VARVE_C_API rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* column_family_options, const char* column_family_name,
    rocksdb_import_column_family_options_t* import_options,
    rocksdb_export_import_files_metadata_t* metadata, char** errptr);

// ---- Entries with a lifetime ----

// varve/utilities/db_ttl.h describes lifetimes. They are in seconds; entries with zero or less
// never expire.
VARVE_C_API rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name,
    int ttl, char** errptr);
VARVE_C_API rocksdb_t* rocksdb_open_column_families_with_ttl(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, const int* ttls, char** errptr);
VARVE_C_API rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name,
                                             int ttl, char** errptr);
// Varve's own. InvalidArgument: the database was not opened with a TTL.
VARVE_C_API int rocksdb_get_ttl_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                   char** errptr);
VARVE_C_API void rocksdb_set_ttl_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                    int ttl, char** errptr);
VARVE_C_API void rocksdb_put_with_ttl_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                         rocksdb_column_family_handle_t* column_family,
                                         const char* key, size_t keylen, const char* val,
                                         size_t vallen, int ttl, char** errptr);

// ---- Opening at an older timestamp ----

// Removes all data newer than trim_ts from families with timestamps.
VARVE_C_API rocksdb_t* rocksdb_open_and_trim_history(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char* trim_ts, size_t trim_tslen,
    char** errptr);

#ifdef __cplusplus
}  // extern "C"
#endif
