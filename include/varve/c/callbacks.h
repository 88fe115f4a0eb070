// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares comparators, compaction filters, prefixes and merge operators written in C. Part of
// varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Comparators ----

// `destructor`, if given, is called with `state` when the object is destroyed; `name` returns a
// text that lives as long. Callbacks run on several threads at once. Options and databases share a
// comparator; the caller destroys its handle, at any time.
VARVE_C_API rocksdb_comparator_t* rocksdb_comparator_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    const char* (*name)(void*));

// Makes a comparator of keys that end with a timestamp of timestamp_size bytes. `compare` orders
// keys with timestamps, of equal keys the larger timestamp first; `compare_ts` orders timestamps;
// `compare_without_ts` orders keys without, and its flags say which of them end with one.
// Timestamps of bytes 0xff and 0 must be the largest and the smallest. Returns null if one of the
// functions is null.
VARVE_C_API rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    int (*compare_ts)(void*, const char* a_ts, size_t a_tslen, const char* b_ts, size_t b_tslen),
    int (*compare_without_ts)(void*, const char* a, size_t alen, unsigned char a_has_ts,
                              const char* b, size_t blen, unsigned char b_has_ts),
    const char* (*name)(void*), size_t timestamp_size);
VARVE_C_API void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator);

// ---- Compaction filters ----

// If `filter` returns 1, the entry is dropped. Otherwise it may set *value_changed to 1 and
// *new_value, whose bytes it owns and keeps until it is called again. Shared like a comparator.
VARVE_C_API rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length,
                            const char* existing_value, size_t value_length, char** new_value,
                            size_t* new_value_length, unsigned char* value_changed),
    const char* (*name)(void*));

// Default 1; compactions with 0 are refused.
VARVE_C_API void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter,
                                                               unsigned char ignore);
VARVE_C_API void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter);

// The context is valid during the callback that gets it.
VARVE_C_API unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context);
VARVE_C_API unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context);

// The database destroys the filters that the factory creates (null: no filter for this compaction).
VARVE_C_API rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(
        void*, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void*));
VARVE_C_API void rocksdb_compactionfilterfactory_destroy(
    rocksdb_compactionfilterfactory_t* factory);

// ---- Prefixes ----

// `transform` returns a pointer into the key, or to bytes that live as long as `state`.
VARVE_C_API rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (*name)(void*));
VARVE_C_API rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t prefix_len);
VARVE_C_API rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop(void);
VARVE_C_API void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform);

// ---- Merge operators ----

// Operands are in arrays of num_operands elements, oldest first; existing_value is null if there is
// no base value, and not null for an empty one. `full_merge` returns the value. `partial_merge`
// returns one operand equivalent to all of them, or null or *success 0 if it cannot, which is no
// error. If `full_merge` leaves *success at 0, reads of the key fail.
//
// Results are copied, then passed to `delete_value`, or to free() if that is null. Callbacks run on
// several threads at once. Returns null if full_merge or name is null.
VARVE_C_API rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (*full_merge)(void*, const char* key, size_t key_length, const char* existing_value,
                        size_t existing_value_length, const char* const* operands_list,
                        const size_t* operands_list_length, int num_operands,
                        unsigned char* success, size_t* new_value_length),
    char* (*partial_merge)(void*, const char* key, size_t key_length,
                           const char* const* operands_list, const size_t* operands_list_length,
                           int num_operands, unsigned char* success, size_t* new_value_length),
    void (*delete_value)(void*, const char* value, size_t value_length),
    const char* (*name)(void*));
VARVE_C_API void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator);

// Sets the operator that adds 8-byte little-endian numbers modulo 2^64; values of another size
// count as 0.
VARVE_C_API void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options);

// Sets a built-in operator by its long or short name and options, such as "max" or
// "id=stringappend;delimiter=|". An unknown name is an error and changes nothing. Not in RocksDB's
// header.
VARVE_C_API void rocksdb_options_set_merge_operator_from_string(rocksdb_options_t* options,
                                                                const char* text, char** errptr);

#ifdef __cplusplus
}  // extern "C"
#endif
