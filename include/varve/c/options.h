// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares how options of databases and column families are made, and the options that are objects,
// text or lists. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Making ----

// One object holds the options of a database and of a column family. A new one has the defaults of
// varve/options.h. Options are copied when a database is opened or a family is created, so they
// may be destroyed at once.
VARVE_C_API rocksdb_options_t* rocksdb_options_create(void);
VARVE_C_API rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options);
VARVE_C_API void rocksdb_options_destroy(rocksdb_options_t* options);

// Sets new_options to base_options changed by the "name=value;..." text. After an error new_options
// are unchanged.
VARVE_C_API void rocksdb_get_options_from_string(const rocksdb_options_t* base_options,
                                                 const char* opts_str,
                                                 rocksdb_options_t* new_options, char** errptr);

// Reads the newest OPTIONS file of a database. env and cache may be null. Release the results with
// rocksdb_load_latest_options_destroy; all outputs are null or 0 after an error.
VARVE_C_API void rocksdb_load_latest_options(const char* db_path, rocksdb_env_t* env,
                                             bool ignore_unknown_options, rocksdb_cache_t* cache,
                                             rocksdb_options_t** db_options, size_t* num_families,
                                             char*** family_names,
                                             rocksdb_options_t*** family_options, char** errptr);
VARVE_C_API void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options,
                                                     char** family_names,
                                                     rocksdb_options_t** family_options,
                                                     size_t num_families);

// ---- Presets ----

// Set several options for a purpose; varve/options.h says which. Options that are set afterwards
// replace those of the preset.
VARVE_C_API void rocksdb_options_increase_parallelism(rocksdb_options_t* options,
                                                      int total_threads);
VARVE_C_API void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* options,
                                                           uint64_t block_cache_size_mb);

// memtable_memory_budget is in bytes.
VARVE_C_API void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* options,
                                                                 uint64_t memtable_memory_budget);
// Suits loading first and compacting later: no compaction runs until one is requested.
VARVE_C_API void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options);

// ---- Objects ----

// Null clears a filter or an environment, and leaves other options unchanged, as in RocksDB. A null
// comparator makes opening fail and names the setter, and so does null for a handle that could not
// be made.

// Options take ownership of these: they are freed with the last options and databases that have
// them. An object may be given to several options; while any of them has it, destroying it does
// nothing.
VARVE_C_API void rocksdb_options_set_compaction_filter_factory(
    rocksdb_options_t* options, rocksdb_compactionfilterfactory_t* factory);
VARVE_C_API void rocksdb_options_set_merge_operator(rocksdb_options_t* options,
                                                    rocksdb_mergeoperator_t* merge_operator);
VARVE_C_API void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options,
                                                      rocksdb_slicetransform_t* transform);

// Sets memtables that are arrays, for bulk loads: VectorRepFactory of varve/memtablerep.h.
VARVE_C_API void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options);
// Set RocksDB's memtables of a list for each prefix, for which Varve builds its default list. The
// numbers have no effect.
VARVE_C_API void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options,
                                                        size_t bucket_count, int32_t height,
                                                        int32_t branching_factor);
VARVE_C_API void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options,
                                                        size_t bucket_count);

// The first two objects are shared: the handle may be destroyed at once. The environment is not
// owned: destroy it after the databases that use it.
VARVE_C_API void rocksdb_options_set_comparator(rocksdb_options_t* options,
                                                rocksdb_comparator_t* comparator);
VARVE_C_API void rocksdb_options_set_compaction_filter(rocksdb_options_t* options,
                                                       rocksdb_compactionfilter_t* filter);
VARVE_C_API void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env);

// These objects are shared: the handle may be destroyed at once. A null blob_cache: values of blob
// files are not cached.
VARVE_C_API void rocksdb_options_set_blob_cache(rocksdb_options_t* options,
                                                rocksdb_cache_t* blob_cache);
VARVE_C_API void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger);
VARVE_C_API void rocksdb_options_set_ratelimiter(rocksdb_options_t* options,
                                                 rocksdb_ratelimiter_t* limiter);
VARVE_C_STORED void rocksdb_options_set_row_cache(rocksdb_options_t* options,
                                                  rocksdb_cache_t* cache);
VARVE_C_API void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* options,
                                                          rocksdb_write_buffer_manager_t* manager);

// Returns a new handle, or null if none is set.
VARVE_C_API rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options);

// The paths are copied. If one of them is null the option stays as it was, and opening fails.
VARVE_C_API void rocksdb_options_set_db_paths(rocksdb_options_t* options,
                                              const rocksdb_dbpath_t** paths, size_t num_paths);
VARVE_C_API void rocksdb_options_set_cf_paths(rocksdb_options_t* options,
                                              const rocksdb_dbpath_t** paths, size_t num_paths);

// ---- Text ----

// Null sets the empty text. A returned text is valid until the option is set again.
VARVE_C_API void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* dir);
VARVE_C_API const char* rocksdb_options_get_db_log_dir(rocksdb_options_t* options, size_t* size);
VARVE_C_API void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* dir);
VARVE_C_API const char* rocksdb_options_get_wal_dir(rocksdb_options_t* options, size_t* size);
VARVE_C_API void rocksdb_options_set_db_host_id(rocksdb_options_t* options, const char* id);
VARVE_C_API const char* rocksdb_options_get_db_host_id(rocksdb_options_t* options, size_t* size);

// ---- Compression ----

// Takes one rocksdb_..._compression for each level, from L0 on.
VARVE_C_API void rocksdb_options_set_compression_per_level(rocksdb_options_t* options,
                                                           const int* level_values,
                                                           size_t num_levels);

// Levels above this one are not compressed. Call it after num_levels and compression are set.
VARVE_C_API void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int level);

// window_bits and strategy are zlib's; max_dict_bytes: bytes of the dictionary of each file, 0:
// none.
VARVE_C_API void rocksdb_options_set_compression_options(rocksdb_options_t* options,
                                                         int window_bits, int level, int strategy,
                                                         int max_dict_bytes);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API void rocksdb_options_set_compression_options_zstd_max_train_bytes(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_compression_options_zstd_max_train_bytes(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_compression_options_use_zstd_dict_trainer(rocksdb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_options_get_compression_options_use_zstd_dict_trainer(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_compression_options_parallel_threads(rocksdb_options_t*, int);
VARVE_C_API int rocksdb_options_get_compression_options_parallel_threads(rocksdb_options_t*);
VARVE_C_API void rocksdb_options_set_compression_options_max_dict_buffer_bytes(rocksdb_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_options_get_compression_options_max_dict_buffer_bytes(rocksdb_options_t*);
VARVE_C_API unsigned char rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(rocksdb_options_t*);
// clang-format on

// These apply to the last level with data, if `enabled`.
VARVE_C_API void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* options,
                                                                    int window_bits, int level,
                                                                    int strategy,
                                                                    int max_dict_bytes,
                                                                    unsigned char enabled);
VARVE_C_API void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int zstd_max_train_bytes, unsigned char enabled);
VARVE_C_API void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char use_zstd_dict_trainer, unsigned char enabled);
VARVE_C_API void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t max_dict_buffer_bytes, unsigned char enabled);

// ---- Lists ----

// Takes one factor for each level, by which the level's target size is multiplied in addition.
VARVE_C_API void rocksdb_options_set_max_bytes_for_level_multiplier_additional(
    rocksdb_options_t* options, int* level_values, size_t num_levels);

#ifdef __cplusplus
}  // extern "C"
#endif
