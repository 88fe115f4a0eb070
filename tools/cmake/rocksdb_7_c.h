// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's c.h for programs that are written for RocksDB 7: varve/c.h, except for three functions
// whose arguments differed then. Link with the librocksdb.so of varve-compat-7, that is with
// librocksdb.so.7.8, which has these. With VARVE_FOR_ROCKSDB_8 it is the header of RocksDB 8, which
// has the third as RocksDB 11 has it.

#define rocksdb_slicetransform_create varve_slicetransform_create_of_rocksdb_11
#define rocksdb_enable_file_deletions varve_enable_file_deletions_of_rocksdb_11
#ifndef VARVE_FOR_ROCKSDB_8
#define rocksdb_options_set_plain_table_factory varve_options_set_plain_table_factory_of_rocksdb_11
#endif
#include "varve/c.h"
#undef rocksdb_slicetransform_create
#undef rocksdb_enable_file_deletions
#undef rocksdb_options_set_plain_table_factory

#ifdef __cplusplus
extern "C" {
#endif

// in_range is never called and may be null.
VARVE_C_API rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length),
    unsigned char (*in_range)(void*, const char* key, size_t length), const char* (*name)(void*));
// If `force`, enables deletions however often they were disabled.
VARVE_C_API void rocksdb_enable_file_deletions(rocksdb_t* db, unsigned char force, char** errptr);

#ifndef VARVE_FOR_ROCKSDB_8
// Does what it does with RocksDB 11's arguments, the others of which have their defaults.
VARVE_C_API void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options,
                                                         uint32_t user_key_len,
                                                         int bloom_bits_per_key,
                                                         double hash_table_ratio,
                                                         size_t index_sparseness);
#endif

#ifdef __cplusplus
}
#endif
