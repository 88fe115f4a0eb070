// SPDX-License-Identifier: Apache-2.0
// Flags that become options of the database and are named otherwise, or have values of another
// form. option_flags.cc has the others. Where a default differs from the library's, published
// db_bench commands rely on it: snappy, a block cache of 32 MiB, no filter.

#include "varve/options.h"
#include "varve/table.h"

#include "tools/db_bench/flags.h"

namespace {

const varve::Options& Library() {
  static const varve::Options options;
  return options;
}

const varve::BlockBasedTableOptions& LibraryTable() {
  static const varve::BlockBasedTableOptions options;
  return options;
}

}  // namespace

DEFINE_string(options_file, "", "Take all options from this file instead of from flags");

// ---- Memtables and the log ----

DEFINE_int32(max_write_buffer_number_to_maintain, 0, "Must be 0; see the option in bytes");
DEFINE_string(memtablerep, "skip_list",
              "Kind of memtable: skip_list, plain_skip_list or vector; prefix_hash and "
              "hash_linkedlist mean skip_list");
DEFINE_int32(skip_list_lookahead, 0, "Hint of the skip list");
DEFINE_bool(file_checksum, false,
            "Store a checksum of each table file, which verifyfilechecksums needs");
DEFINE_bool(memtable_use_huge_page, false, "Memtables from pages of 2 MiB");
DEFINE_double(memtable_bloom_size_ratio, 0.0, "Share of a memtable given to a filter");
DEFINE_uint64(wal_ttl_seconds, 0, "Seconds to keep old logs");
DEFINE_uint64(wal_size_limit_MB, 0, "MiB of old logs to keep");
DEFINE_string(merge_operator, "",
              "A built-in merge operator: max, stringappend, \"id=stringappend;delimiter=|\" ...");

// ---- Shape of the tree ----

DEFINE_int32(compaction_style, 0, "0: levels, 1: universal, 2: FIFO, 3: none");
DEFINE_int32(compaction_pri, Library().compaction_pri, "Which file goes first, 0 to 4");
DEFINE_uint64(ttl_seconds, Library().ttl, "Seconds until old data is compacted");
DEFINE_int32(universal_size_ratio, 0, "0: the library's default, as for the next three");
DEFINE_int32(universal_min_merge_width, 0, "Fewest runs merged at once");
DEFINE_int32(universal_max_merge_width, 0, "Most runs merged at once");
DEFINE_int32(universal_max_size_amplification_percent, 0, "Extra space allowed");
DEFINE_int32(universal_compression_size_percent, -1, "Share of data that is compressed");
DEFINE_bool(universal_allow_trivial_move, false, "Move instead of rewriting");
DEFINE_bool(universal_incremental, false, "Merge in slices");
DEFINE_int32(universal_max_read_amp, -1, "Runs that may stay; -1: the trigger; 0: derived");
DEFINE_int32(universal_stop_style, 1, "0: runs are added while they are alike, 1: by total size");
DEFINE_bool(universal_reduce_file_locking, true, "Lock inputs late");
DEFINE_uint64(fifo_compaction_max_table_files_size_mb, 0, "Cap in MiB; 0: the library's default");
DEFINE_bool(fifo_compaction_allow_compaction, true, "Merge small tables");
DEFINE_uint64(fifo_age_for_warm, 0, "Seconds until tables are warm; 0: never");
DEFINE_uint64(fifo_compaction_ttl, 0, "Seconds until tables are dropped; 0: as ttl_seconds says");

// ---- Background work ----

DEFINE_uint64(subcompactions, 1, "Pieces of a compaction that run at once");
DEFINE_int32(num_high_pri_threads, 0, "Threads of the flush pool; 0: automatic");
DEFINE_int32(num_low_pri_threads, 0, "Threads of the compaction pool; 0: automatic");
DEFINE_int32(num_bottom_pri_threads, 0, "Threads of the pool for the last level");
DEFINE_uint64(rate_limiter_bytes_per_sec, 0, "Bytes a second of background writes; 0: any");
DEFINE_int64(rate_limiter_refill_period_us, 100 * 1000, "Microseconds between its refills");
DEFINE_bool(rate_limiter_auto_tuned, false, "It follows demand");
DEFINE_int64(rate_limiter_single_burst_bytes, 0, "Most bytes of one request; 0: those of a period");
DEFINE_bool(rate_limit_bg_reads, false, "It limits background reads too");

// ---- Files ----

DEFINE_int32(open_files, -1, "Open tables; -1: any");
DEFINE_int32(file_opening_threads, 16, "Threads that open tables");
DEFINE_bool(mmap_read, false, "Map tables into memory");
DEFINE_bool(mmap_write, false, "Write through mappings");

// ---- Tables and the block cache ----

DEFINE_int64(cache_size, 32 << 20, "Bytes of the block cache; 0: none");
DEFINE_string(cache_type, "hyper_clock_cache",
              "lru_cache, hyper_clock_cache, "
              "auto_hyper_clock_cache, fixed_hyper_clock_cache");
DEFINE_int32(cache_numshardbits, -1, "Base-2 logarithm of its shards; -1: automatic");
DEFINE_double(cache_high_pri_pool_ratio, 0.0, "Share kept for blocks of high priority");
DEFINE_double(cache_low_pri_pool_ratio, 0.0, "Share kept for blocks of low priority");
DEFINE_bool(use_blob_cache, false, "Cache values of blob files");
DEFINE_bool(use_shared_block_and_blob_cache, true, "In the block cache");
DEFINE_uint64(blob_cache_size, 8 << 20, "Bytes of a blob cache that is not shared");
DEFINE_int32(blob_cache_numshardbits, 6, "Its shards: log2; -1: derived");
DEFINE_int32(prepopulate_blob_cache, 0, "0: no, 1: by flush");
DEFINE_int64(prepopulate_block_cache, 0, "0: no, 1: by flush, 2: also by compaction");
DEFINE_bool(cost_write_buffer_to_cache, false, "Memtables count against the cache");
DEFINE_bool(charge_compression_dictionary_building_buffer, false,
            "Blocks that wait for a dictionary count against the cache");
DEFINE_bool(charge_blob_cache, false, "A blob cache of its own counts against it");
DEFINE_bool(charge_file_metadata, false, "Metadata of files counts against it");
DEFINE_bool(charge_filter_construction, false, "Filters being built count against it");
DEFINE_bool(charge_table_reader, false, "Open tables count against it");
DEFINE_int32(block_size, 4096, "Bytes of a data block");
DEFINE_int32(format_version, LibraryTable().format_version, "Of new tables");
DEFINE_int32(checksum_type, LibraryTable().checksum, "ChecksumType of new tables");
DEFINE_int32(bloom_bits, -1, "Filter bits per key; negative: no filter");
DEFINE_bool(use_ribbon_filter, false, "Ribbon instead of Bloom");
DEFINE_bool(partition_index, false, "Index of index blocks");
DEFINE_bool(partition_index_and_filters, false, "... and filters split likewise");
DEFINE_bool(index_with_first_key, false, "First keys in the index");
DEFINE_int64(index_shortening_mode, 2, "0: none, 1: separators, 2: also the last key");
DEFINE_bool(use_hash_search, false, "Hash index; needs --prefix_size");
DEFINE_bool(use_plain_table, false, "PlainTables; --bloom_bits, and --prefix_size for kPrefix");
DEFINE_bool(use_data_block_hash_index, false, "Hash table in data blocks");

// ---- Compression ----

DEFINE_string(compression_type, "snappy", "none, snappy, zlib, bzip2, lz4, lz4hc, xpress or zstd");
DEFINE_int32(compression_level, 32767, "Effort; 32767: the codec's default");
DEFINE_int32(compression_max_dict_bytes, 0, "Dictionary bytes; 0: none");
DEFINE_int32(compression_zstd_max_train_bytes, 0, "Bytes to train a dictionary from");
DEFINE_bool(compression_use_zstd_dict_trainer, true, "Full training");
DEFINE_uint64(compression_max_dict_buffer_bytes, 0, "Bytes held back for training; 0: a file");
DEFINE_int32(compression_parallel_threads, 1, "Threads that compress one file");
DEFINE_uint64(sample_for_compression, 0, "Blocks of which one is a sample for codecs; 0: none");
DEFINE_uint32(memtable_protection_bytes_per_key, 0, "Checksum of each entry in memory");
DEFINE_uint32(block_protection_bytes_per_key, 0, "Not 0: checksums of blocks in the cache");
DEFINE_int32(min_level_to_compress, -1, "First compressed level; negative: all");
