// SPDX-License-Identifier: Apache-2.0
// Implements options of table files for the C API: blocks, indexes, filters.
#include "db/api/c/c_types.h"

using varve::c::Try;

void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) {
  if (options == nullptr || table_options == nullptr) return;
  varve::c::TryVoid([&] {
    // The factory copies the options, so what they lack is copied with it: changing them later
    // changes neither.
    options->table_lacking = table_options->lacking;
    options->rep.table_factory.reset(varve::NewBlockBasedTableFactory(table_options->rep));
  });
}

void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t user_key_len,
                                             int bloom_bits_per_key, double hash_table_ratio,
                                             size_t index_sparseness, size_t huge_page_tlb_size,
                                             char encoding_type, unsigned char full_scan_mode,
                                             unsigned char store_index_in_file) {
  if (options == nullptr) return;
  varve::PlainTableOptions table;
  table.user_key_len = user_key_len;
  table.bloom_bits_per_key = bloom_bits_per_key;
  table.hash_table_ratio = hash_table_ratio;
  table.index_sparseness = index_sparseness;
  table.huge_page_tlb_size = huge_page_tlb_size;
  // The first table that is built refuses a number without a meaning.
  table.encoding_type = static_cast<varve::EncodingType>(encoding_type);
  table.full_scan_mode = full_scan_mode != 0;
  table.store_index_in_file = store_index_in_file != 0;
  varve::c::TryVoid([&] {
    options->table_lacking = {};
    options->rep.table_factory.reset(varve::NewPlainTableFactory(table));
  });
}

void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* cache) {
  // A null cache is not an empty one: as in RocksDB, no_block_cache is the option for that.
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
