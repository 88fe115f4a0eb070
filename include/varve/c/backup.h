// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the functions of backups. Part of varve/c.h, which states the general rules.
// varve/utilities/backup_engine.h describes the calls.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Backups ----

// An engine makes and restores backups in a directory, and has exclusive access to it until it is
// closed. Backup information is a copy that owns its texts; indices from 0 to count - 1 are those
// of the backups, the oldest first.
//
//   rocksdb_backup_engine_t* engine = rocksdb_backup_engine_open(options, "/backups", &error);
//   rocksdb_backup_engine_create_new_backup(engine, db, &error);
//   rocksdb_backup_engine_close(engine);
//
// A restore needs a database that is not open. Calls of one engine must not overlap, except for
// rocksdb_backup_engine_stop_backup.
VARVE_C_API const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine);
VARVE_C_API void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine);
VARVE_C_API void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine,
                                                               rocksdb_t* db,
                                                               unsigned char flush_before_backup,
                                                               char** errptr);
VARVE_C_API void rocksdb_backup_engine_create_new_backup_with_metadata(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_len, uint32_t* backup_id, char** errptr);
VARVE_C_API void rocksdb_backup_engine_create_new_backup_with_options(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr);
VARVE_C_API void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine,
                                                         rocksdb_t* db, char** errptr);
VARVE_C_API const char* rocksdb_backup_engine_info_app_metadata(
    const rocksdb_backup_engine_info_t* info, int index, size_t* len);
VARVE_C_API uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info,
                                                          int index);
VARVE_C_API int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info);
VARVE_C_API void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info);
VARVE_C_API uint32_t
rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info, int index);
VARVE_C_API uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info,
                                                     int index);
VARVE_C_API int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info,
                                                         int index);
VARVE_C_API rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr);
VARVE_C_API rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                                const char* path, char** errptr);
VARVE_C_API void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine,
                                                         uint32_t num_backups_to_keep,
                                                         char** errptr);
VARVE_C_API void rocksdb_backup_engine_restore_db_from_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, uint32_t backup_id, char** errptr);
VARVE_C_API void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr);
VARVE_C_API void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t* engine);
VARVE_C_API void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine,
                                                     uint32_t backup_id, char** errptr);

// Varve's own: opens an engine that only reads and takes no lock, for information, verification and
// restores; deletes one backup; deletes what interrupted calls have left. Calls that write return
// NotSupported in a read-only engine.
VARVE_C_API rocksdb_backup_engine_t* rocksdb_backup_engine_open_read_only(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr);
VARVE_C_API void rocksdb_backup_engine_delete_backup(rocksdb_backup_engine_t* engine,
                                                     uint32_t backup_id, char** errptr);
VARVE_C_API void rocksdb_backup_engine_garbage_collect(rocksdb_backup_engine_t* engine,
                                                       char** errptr);

// Rates are in bytes per second, 0: no limit; sizes are in bytes. The environment is not owned.
VARVE_C_API const char* rocksdb_backup_engine_options_get_backup_dir(
    rocksdb_backup_engine_options_t* options, size_t* size);
VARVE_C_API void rocksdb_backup_engine_options_set_backup_dir(
    rocksdb_backup_engine_options_t* options, const char* value);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_backup_engine_options_set_backup_log_files(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_backup_log_files(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_backup_rate_limit(rocksdb_backup_engine_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_backup_engine_options_get_backup_rate_limit(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_callback_trigger_interval_size(rocksdb_backup_engine_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_backup_engine_options_get_callback_trigger_interval_size(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_current_temperatures_override_manifest(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_current_temperatures_override_manifest(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_destroy_old_data(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_destroy_old_data(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_io_buffer_size(rocksdb_backup_engine_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_backup_engine_options_get_io_buffer_size(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_max_background_operations(rocksdb_backup_engine_options_t*, int);
VARVE_C_API int rocksdb_backup_engine_options_get_max_background_operations(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_max_valid_backups_to_open(rocksdb_backup_engine_options_t*, int);
VARVE_C_API int rocksdb_backup_engine_options_get_max_valid_backups_to_open(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_restore_rate_limit(rocksdb_backup_engine_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_backup_engine_options_get_restore_rate_limit(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_schema_version(rocksdb_backup_engine_options_t*, int);
VARVE_C_API int rocksdb_backup_engine_options_get_schema_version(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_share_files_with_checksum_naming(rocksdb_backup_engine_options_t*, int);
VARVE_C_API int rocksdb_backup_engine_options_get_share_files_with_checksum_naming(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_share_files_with_checksum(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_share_files_with_checksum(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_share_table_files(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_share_table_files(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_backup_engine_options_set_sync(rocksdb_backup_engine_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_backup_engine_options_get_sync(rocksdb_backup_engine_options_t*);
VARVE_C_API void rocksdb_create_backup_options_set_atomic_flush(rocksdb_create_backup_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_create_backup_options_get_atomic_flush(rocksdb_create_backup_options_t*);
VARVE_C_API void rocksdb_create_backup_options_set_background_thread_cpu_priority(rocksdb_create_backup_options_t*, int);
VARVE_C_API int rocksdb_create_backup_options_get_background_thread_cpu_priority(rocksdb_create_backup_options_t*);
VARVE_C_API rocksdb_create_backup_options_t* rocksdb_create_backup_options_create(void);
VARVE_C_API void rocksdb_create_backup_options_set_decrease_background_thread_cpu_priority(rocksdb_create_backup_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_create_backup_options_get_decrease_background_thread_cpu_priority(rocksdb_create_backup_options_t*);
VARVE_C_API void rocksdb_create_backup_options_destroy(rocksdb_create_backup_options_t*);
VARVE_C_API void rocksdb_create_backup_options_set_flush_before_backup(rocksdb_create_backup_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_create_backup_options_get_flush_before_backup(rocksdb_create_backup_options_t*);

// mode: 1 keeps tables of the same number, session and size; 2 keeps tables that have the backup's
// checksum; 65535 keeps none. See RestoreOptions::Mode.
VARVE_C_API rocksdb_restore_options_t* rocksdb_restore_options_create(void);
VARVE_C_API void rocksdb_restore_options_destroy(rocksdb_restore_options_t*);
VARVE_C_API unsigned char rocksdb_restore_options_get_keep_log_files(rocksdb_restore_options_t*);
VARVE_C_API void rocksdb_restore_options_set_keep_log_files(rocksdb_restore_options_t*, int);
VARVE_C_API void rocksdb_restore_options_set_mode(rocksdb_restore_options_t*, int);
VARVE_C_API int rocksdb_restore_options_get_mode(rocksdb_restore_options_t*);
// clang-format on

// The limiters and the environment below are objects of their own: limiters are shared, the
// environment must outlive the engine.
VARVE_C_API void rocksdb_backup_engine_options_set_backup_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter);
VARVE_C_API rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(
    const char* backup_dir);
VARVE_C_API void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options);
VARVE_C_API void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* options,
                                                       rocksdb_env_t* env);
VARVE_C_API void rocksdb_backup_engine_options_set_restore_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter);

// The progress callback is called by copying threads, several at a time. The exclude_files callback
// is called by the thread that makes the backup, once for each new shared file, before any file is
// copied; if it does not return 0, the file is excluded.
typedef void (*rocksdb_create_backup_options_progress_cb)(void* state);
typedef unsigned char (*rocksdb_create_backup_options_exclude_files_cb)(void* state,
                                                                        const char* relative_file,
                                                                        size_t relative_file_len);
VARVE_C_API void rocksdb_create_backup_options_set_exclude_files_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_exclude_files_cb callback);
VARVE_C_API void rocksdb_create_backup_options_set_progress_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_progress_cb callback);

// ---- Copy plans ----

// Varve's own: backups as lists of objects, for programs that bring them to a store by themselves.
// varve/utilities/copy_plan.h describes the calls. Texts belong to the plan; an index that is too
// large gives null or 0. What the store lacks the program finds by the names of the objects.
// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_copy_plan_options_t* rocksdb_copy_plan_options_create(void);
VARVE_C_API void rocksdb_copy_plan_options_destroy(rocksdb_copy_plan_options_t*);
VARVE_C_API void rocksdb_copy_plan_options_set_flush_before_backup(rocksdb_copy_plan_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_copy_plan_options_get_flush_before_backup(rocksdb_copy_plan_options_t*);
VARVE_C_API void rocksdb_copy_plan_options_set_io_buffer_size(rocksdb_copy_plan_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_copy_plan_options_get_io_buffer_size(rocksdb_copy_plan_options_t*);
VARVE_C_API void rocksdb_copy_plan_options_set_max_background_operations(rocksdb_copy_plan_options_t*, int);
VARVE_C_API int rocksdb_copy_plan_options_get_max_background_operations(rocksdb_copy_plan_options_t*);
// clang-format on

// Adds a catalog that the store has; all must be added.
VARVE_C_API void rocksdb_copy_plan_options_add_catalog(rocksdb_copy_plan_options_t* options,
                                                       const char* name, const char* bytes,
                                                       size_t size);
VARVE_C_API void rocksdb_copy_plan_options_set_app_metadata(rocksdb_copy_plan_options_t* options,
                                                            const char* bytes, size_t size);
VARVE_C_API rocksdb_copy_plan_t* rocksdb_copy_plan_make(const rocksdb_copy_plan_options_t* options,
                                                        rocksdb_t* db, const char* plan_dir,
                                                        char** errptr);
VARVE_C_API rocksdb_copy_plan_t* rocksdb_copy_plan_open(rocksdb_env_t* env, const char* plan_dir,
                                                        char** errptr);
// Deletes the directory of a plan; a handle of it is still to be destroyed.
VARVE_C_API void rocksdb_copy_plan_discard(rocksdb_env_t* env, const char* plan_dir, char** errptr);
VARVE_C_API void rocksdb_copy_plan_destroy(rocksdb_copy_plan_t* plan);
VARVE_C_API void rocksdb_copy_plan_verify(const rocksdb_copy_plan_t* plan, char** errptr);
VARVE_C_API uint32_t rocksdb_copy_plan_backup_id(const rocksdb_copy_plan_t* plan);
VARVE_C_API const char* rocksdb_copy_plan_catalog_name(const rocksdb_copy_plan_t* plan,
                                                       size_t* size);
VARVE_C_API const char* rocksdb_copy_plan_catalog_bytes(const rocksdb_copy_plan_t* plan,
                                                        size_t* size);
VARVE_C_API size_t rocksdb_copy_plan_objects_count(const rocksdb_copy_plan_t* plan);
VARVE_C_API const char* rocksdb_copy_plan_object_name(const rocksdb_copy_plan_t* plan, size_t index,
                                                      size_t* size);
VARVE_C_API const char* rocksdb_copy_plan_object_path(const rocksdb_copy_plan_t* plan, size_t index,
                                                      size_t* size);
VARVE_C_API uint64_t rocksdb_copy_plan_object_size(const rocksdb_copy_plan_t* plan, size_t index);
VARVE_C_API uint32_t rocksdb_copy_plan_object_crc32c(const rocksdb_copy_plan_t* plan, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif
