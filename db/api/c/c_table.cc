// SPDX-License-Identifier: Apache-2.0
// Implements options of table files for the C API: blocks, indexes, filters.
#include "db/api/c/c_types.h"

using varve::c::Try;

void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) {
  if (options == nullptr || table_options == nullptr) return;
  varve::c::TryVoid([&] {
    options->table_lacking = table_options->lacking;
    options->rep.table_factory.reset(varve::NewBlockBasedTableFactory(table_options->rep));
  });
}

void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* cache) {
  if (options == nullptr || cache == nullptr) return;
  varve::c::TryVoid([&] { options->rep.block_cache = cache->rep; });
}

void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* policy) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->rep.filter_policy = policy == nullptr ? nullptr : policy->rep.Share(policy);
  });
}

// Define setters whose names differ from those of their fields: the others are made from their
// declarations.
#define VARVE_TABLE_SETTER(function, c_type, member) \
  VARVE_C_SETTER(rocksdb_block_based_table_options_t, function, c_type, member)

VARVE_TABLE_SETTER(rocksdb_block_based_options_set_top_level_index_pinning_tier, int,
                   metadata_cache_options.top_level_index_pinning);
VARVE_TABLE_SETTER(rocksdb_block_based_options_set_partition_pinning_tier, int,
                   metadata_cache_options.partition_pinning);
VARVE_TABLE_SETTER(rocksdb_block_based_options_set_unpartitioned_pinning_tier, int,
                   metadata_cache_options.unpartitioned_pinning);
VARVE_TABLE_SETTER(rocksdb_block_based_options_set_data_block_hash_ratio, double,
                   data_block_hash_table_util_ratio);

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

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(
    double bits_per_key, unsigned char /*original_format*/) {
  return rocksdb_filterpolicy_create_bloom(bits_per_key);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(
    double bloom_equivalent_bits_per_key, int bloom_before_level) {
  return rocksdb_filterpolicy_create_ribbon_hybrid(bloom_equivalent_bits_per_key,
                                                   bloom_before_level);
}

void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) {
  if (policy != nullptr) policy->rep.Destroy(policy);
}
