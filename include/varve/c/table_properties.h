// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the properties of table files, their collectors, and callbacks that use them. Part of
// varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Properties of one table ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Texts have a length and live as long as the properties. Times are seconds since 1970; 0: unknown.
VARVE_C_API uint64_t rocksdb_table_properties_column_family_id(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_column_family_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_comparator_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_compression_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_compression_options(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_creation_time(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_data_block_restart_interval(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_data_size(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_db_host_id(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_db_id(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_db_session_id(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_external_sst_file_global_seqno_offset(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_fast_compression_estimated_data_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_file_creation_time(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_filter_policy_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_filter_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_fixed_key_len(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_format_version(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_index_block_restart_interval(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_index_key_is_user_key(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_index_partitions(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_index_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_index_value_is_delta_encoded(const rocksdb_table_properties_t*);
VARVE_C_API unsigned char rocksdb_table_properties_has_key_largest_seqno(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_key_largest_seqno(const rocksdb_table_properties_t*);
VARVE_C_API unsigned char rocksdb_table_properties_has_key_smallest_seqno(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_key_smallest_seqno(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_merge_operator_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_newest_key_time(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_data_blocks_compression_bypassed(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_data_blocks_compression_rejected(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_data_blocks(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_deletions(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_entries(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_filter_entries(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_merge_operands(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_range_deletions(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_num_uniform_blocks(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_oldest_key_time(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_orig_file_number(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_prefix_extractor_name(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API const char* rocksdb_table_properties_property_collectors_names(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_raw_key_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_raw_value_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_separate_key_value_in_data_block(const rocksdb_table_properties_t*);
VARVE_C_API const char* rocksdb_table_properties_seqno_to_time_mapping(const rocksdb_table_properties_t*, size_t*);
VARVE_C_API uint64_t rocksdb_table_properties_slow_compression_estimated_data_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_tail_start_offset(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_top_level_index_size(const rocksdb_table_properties_t*);
VARVE_C_API uint64_t rocksdb_table_properties_user_defined_timestamps_persisted(const rocksdb_table_properties_t*);

// Always returns 0, because tables do not store this.
VARVE_C_REFUSED uint64_t rocksdb_table_properties_udi_is_primary_index(const rocksdb_table_properties_t*);
VARVE_C_REFUSED uint64_t rocksdb_table_properties_uncompressed_data_size(const rocksdb_table_properties_t*);
// clang-format on

VARVE_C_API size_t
rocksdb_table_properties_readable_properties_count(const rocksdb_table_properties_t* properties);
VARVE_C_API const char* rocksdb_table_properties_readable_properties_key_at(
    const rocksdb_table_properties_t* properties, size_t pos, size_t* key_len);
VARVE_C_API const char* rocksdb_table_properties_readable_properties_value_at(
    const rocksdb_table_properties_t* properties, size_t pos, size_t* value_len);
VARVE_C_API size_t rocksdb_table_properties_user_collected_properties_count(
    const rocksdb_table_properties_t* properties);
VARVE_C_API const char* rocksdb_table_properties_user_collected_properties_key_at(
    const rocksdb_table_properties_t* properties, size_t pos, size_t* key_len);
VARVE_C_API const char* rocksdb_table_properties_user_collected_properties_value_at(
    const rocksdb_table_properties_t* properties, size_t pos, size_t* value_len);

// ---- Collectors ----

// Options share the factory.
VARVE_C_API void rocksdb_options_add_table_properties_collector_factory(
    rocksdb_options_t* options, rocksdb_table_properties_collector_factory_t* factory);
VARVE_C_API void rocksdb_table_properties_collector_factory_destroy(
    rocksdb_table_properties_collector_factory_t* factory);

// Marks tables for compaction that have num_dels_trigger tombstones among window_size successive
// entries, or, with a ratio above 0, that share of tombstones in the whole file. Files smaller than
// min_file_size (bytes) are not marked.
VARVE_C_API void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger, double deletion_ratio);
VARVE_C_API void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger, double deletion_ratio,
    uint64_t min_file_size);
VARVE_C_API void rocksdb_options_add_compact_on_deletion_collector_factory(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger);

// ---- Checksums of whole files ----

// There are no file checksums by default. Options share the factory.
VARVE_C_API rocksdb_file_checksum_gen_factory_t* rocksdb_file_checksum_gen_crc32c_factory_create(
    void);
VARVE_C_API void rocksdb_file_checksum_gen_factory_destroy(
    rocksdb_file_checksum_gen_factory_t* factory);
VARVE_C_API void rocksdb_options_set_file_checksum_gen_factory(
    rocksdb_options_t* options, rocksdb_file_checksum_gen_factory_t* factory);

// ---- Tables that a read passes over ----

// Returns 0 for tables that a read may skip. Runs on reading threads.
typedef unsigned char (*rocksdb_readoptions_table_filter_cb)(
    void* state, const rocksdb_table_properties_t* table_properties);

// `destructor`, if given, is called with `state` when all read options and iterators have released
// it.
VARVE_C_API void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t* options);
VARVE_C_API unsigned char rocksdb_readoptions_has_table_filter(
    const rocksdb_readoptions_t* options);
VARVE_C_API void rocksdb_readoptions_set_table_filter(
    rocksdb_readoptions_t* options, void* state, void (*destructor)(void*),
    rocksdb_readoptions_table_filter_cb table_filter);

// ---- Where tables end ----

// Compactions end tables where the first prefix_len bytes of keys change. The factory may be
// destroyed once it is set.
VARVE_C_API void rocksdb_options_set_sst_partitioner_factory(
    rocksdb_options_t* options, rocksdb_sst_partitioner_factory_t* factory);
VARVE_C_API void rocksdb_sst_partitioner_factory_destroy(
    rocksdb_sst_partitioner_factory_t* factory);
VARVE_C_API rocksdb_sst_partitioner_factory_t* rocksdb_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len);

#ifdef __cplusplus
}  // extern "C"
#endif
