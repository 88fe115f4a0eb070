// SPDX-License-Identifier: Apache-2.0
// Options of table files in the C API: blocks, indexes, filters.
#include "db/api/c/c_types.h"

using varve::c::Try;

#define VARVE_TABLE_OPTION_SETTER(name, c_type, member)                                       \
  VARVE_C_SETTER(rocksdb_block_based_table_options_t, rocksdb_block_based_options_set_##name, \
                 c_type, member)
#define VARVE_TABLE_OPTION_GETTER(name, c_type, member)                                       \
  VARVE_C_GETTER(rocksdb_block_based_table_options_t, rocksdb_block_based_options_get_##name, \
                 c_type, member)
#define VARVE_TABLE_OPTION(name, c_type)         \
  VARVE_TABLE_OPTION_SETTER(name, c_type, name); \
  VARVE_TABLE_OPTION_GETTER(name, c_type, name)

rocksdb_block_based_table_options_t* rocksdb_block_based_options_create() {
  return varve::c::Make<rocksdb_block_based_table_options_t>();
}

void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t* options) {
  delete options;
}

void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->table_lacking.NoteHandle("rocksdb_options_set_block_based_table_factory",
                                      table_options == nullptr);
    if (table_options == nullptr) return;
    options->table_lacking = table_options->lacking;
    options->rep.table_factory.reset(varve::NewBlockBasedTableFactory(table_options->rep));
  });
}

void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* cache) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_block_based_options_set_block_cache", cache == nullptr);
    if (cache != nullptr) options->rep.block_cache = cache->rep;
  });
}

void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* policy) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_block_based_options_set_filter_policy", policy == nullptr);
    options->rep.filter_policy = policy == nullptr ? nullptr : policy->rep.Share(policy);
  });
}

VARVE_TABLE_OPTION(cache_index_and_filter_blocks, unsigned char);
VARVE_TABLE_OPTION(cache_index_and_filter_blocks_with_high_priority, unsigned char);
VARVE_TABLE_OPTION(pin_l0_filter_and_index_blocks_in_cache, unsigned char);
VARVE_TABLE_OPTION(pin_top_level_index_and_filter, unsigned char);
VARVE_TABLE_OPTION_SETTER(top_level_index_pinning_tier, int,
                          metadata_cache_options.top_level_index_pinning);
VARVE_TABLE_OPTION_SETTER(partition_pinning_tier, int, metadata_cache_options.partition_pinning);
VARVE_TABLE_OPTION_SETTER(unpartitioned_pinning_tier, int,
                          metadata_cache_options.unpartitioned_pinning);
VARVE_TABLE_OPTION(index_type, int);
VARVE_TABLE_OPTION(index_block_search_type, int);
VARVE_TABLE_OPTION(data_block_index_type, int);
VARVE_TABLE_OPTION(data_block_hash_table_util_ratio, double);
VARVE_TABLE_OPTION_SETTER(data_block_hash_ratio, double, data_block_hash_table_util_ratio);
VARVE_TABLE_OPTION_SETTER(checksum, char, checksum);
VARVE_TABLE_OPTION_GETTER(checksum, int, checksum);
VARVE_TABLE_OPTION(no_block_cache, unsigned char);
VARVE_TABLE_OPTION_SETTER(block_size, size_t, block_size);
VARVE_TABLE_OPTION_GETTER(block_size, uint64_t, block_size);
VARVE_TABLE_OPTION(block_size_deviation, int);
VARVE_TABLE_OPTION(block_restart_interval, int);
VARVE_TABLE_OPTION(index_block_restart_interval, int);
VARVE_TABLE_OPTION(metadata_block_size, uint64_t);
VARVE_TABLE_OPTION(partition_filters, unsigned char);
VARVE_TABLE_OPTION(decouple_partitioned_filters, unsigned char);
VARVE_TABLE_OPTION(optimize_filters_for_memory, unsigned char);
VARVE_TABLE_OPTION(use_delta_encoding, unsigned char);
VARVE_TABLE_OPTION(use_udi_as_primary_index, unsigned char);
VARVE_TABLE_OPTION(fail_if_no_udi_on_open, unsigned char);
VARVE_TABLE_OPTION(whole_key_filtering, unsigned char);
VARVE_TABLE_OPTION(detect_filter_construct_corruption, unsigned char);
VARVE_TABLE_OPTION(verify_compression, unsigned char);
VARVE_TABLE_OPTION(read_amp_bytes_per_bit, uint32_t);
VARVE_TABLE_OPTION_SETTER(format_version, int, format_version);
VARVE_TABLE_OPTION_GETTER(format_version, uint32_t, format_version);
VARVE_TABLE_OPTION(separate_key_value_in_data_block, unsigned char);
VARVE_TABLE_OPTION(uniform_cv_threshold, double);
VARVE_TABLE_OPTION(enable_index_compression, unsigned char);
VARVE_TABLE_OPTION(block_align, unsigned char);
VARVE_TABLE_OPTION(super_block_alignment_size, size_t);
VARVE_TABLE_OPTION(super_block_alignment_space_overhead_ratio, size_t);
VARVE_TABLE_OPTION(index_shortening, int);
VARVE_TABLE_OPTION(max_auto_readahead_size, size_t);
VARVE_TABLE_OPTION(prepopulate_block_cache, int);
VARVE_TABLE_OPTION(initial_auto_readahead_size, size_t);
VARVE_TABLE_OPTION(num_file_reads_for_auto_readahead, uint64_t);

namespace {

rocksdb_filterpolicy_t* Wrap(const varve::FilterPolicy* policy) {
  std::unique_ptr<const varve::FilterPolicy> owner(policy);
  return new rocksdb_filterpolicy_t{
      varve::c::Given<rocksdb_filterpolicy_t, const varve::FilterPolicy>(std::move(owner))};
}

}  // namespace

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) {
  return Try([&] { return Wrap(varve::NewBloomFilterPolicy(bits_per_key)); });
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) {
  return rocksdb_filterpolicy_create_bloom(bits_per_key);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key) {
  return rocksdb_filterpolicy_create_ribbon_hybrid(bloom_equivalent_bits_per_key, -1);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level) {
  return Try([&] {
    return Wrap(varve::NewRibbonFilterPolicy(bloom_equivalent_bits_per_key, bloom_before_level));
  });
}

void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) {
  if (policy != nullptr) policy->rep.Destroy(policy);
}
