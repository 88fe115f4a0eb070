// SPDX-License-Identifier: Apache-2.0
// Flags that become options of the database. Where a default differs from the library's, published
// db_bench commands rely on it: snappy, a block cache of 32 MiB, no filter, static level sizes,
// pipelined writes.

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

DEFINE_int64(write_buffer_size, 64 << 20, "Bytes of a memtable");
DEFINE_int64(db_write_buffer_size, 0, "Bytes of all memtables; 0: no limit");
DEFINE_int32(max_write_buffer_number, 2, "Memtables before writes stop");
DEFINE_int32(min_write_buffer_number_to_merge, 1, "Memtables flushed together");
DEFINE_int64(max_write_buffer_size_to_maintain, 0, "Bytes of flushed memtables kept");
DEFINE_int32(max_write_buffer_number_to_maintain, 0, "Must be 0; see the option in bytes");
DEFINE_string(memtablerep, "skip_list", "Kind of memtable: skip_list or vector");
DEFINE_int32(skip_list_lookahead, 0, "Hint of the skip list");
DEFINE_int64(arena_block_size, 0, "Bytes of a memtable's memory block; 0: automatic");
DEFINE_bool(memtable_use_huge_page, false, "Memtables from pages of 2 MiB");
DEFINE_double(memtable_bloom_size_ratio, 0.0, "Share of a memtable given to a filter");
DEFINE_bool(memtable_whole_key_filtering, false, "Whole keys in that filter");
DEFINE_uint32(memtable_protection_bytes_per_key, 0, "Checksum bytes of a memtable entry");
DEFINE_uint32(memtable_max_range_deletions, 0, "Range deletions that cause a flush; 0: any");
DEFINE_bool(inplace_update_support, false, "Overwrite values within the memtable");
DEFINE_uint64(max_total_wal_size, 0, "Bytes of all logs that cause a flush; 0: automatic");
DEFINE_bool(manual_wal_flush, false, "Write the log only on request");
DEFINE_uint64(recycle_log_file_num, 0, "Old logs kept for reuse");
DEFINE_string(wal_compression, "none", "Codec of the log");
DEFINE_uint64(wal_ttl_seconds, 0, "Seconds to keep old logs");
DEFINE_uint64(wal_size_limit_MB, 0, "MiB of old logs to keep");
DEFINE_uint64(wal_bytes_per_sync, 0, "Log bytes between incremental syncs; 0: off");
DEFINE_bool(enable_pipelined_write, true, "Overlap log and memtable work");
DEFINE_bool(unordered_write, false, "Give up the order between concurrent writes");
DEFINE_bool(two_write_queues, false, "A queue of their own for writes that only reach the log");
DEFINE_bool(atomic_flush, false, "Flush column families together");
DEFINE_bool(allow_concurrent_memtable_write, true, "Several writers fill a memtable at once");
DEFINE_bool(enable_write_thread_adaptive_yield, true, "Writers spin before they sleep");
DEFINE_uint64(write_thread_max_yield_usec, 100, "Longest spin");
DEFINE_uint64(write_thread_slow_yield_usec, 3, "A yield this long counts as contention");
DEFINE_string(merge_operator, "",
              "A built-in merge operator: max, stringappend, \"id=stringappend;delimiter=|\" ...");
DEFINE_int32(max_successive_merges, 0, "Merge at write time from so many operands on");
DEFINE_bool(avoid_flush_during_recovery, false, "Keep recovered data in memory");
DEFINE_bool(track_and_verify_wals_in_manifest, false, "Note logs in the MANIFEST");

// ---- Shape of the tree ----

DEFINE_int32(num_levels, 7, "Levels");
DEFINE_int32(compaction_style, 0, "0: levels, 1: universal, 2: FIFO, 3: none");
DEFINE_int32(compaction_pri, Library().compaction_pri, "Which file goes first, 0 to 4");
DEFINE_int64(target_file_size_base, 64 << 20, "Bytes of a table in level 1");
DEFINE_int32(target_file_size_multiplier, 1, "Factor per further level");
DEFINE_uint64(max_bytes_for_level_base, 256 << 20, "Bytes of level 1");
DEFINE_double(max_bytes_for_level_multiplier, 10, "Factor per further level");
DEFINE_string(max_bytes_for_level_multiplier_additional, "", "Further factors, comma-separated");
DEFINE_bool(level_compaction_dynamic_level_bytes, false, "Level sizes follow the last level");
DEFINE_int32(level0_file_num_compaction_trigger, 4, "Files in level 0 that start a compaction");
DEFINE_int32(level0_slowdown_writes_trigger, 20, "... that slow writes down");
DEFINE_int32(level0_stop_writes_trigger, 36, "... that stop writes");
DEFINE_uint64(soft_pending_compaction_bytes_limit, uint64_t{64} << 30,
              "Bytes compaction is behind that slow writes down");
DEFINE_uint64(hard_pending_compaction_bytes_limit, uint64_t{128} << 30, "... that stop writes");
DEFINE_uint64(delayed_write_rate, 8 << 20, "Bytes a second of slowed-down writes");
DEFINE_uint64(max_compaction_bytes, 0, "Input bytes of a compaction; 0: automatic");
DEFINE_bool(disable_auto_compactions, false, "Compact only on request");
DEFINE_uint64(ttl_seconds, Library().ttl, "Seconds until old data is compacted");
DEFINE_uint64(periodic_compaction_seconds, Library().periodic_compaction_seconds,
              "Seconds until a file is rewritten");
DEFINE_int32(universal_size_ratio, 0, "0: the library's default, as for the next three");
DEFINE_int32(universal_min_merge_width, 0, "Fewest runs merged at once");
DEFINE_int32(universal_max_merge_width, 0, "Most runs merged at once");
DEFINE_int32(universal_max_size_amplification_percent, 0, "Extra space allowed");
DEFINE_int32(universal_compression_size_percent, -1, "Share of data that is compressed");
DEFINE_bool(universal_allow_trivial_move, false, "Move instead of rewriting");
DEFINE_bool(universal_incremental, false, "Merge in slices");

// ---- Background work ----

DEFINE_int32(max_background_jobs, 2, "Flushes and compactions at once");
DEFINE_int32(max_background_compactions, -1, "Older, separate limit; -1: derived");
DEFINE_int32(max_background_flushes, -1, "Older, separate limit; -1: derived");
DEFINE_uint64(subcompactions, 1, "Pieces of a compaction that run at once");
DEFINE_int32(num_high_pri_threads, 0, "Threads of the flush pool; 0: automatic");
DEFINE_int32(num_low_pri_threads, 0, "Threads of the compaction pool; 0: automatic");
DEFINE_int32(num_bottom_pri_threads, 0, "Threads of the pool for the last level");
DEFINE_uint64(rate_limiter_bytes_per_sec, 0, "Bytes a second of background writes; 0: any");
DEFINE_int64(rate_limiter_refill_period_us, 100 * 1000, "Microseconds between its refills");
DEFINE_bool(rate_limiter_auto_tuned, false, "It follows demand");
DEFINE_bool(rate_limit_bg_reads, false, "It limits background reads too");
DEFINE_uint64(delete_obsolete_files_period_micros, 0,
              "Microseconds between searches for left-overs");
DEFINE_uint64(stats_dump_period_sec, Library().stats_dump_period_sec,
              "Seconds between dumps to LOG");
DEFINE_uint64(stats_persist_period_sec, Library().stats_persist_period_sec,
              "Seconds between entries of the statistics' history");
DEFINE_bool(persist_stats_to_disk, false, "Keep that history in the database");
DEFINE_uint64(stats_history_buffer_size, Library().stats_history_buffer_size,
              "Its bytes in memory");
DEFINE_bool(dump_malloc_stats, false, "Allocator statistics in LOG");
DEFINE_bool(report_bg_io_stats, false, "Time background I/O");

// ---- Files ----

DEFINE_int32(open_files, -1, "Open tables; -1: any");
DEFINE_int32(file_opening_threads, 16, "Threads that open tables");
DEFINE_bool(use_fsync, false, "fsync instead of fdatasync");
DEFINE_bool(use_direct_reads, false, "Read past the system's cache");
DEFINE_bool(use_direct_io_for_flush_and_compaction, false, "Background work past that cache");
DEFINE_bool(mmap_read, false, "Map tables into memory");
DEFINE_bool(mmap_write, false, "Write through mappings");
DEFINE_bool(advise_random_on_open, true, "Tell the system that tables are read at random");
DEFINE_uint64(bytes_per_sync, 0, "Table bytes between incremental syncs; 0: off");
DEFINE_int32(compaction_readahead_size, Library().compaction_readahead_size,
             "Bytes read ahead by compactions");
DEFINE_int32(log_readahead_size, 0, "Bytes read ahead in logs at recovery");
DEFINE_int32(writable_file_max_buffer_size, 1 << 20, "Bytes buffered before a file write");
DEFINE_int32(table_cache_numshardbits, 4, "Shards of the table cache");
DEFINE_bool(paranoid_checks, true, "Stop at the first damage");
DEFINE_bool(force_consistency_checks, true, "Check the order of files in each version");
DEFINE_bool(use_adaptive_mutex, false, "Spin before sleeping on a mutex");
DEFINE_bool(allow_data_in_errors, false, "Keys in error messages");

// ---- Tables and the block cache ----

DEFINE_int64(cache_size, 32 << 20, "Bytes of the block cache; 0 or less: none");
DEFINE_string(cache_type, "hyper_clock_cache",
              "lru_cache, hyper_clock_cache, "
              "auto_hyper_clock_cache, fixed_hyper_clock_cache");
DEFINE_int32(cache_numshardbits, -1, "Base-2 logarithm of its shards; -1: automatic");
DEFINE_double(cache_high_pri_pool_ratio, 0.0, "Share kept for blocks of high priority");
DEFINE_double(cache_low_pri_pool_ratio, 0.0, "Share kept for blocks of low priority");
DEFINE_bool(cache_index_and_filter_blocks, false, "Indexes and filters live in the cache");
DEFINE_bool(pin_l0_filter_and_index_blocks_in_cache, false, "... and stay there for level 0");
DEFINE_bool(pin_top_level_index_and_filter, false, "... and for the top of partitioned ones");
DEFINE_int64(prepopulate_block_cache, 0, "0: no, 1: by flush, 2: also by compaction");
DEFINE_bool(cost_write_buffer_to_cache, false, "Memtables count against the cache");
DEFINE_bool(charge_compression_dictionary_building_buffer, false,
            "Blocks that wait for a dictionary count against the cache");
DEFINE_bool(charge_file_metadata, false, "Metadata of files counts against it");
DEFINE_bool(charge_filter_construction, false, "Filters being built count against it");
DEFINE_bool(charge_table_reader, false, "Open tables count against it");
DEFINE_int32(block_size, 4096, "Bytes of a data block");
DEFINE_int32(block_restart_interval, LibraryTable().block_restart_interval,
             "Entries between full keys in a data block");
DEFINE_int32(index_block_restart_interval, LibraryTable().index_block_restart_interval,
             "The same in an index block");
DEFINE_int64(metadata_block_size, LibraryTable().metadata_block_size,
             "Bytes of an index partition");
DEFINE_int32(format_version, LibraryTable().format_version, "Of new tables");
DEFINE_int32(checksum_type, LibraryTable().checksum, "ChecksumType of new tables");
DEFINE_int32(bloom_bits, -1, "Filter bits per key; negative: no filter");
DEFINE_bool(use_ribbon_filter, false, "Ribbon instead of Bloom");
DEFINE_bool(whole_key_filtering, true, "Whole keys in the filter");
DEFINE_bool(optimize_filters_for_hits, false, "No filters in the last level");
DEFINE_bool(optimize_filters_for_memory, LibraryTable().optimize_filters_for_memory,
            "Fit filters to the allocator");
DEFINE_bool(partition_index, false, "Index of index blocks");
DEFINE_bool(partition_index_and_filters, false, "... and filters split likewise");
DEFINE_bool(index_with_first_key, false, "First keys in the index");
DEFINE_int64(index_shortening_mode, 2, "0: none, 1: separators, 2: also the last key");
DEFINE_bool(enable_index_compression, true, "Compress index blocks");
DEFINE_bool(block_align, false, "Align data blocks to pages");
DEFINE_bool(use_hash_search, false, "Hash index; needs --prefix_size");
DEFINE_bool(use_data_block_hash_index, false, "Hash table in data blocks");
DEFINE_double(data_block_hash_table_util_ratio, 0.75, "Its load");
DEFINE_int32(read_amp_bytes_per_bit, 0, "Precision of read amplification statistics");
DEFINE_uint64(initial_auto_readahead_size, LibraryTable().initial_auto_readahead_size,
              "Bytes of an iterator's first readahead");
DEFINE_uint64(max_auto_readahead_size, LibraryTable().max_auto_readahead_size,
              "... and its largest");
DEFINE_uint64(num_file_reads_for_auto_readahead, LibraryTable().num_file_reads_for_auto_readahead,
              "Sequential reads before it starts");

// ---- Compression ----

DEFINE_string(compression_type, "snappy", "none, snappy, zlib, bzip2, lz4, lz4hc, xpress or zstd");
DEFINE_int32(compression_level, 32767, "Effort; 32767: the codec's default");
DEFINE_int32(compression_max_dict_bytes, 0, "Dictionary bytes; 0: none");
DEFINE_int32(compression_zstd_max_train_bytes, 0, "Bytes to train a dictionary from");
DEFINE_bool(compression_use_zstd_dict_trainer, true, "Full training");
DEFINE_uint64(compression_max_dict_buffer_bytes, 0, "Bytes held back for training; 0: a file");
DEFINE_int32(compression_parallel_threads, 1, "Threads that compress one file");
DEFINE_int32(min_level_to_compress, -1, "First compressed level; negative: all");
DEFINE_int64(sample_for_compression, 0, "Sample every so many blocks for other codecs; 0: none");

// ---- Values in separate files ----

DEFINE_bool(enable_blob_files, false, "Large values in files of their own");
DEFINE_uint64(min_blob_size, 0, "Bytes that count as large");
DEFINE_uint64(blob_file_size, uint64_t{1} << 28, "Bytes of such a file");
DEFINE_string(blob_compression_type, "none", "Codec of such a file");
DEFINE_bool(enable_blob_garbage_collection, false, "Rewrite such files");
DEFINE_double(blob_garbage_collection_age_cutoff, 0.25, "Share of files that is old");
DEFINE_double(blob_garbage_collection_force_threshold, 1.0, "Garbage that forces a rewrite");
DEFINE_uint64(blob_compaction_readahead_size, 0, "Bytes read ahead in such files");
DEFINE_int32(blob_file_starting_level, 0, "First level that has them");
