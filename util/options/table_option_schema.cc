// SPDX-License-Identifier: Apache-2.0

// Defines the schema rows of BlockBasedTableOptions and PlainTableOptions.

#include <limits>
#include <memory>

#include "varve/table.h"

#include "util/options/option_schema.h"

namespace varve {

namespace {

constexpr double kMaxUint32 = std::numeric_limits<uint32_t>::max();

#define VARVE_ROW(field, help) \
  MakeOptionRow<BlockBasedTableOptions, &BlockBasedTableOptions::field>(#field, help)

// Dynamic options only affect how tables are built: existing tables are read as they were.
constexpr OptionRow kTableRows[] = {
    VARVE_ROW(flush_block_policy_factory, "where data blocks end").NotInFile(),
    VARVE_ROW(cache_index_and_filter_blocks, "index and filter in the block cache"),
    VARVE_ROW(cache_index_and_filter_blocks_with_high_priority, "at high priority there"),
    VARVE_ROW(pin_l0_filter_and_index_blocks_in_cache, "pin those of level 0"),
    VARVE_ROW(pin_top_level_index_and_filter, "pin the upper level of partitioned ones"),
    VARVE_ROW(metadata_cache_options, "what is pinned"),
    VARVE_ROW(index_type, "layout of the index").Dynamic(),
    VARVE_ROW(data_block_index_type, "hash table in data blocks").Dynamic(),
    VARVE_ROW(data_block_hash_table_util_ratio, "its entries for each bucket")
        .Dynamic()
        .Between(0, 1),
    VARVE_ROW(index_block_search_type, "search within an index block")
        .Advisory("the index is laid out for its own search when loaded")
        .Extended(),
    VARVE_ROW(uniform_cv_threshold, "when gaps count as uniform").Advisory(kNoKnob).Extended(),
    VARVE_ROW(checksum, "of new blocks").Dynamic(),
    VARVE_ROW(no_block_cache, "read blocks from the file each time"),
    VARVE_ROW(block_cache, "cache of blocks").NotInFile(),
    VARVE_ROW(persistent_cache, "cache on a local device").DefaultOnly(kNoFeature).NotInFile(),
    VARVE_ROW(block_size, "bytes of a data block").Dynamic().Between(1, kMaxUint32),
    VARVE_ROW(block_size_deviation, "percent free at which a block may end").Dynamic(),
    VARVE_ROW(block_restart_interval, "entries between full keys").Dynamic().AtLeast(1),
    VARVE_ROW(index_block_restart_interval, "the same in index blocks").Dynamic().AtLeast(1),
    VARVE_ROW(metadata_block_size, "bytes of a partition").Dynamic().AtLeast(1),
    VARVE_ROW(cache_usage_options, "memory charged to the cache").NotInFile(),
    VARVE_ROW(partition_filters, "filter in partitions").Dynamic(),
    VARVE_ROW(decouple_partitioned_filters, "cut apart from the index")
        .Advisory("filters are always cut where they are full, whatever the index does")
        .Extended(),
    VARVE_ROW(optimize_filters_for_memory, "filter sizes that fit the allocator").Advisory(kNoKnob),
    VARVE_ROW(use_delta_encoding, "store what differs from the previous key only")
        .Dynamic()
        .Extended(),
    VARVE_ROW(filter_policy, "kind of filter").Dynamic(),
    VARVE_ROW(user_defined_index_factory, "user's own index").DefaultOnly(kNoFeature).NotInFile(),
    VARVE_ROW(fail_if_no_udi_on_open, "need that index").DefaultOnly(kNoFeature).Extended(),
    VARVE_ROW(use_udi_as_primary_index, "use that index first").DefaultOnly(kNoFeature).Extended(),
    VARVE_ROW(whole_key_filtering, "whole keys in the filter").Dynamic(),
    VARVE_ROW(detect_filter_construct_corruption, "check each new filter").Dynamic(),
    VARVE_ROW(verify_compression, "check each compressed block").Dynamic(),
    VARVE_ROW(read_amp_bytes_per_bit, "statistics of bytes used").DefaultOnly(kNoFeature),
    VARVE_ROW(format_version, "of new tables").Dynamic().Between(2, 7),
    VARVE_ROW(enable_index_compression, "compress index blocks").Dynamic(),
    VARVE_ROW(block_align, "pad blocks to pages").Dynamic(),
    VARVE_ROW(super_block_alignment_size, "unit that no block straddles; 0: off")
        .Dynamic()
        .Extended(),
    VARVE_ROW(super_block_alignment_space_overhead_ratio, "its limit of waste")
        .Dynamic()
        .Extended(),
    VARVE_ROW(separate_key_value_in_data_block, "keys apart from values")
        .DefaultOnly(kNoFeature)
        .Extended(),
    VARVE_ROW(index_shortening, "how far index keys are cut").Dynamic(),
    VARVE_ROW(max_auto_readahead_size, "most bytes read ahead"),
    VARVE_ROW(prepopulate_block_cache, "cache blocks as they are written").Dynamic(),
    VARVE_ROW(initial_auto_readahead_size, "first bytes read ahead"),
    VARVE_ROW(num_file_reads_for_auto_readahead, "sequential reads before that"),
};

#undef VARVE_ROW

#define VARVE_ROW(field, help) \
  MakeOptionRow<PlainTableOptions, &PlainTableOptions::field>(#field, help)

constexpr OptionRow kPlainTableRows[] = {
    VARVE_ROW(user_key_len, "bytes of each user key; 0: they differ"),
    VARVE_ROW(bloom_bits_per_key, "bits of the filter for each key"),
    VARVE_ROW(hash_table_ratio, "prefixes for each bucket")
        .Advisory("the index is sorted")
        .Between(0, 1),
    VARVE_ROW(index_sparseness, "rows from one indexed row to the next"),
    VARVE_ROW(huge_page_tlb_size, "bytes of a huge page").Advisory(kNoKnob),
    VARVE_ROW(encoding_type, "how keys are stored"),
    VARVE_ROW(full_scan_mode, "no point reads").Advisory("point reads work all the same"),
    VARVE_ROW(store_index_in_file, "index and filter in the file")
        .Advisory("the index is made when a table is opened"),
};

#undef VARVE_ROW

}  // namespace

const OptionTable& BlockBasedTableOptionTable() {
  static const auto table =
      OptionTable::Of<BlockBasedTableOptions>("BlockBasedTableOptions", kTableRows);
  return table;
}

const OptionTable& PlainTableOptionTable() {
  static const auto table =
      OptionTable::Of<PlainTableOptions>("PlainTableOptions", kPlainTableRows);
  return table;
}

}  // namespace varve
