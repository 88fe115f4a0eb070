// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares environments, loggers, rate limiters and paths. Part of varve/c.h, which states the
// general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Environments ----

// Options do not own an environment: destroy it after the databases that use it.
VARVE_C_API rocksdb_env_t* rocksdb_create_default_env(void);

// Makes an environment whose files live in memory and are destroyed with it.
VARVE_C_API rocksdb_env_t* rocksdb_create_mem_env(void);
VARVE_C_API void rocksdb_env_destroy(rocksdb_env_t* env);

// Set and get the number of threads of the pools. Functions without a name use the low-priority
// pool.
VARVE_C_API void rocksdb_env_set_background_threads(rocksdb_env_t* env, int n);
VARVE_C_API int rocksdb_env_get_background_threads(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int n);
VARVE_C_API int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int n);
VARVE_C_API int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int n);
VARVE_C_API int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_join_all_threads(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env);
VARVE_C_API void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env);
VARVE_C_API void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr);

// ---- Logs ----

// Levels: 0 debug, 1 info, 2 warn, 3 error, 4 fatal, 5 header. Options share the logger.
VARVE_C_API rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level,
                                                                  const char* prefix);

// The callback gets `priv`, a level and a text that it may change. It may run on several threads at
// once.
VARVE_C_API rocksdb_logger_t* rocksdb_logger_create_callback_logger(
    int log_level, void (*callback)(void* priv, unsigned lev, char* msg, size_t len), void* priv);
VARVE_C_API void rocksdb_logger_destroy(rocksdb_logger_t* logger);

// ---- Rate limits ----

// Rates are in bytes per second, granted every refill_period_us. Options share the limiter.
VARVE_C_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                              int64_t refill_period_us,
                                                              int32_t fairness);
VARVE_C_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                                         int64_t refill_period_us,
                                                                         int32_t fairness);

// mode: 0 reads, 1 writes, 2 both. Returns null for another mode or invalid numbers.
VARVE_C_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                                        int64_t refill_period_us,
                                                                        int32_t fairness, int mode,
                                                                        bool auto_tuned);
VARVE_C_API void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter);

// ---- Space of tables ----

// Limits the space of the tables of databases, and the rate of their deletion: see
// sst_file_manager.h. Sizes are in bytes, rates in bytes per second; 0: no limit. Options share it.
// Returns null without an Env.
VARVE_C_API rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env);
VARVE_C_API void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager);
VARVE_C_API void rocksdb_options_set_sst_file_manager(rocksdb_options_t* options,
                                                      rocksdb_sst_file_manager_t* manager);
VARVE_C_API void rocksdb_sst_file_manager_set_max_allowed_space_usage(
    rocksdb_sst_file_manager_t* manager, uint64_t max_allowed_space);
VARVE_C_API void rocksdb_sst_file_manager_set_compaction_buffer_size(
    rocksdb_sst_file_manager_t* manager, uint64_t compaction_buffer_size);
VARVE_C_API bool rocksdb_sst_file_manager_is_max_allowed_space_reached(
    rocksdb_sst_file_manager_t* manager);
VARVE_C_API bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* manager);
VARVE_C_API uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* manager);
VARVE_C_API int64_t
rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager);
VARVE_C_API void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager, int64_t delete_rate);
VARVE_C_API double rocksdb_sst_file_manager_get_max_trash_db_ratio(
    rocksdb_sst_file_manager_t* manager);
VARVE_C_API void rocksdb_sst_file_manager_set_max_trash_db_ratio(
    rocksdb_sst_file_manager_t* manager, double ratio);
VARVE_C_API uint64_t
rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* manager);

// ---- Paths ----

// target_size: the desired bytes in `path`.
VARVE_C_API rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size);
VARVE_C_API void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path);

#ifdef __cplusplus
}  // extern "C"
#endif
