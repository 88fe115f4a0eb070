// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares traces of calls, block cache accesses and I/O, and their replay. Part of varve/c.h,
// which states the general rules.
//
// Traces of calls work, and have RocksDB's bytes. Those of the block cache and of I/O are refused,
// and their options store their values.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Traces ----

// Records calls in a new file until rocksdb_end_trace (DB::StartTrace).
VARVE_C_API void rocksdb_start_trace(rocksdb_t* db, rocksdb_env_t* env,
                                     const rocksdb_envoptions_t* env_options,
                                     const rocksdb_trace_options_t* options, const char* path,
                                     char** errptr);
VARVE_C_API void rocksdb_end_trace(rocksdb_t* db, char** errptr);

// Reads a file record by record. A record is the caller's, to be freed with rocksdb_free; there is
// none, and the error Incomplete, after the last one.
VARVE_C_API rocksdb_trace_reader_t* rocksdb_trace_reader_create(
    rocksdb_env_t* env, const rocksdb_envoptions_t* env_options, const char* path, char** errptr);
VARVE_C_API void rocksdb_trace_reader_destroy(rocksdb_trace_reader_t* reader);
VARVE_C_API char* rocksdb_trace_reader_read(rocksdb_trace_reader_t* reader, size_t* size,
                                            char** errptr);
VARVE_C_API void rocksdb_trace_reader_reset(rocksdb_trace_reader_t* reader, char** errptr);
VARVE_C_API void rocksdb_trace_reader_close(rocksdb_trace_reader_t* reader, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_REFUSED void rocksdb_end_block_cache_trace(rocksdb_t*, char** errptr);
VARVE_C_REFUSED void rocksdb_end_io_trace(rocksdb_t*, char** errptr);
VARVE_C_REFUSED void rocksdb_start_block_cache_trace_with_options(rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*, const rocksdb_block_cache_trace_options_t*, const rocksdb_block_cache_trace_writer_options_t*, const char*, char** errptr);
VARVE_C_REFUSED void rocksdb_start_block_cache_trace(rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*, const rocksdb_trace_options_t*, const char*, char** errptr);
VARVE_C_REFUSED void rocksdb_start_io_trace(rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*, const rocksdb_trace_options_t*, const char*, char** errptr);

// Sizes are in bytes. sampling_frequency n traces one of n requests. filter: bits of the operations
// to omit.
VARVE_C_STORED rocksdb_block_cache_trace_options_t* rocksdb_block_cache_trace_options_create(void);
VARVE_C_STORED void rocksdb_block_cache_trace_options_destroy(rocksdb_block_cache_trace_options_t*);
VARVE_C_STORED void rocksdb_block_cache_trace_options_set_sampling_frequency(rocksdb_block_cache_trace_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_block_cache_trace_options_get_sampling_frequency(rocksdb_block_cache_trace_options_t*);
VARVE_C_STORED rocksdb_block_cache_trace_writer_options_t* rocksdb_block_cache_trace_writer_options_create(void);
VARVE_C_STORED void rocksdb_block_cache_trace_writer_options_destroy(rocksdb_block_cache_trace_writer_options_t*);
VARVE_C_STORED void rocksdb_block_cache_trace_writer_options_set_max_trace_file_size(rocksdb_block_cache_trace_writer_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_block_cache_trace_writer_options_get_max_trace_file_size(rocksdb_block_cache_trace_writer_options_t*);
VARVE_C_API rocksdb_trace_options_t* rocksdb_trace_options_create(void);
VARVE_C_API void rocksdb_trace_options_destroy(rocksdb_trace_options_t*);
VARVE_C_API void rocksdb_trace_options_set_filter(rocksdb_trace_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_trace_options_get_filter(rocksdb_trace_options_t*);
VARVE_C_API void rocksdb_trace_options_set_max_trace_file_size(rocksdb_trace_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_trace_options_get_max_trace_file_size(rocksdb_trace_options_t*);
VARVE_C_API void rocksdb_trace_options_set_preserve_write_order(rocksdb_trace_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_trace_options_get_preserve_write_order(rocksdb_trace_options_t*);
VARVE_C_API void rocksdb_trace_options_set_sampling_frequency(rocksdb_trace_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_trace_options_get_sampling_frequency(rocksdb_trace_options_t*);
// clang-format on

// ---- Replay ----

// Makes the calls of a trace again (varve/utilities/replayer.h), on the families that are given.
// Destroy replayers before the database is closed.
VARVE_C_API rocksdb_replayer_t* rocksdb_new_default_replayer(
    rocksdb_t* db, rocksdb_column_family_handle_t** families, size_t num_families,
    rocksdb_env_t* env, const rocksdb_envoptions_t* env_options, const char* path, char** errptr);
VARVE_C_API void rocksdb_replayer_destroy(rocksdb_replayer_t* replayer);
VARVE_C_API void rocksdb_replayer_prepare(rocksdb_replayer_t* replayer, char** errptr);
VARVE_C_API void rocksdb_replayer_replay(rocksdb_replayer_t* replayer,
                                         const rocksdb_replay_options_t* options, char** errptr);
// Returns microseconds since 1970; 0 before rocksdb_replayer_prepare.
VARVE_C_API uint64_t rocksdb_replayer_get_header_timestamp(const rocksdb_replayer_t* replayer);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// The defaults are num_threads 1 and fast_forward 1.0.
VARVE_C_API rocksdb_replay_options_t* rocksdb_replay_options_create(void);
VARVE_C_API void rocksdb_replay_options_destroy(rocksdb_replay_options_t*);
VARVE_C_API void rocksdb_replay_options_set_fast_forward(rocksdb_replay_options_t*, double);
VARVE_C_API double rocksdb_replay_options_get_fast_forward(rocksdb_replay_options_t*);
VARVE_C_API void rocksdb_replay_options_set_num_threads(rocksdb_replay_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_replay_options_get_num_threads(rocksdb_replay_options_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
