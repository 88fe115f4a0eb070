// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares options of table files, filters, caches and memory budgets. Part of varve/c.h, which
// states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Tables ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// These are the fields of BlockBasedTableOptions (varve/table.h) under their names. Flags are 0 or
// 1.
VARVE_C_API rocksdb_block_based_table_options_t* rocksdb_block_based_options_create(void);
VARVE_C_API void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_cache_index_and_filter_blocks(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_cache_index_and_filter_blocks(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_cache_index_and_filter_blocks_with_high_priority(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_pin_l0_filter_and_index_blocks_in_cache(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_pin_top_level_index_and_filter(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_pin_top_level_index_and_filter(rocksdb_block_based_table_options_t*);

// Values are rocksdb_block_based_k_..._pinning_tier.
VARVE_C_API void rocksdb_block_based_options_set_top_level_index_pinning_tier(rocksdb_block_based_table_options_t*, int);
VARVE_C_API void rocksdb_block_based_options_set_partition_pinning_tier(rocksdb_block_based_table_options_t*, int);
VARVE_C_API void rocksdb_block_based_options_set_unpartitioned_pinning_tier(rocksdb_block_based_table_options_t*, int);

// Values are rocksdb_block_based_table_..._type_... .
VARVE_C_API void rocksdb_block_based_options_set_index_type(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_index_type(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_index_block_search_type(rocksdb_block_based_table_options_t*, int);
VARVE_C_STORED int rocksdb_block_based_options_get_index_block_search_type(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_data_block_index_type(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_data_block_index_type(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_data_block_hash_table_util_ratio(rocksdb_block_based_table_options_t*, double);
VARVE_C_API double rocksdb_block_based_options_get_data_block_hash_table_util_ratio(rocksdb_block_based_table_options_t*);

// An older name of the option.
VARVE_C_API void rocksdb_block_based_options_set_data_block_hash_ratio(rocksdb_block_based_table_options_t*, double);

// 0 none, 1 CRC32c, 2 xxHash, 3 xxHash64, 4 XXH3.
VARVE_C_API void rocksdb_block_based_options_set_checksum(rocksdb_block_based_table_options_t*, char);
VARVE_C_API int rocksdb_block_based_options_get_checksum(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_no_block_cache(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_no_block_cache(rocksdb_block_based_table_options_t*);

// Sizes are in bytes.
VARVE_C_API void rocksdb_block_based_options_set_block_size(rocksdb_block_based_table_options_t*, size_t);
VARVE_C_API uint64_t rocksdb_block_based_options_get_block_size(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_block_size_deviation(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_block_size_deviation(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_block_restart_interval(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_block_restart_interval(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_index_block_restart_interval(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_index_block_restart_interval(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_metadata_block_size(rocksdb_block_based_table_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_block_based_options_get_metadata_block_size(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_partition_filters(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_partition_filters(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_decouple_partitioned_filters(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_block_based_options_get_decouple_partitioned_filters(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_optimize_filters_for_memory(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_block_based_options_get_optimize_filters_for_memory(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_use_delta_encoding(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_use_delta_encoding(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_use_udi_as_primary_index(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_block_based_options_get_use_udi_as_primary_index(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_fail_if_no_udi_on_open(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_block_based_options_get_fail_if_no_udi_on_open(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_whole_key_filtering(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_whole_key_filtering(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_detect_filter_construct_corruption(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_detect_filter_construct_corruption(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_verify_compression(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_verify_compression(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_read_amp_bytes_per_bit(rocksdb_block_based_table_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_block_based_options_get_read_amp_bytes_per_bit(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_format_version(rocksdb_block_based_table_options_t*, int);
VARVE_C_API uint32_t rocksdb_block_based_options_get_format_version(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_separate_key_value_in_data_block(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_block_based_options_get_separate_key_value_in_data_block(rocksdb_block_based_table_options_t*);
VARVE_C_STORED void rocksdb_block_based_options_set_uniform_cv_threshold(rocksdb_block_based_table_options_t*, double);
VARVE_C_STORED double rocksdb_block_based_options_get_uniform_cv_threshold(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_enable_index_compression(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_enable_index_compression(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_block_align(rocksdb_block_based_table_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_block_based_options_get_block_align(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_super_block_alignment_size(rocksdb_block_based_table_options_t*, size_t);
VARVE_C_API size_t rocksdb_block_based_options_get_super_block_alignment_size(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_super_block_alignment_space_overhead_ratio(rocksdb_block_based_table_options_t*, size_t);
VARVE_C_API size_t rocksdb_block_based_options_get_super_block_alignment_space_overhead_ratio(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_index_shortening(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_index_shortening(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_max_auto_readahead_size(rocksdb_block_based_table_options_t*, size_t);
VARVE_C_API size_t rocksdb_block_based_options_get_max_auto_readahead_size(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_prepopulate_block_cache(rocksdb_block_based_table_options_t*, int);
VARVE_C_API int rocksdb_block_based_options_get_prepopulate_block_cache(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_initial_auto_readahead_size(rocksdb_block_based_table_options_t*, size_t);
VARVE_C_API size_t rocksdb_block_based_options_get_initial_auto_readahead_size(rocksdb_block_based_table_options_t*);
VARVE_C_API void rocksdb_block_based_options_set_num_file_reads_for_auto_readahead(rocksdb_block_based_table_options_t*, uint64_t);
VARVE_C_API uint64_t rocksdb_block_based_options_get_num_file_reads_for_auto_readahead(rocksdb_block_based_table_options_t*);
// clang-format on

// The table options are copied.
VARVE_C_API void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options);

// Sets PlainTableOptions (varve/table.h). encoding_type: 0 kPlain, 1 kPrefix.
VARVE_C_API void rocksdb_options_set_plain_table_factory(
    rocksdb_options_t* options, uint32_t user_key_len, int bloom_bits_per_key,
    double hash_table_ratio, size_t index_sparseness, size_t huge_page_tlb_size, char encoding_type,
    unsigned char full_scan_mode, unsigned char store_index_in_file);

// Null handles, here and below, make opening fail.
VARVE_C_API void rocksdb_block_based_options_set_block_cache(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* cache);

// The options take ownership of the policy, like options of a merge operator.
VARVE_C_API void rocksdb_block_based_options_set_filter_policy(
    rocksdb_block_based_table_options_t* options, rocksdb_filterpolicy_t* policy);

// ---- Filters ----

// Takes bits per key. Both names make the same filter.
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key);
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key);

// Ribbon filters are smaller and slower to build than Bloom filters of the same accuracy. The
// hybrid uses Bloom filters in levels above bloom_before_level, where a flush counts as level -1.
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(
    double bloom_equivalent_bits_per_key);
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level);
// RocksDB's library exports these two, but its header lacks them: bindings declare them themselves.
// The Bloom filter format of RocksDB before 0.12 is not written, whatever original_format is;
// ribbon_format means ribbon_hybrid.
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(
    double bits_per_key, unsigned char original_format);
VARVE_C_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(
    double bloom_equivalent_bits_per_key, int bloom_before_level);
VARVE_C_API void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy);

// ---- Caches ----

// Caches keep blocks of tables that were read. Give one to the table options of all families, so
// that together they stay within its capacity. Options share the cache: the handle may be
// destroyed earlier. Sizes are in bytes.
VARVE_C_API rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity);

// Refuses an insertion rather than exceed the capacity.
VARVE_C_API rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity);
// Make a cache from options, or under its other name; all are the same cache.
VARVE_C_API rocksdb_cache_t* rocksdb_cache_create_lru_opts(
    const rocksdb_lru_cache_options_t* options);
VARVE_C_API rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity,
                                                              size_t estimated_entry_charge);
VARVE_C_API rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options);
// Frees the handle; the cache lives as long as options and databases have it.
VARVE_C_API void rocksdb_cache_destroy(rocksdb_cache_t* cache);

// The cache no longer frees its entries; for use at the end of a process.
VARVE_C_API void rocksdb_cache_disown_data(rocksdb_cache_t* cache);
// Changes the capacity; a smaller one evicts at once.
VARVE_C_API void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity);
// Return the capacity, the bytes in use, those in use that cannot be evicted, and the slots of the
// hash table.
VARVE_C_API size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache);
VARVE_C_API size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache);
VARVE_C_API size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache);
VARVE_C_API size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* cache);

// Returns the number of entries; SIZE_MAX if the cache does not count them.
VARVE_C_API size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* cache);

// ---- Cache options ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
VARVE_C_API rocksdb_lru_cache_options_t* rocksdb_lru_cache_options_create(void);
VARVE_C_API void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t*);
VARVE_C_API void rocksdb_lru_cache_options_set_capacity(rocksdb_lru_cache_options_t*, size_t);
VARVE_C_API void rocksdb_lru_cache_options_set_num_shard_bits(rocksdb_lru_cache_options_t*, int);
VARVE_C_API void rocksdb_hyper_clock_cache_options_destroy(rocksdb_hyper_clock_cache_options_t*);
VARVE_C_API void rocksdb_hyper_clock_cache_options_set_capacity(rocksdb_hyper_clock_cache_options_t*, size_t);
VARVE_C_API void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(rocksdb_hyper_clock_cache_options_t*, size_t);
VARVE_C_API void rocksdb_hyper_clock_cache_options_set_num_shard_bits(rocksdb_hyper_clock_cache_options_t*, int);
// clang-format on

VARVE_C_API void rocksdb_lru_cache_options_set_memory_allocator(
    rocksdb_lru_cache_options_t* options, rocksdb_memory_allocator_t* allocator);

// estimated_entry_charge: bytes of a typical block; if it is 0, the cache estimates it.
VARVE_C_API rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge);
VARVE_C_API void rocksdb_hyper_clock_cache_options_set_memory_allocator(
    rocksdb_hyper_clock_cache_options_t* options, rocksdb_memory_allocator_t* allocator);

// NotSupported: this allocator does not exist here.
VARVE_C_API rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr);
VARVE_C_API void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* allocator);

// ---- Write buffer managers ----

// A memory budget in bytes for the memtables of several databases; allow_stall: writes wait beyond
// it. With a cache, the memory is also charged to it.
VARVE_C_API rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size,
                                                                                bool allow_stall);
VARVE_C_API rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall);
VARVE_C_API void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager);
// Return 1 if there is a limit, and if the memory is charged to a cache.
VARVE_C_API bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager);
VARVE_C_API bool rocksdb_write_buffer_manager_cost_to_cache(
    rocksdb_write_buffer_manager_t* manager);
// Return bytes: of all memtables, of those that still take writes, of the placeholders in the
// cache, and the limit.
VARVE_C_API size_t
rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager);
VARVE_C_API size_t
rocksdb_write_buffer_manager_mutable_memtable_memory_usage(rocksdb_write_buffer_manager_t* manager);
VARVE_C_API size_t
rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(rocksdb_write_buffer_manager_t* manager);
VARVE_C_API size_t
rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager);
// Changes the limit, from the next write on; 0: no limit.
VARVE_C_API void rocksdb_write_buffer_manager_set_buffer_size(
    rocksdb_write_buffer_manager_t* manager, size_t new_size);

#ifdef __cplusplus
}  // extern "C"
#endif
