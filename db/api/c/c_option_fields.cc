// SPDX-License-Identifier: Apache-2.0
// The plain fields of Options in the C API, and of the styles of compaction that are refused.
#include "db/api/c/c_types.h"

// A field whose C name is its C++ name; and the two halves for those where something differs.
#define VARVE_OPTION_SETTER(name, c_type, member) \
  VARVE_C_SETTER(rocksdb_options_t, rocksdb_options_set_##name, c_type, member)
#define VARVE_OPTION_GETTER(name, c_type, member) \
  VARVE_C_GETTER(rocksdb_options_t, rocksdb_options_get_##name, c_type, member)
#define VARVE_OPTION(name, c_type)         \
  VARVE_OPTION_SETTER(name, c_type, name); \
  VARVE_OPTION_GETTER(name, c_type, name)

VARVE_OPTION(create_if_missing, unsigned char);
VARVE_OPTION(create_missing_column_families, unsigned char);
VARVE_OPTION(error_if_exists, unsigned char);
VARVE_OPTION(paranoid_checks, unsigned char);
VARVE_OPTION(flush_verify_memtable_count, unsigned char);
VARVE_OPTION(compaction_verify_record_count, unsigned char);
VARVE_OPTION(track_and_verify_wals_in_manifest, unsigned char);
VARVE_OPTION(verify_sst_unique_id_in_manifest, unsigned char);
VARVE_OPTION(skip_stats_update_on_db_open, unsigned char);
VARVE_OPTION(wal_recovery_mode, int);
VARVE_OPTION(best_efforts_recovery, unsigned char);
VARVE_OPTION(skip_checking_sst_file_sizes_on_db_open, unsigned char);
VARVE_OPTION(bottommost_file_compaction_delay, uint32_t);
VARVE_OPTION(avoid_flush_during_recovery, unsigned char);
VARVE_OPTION(avoid_flush_during_shutdown, unsigned char);
VARVE_OPTION(allow_2pc, unsigned char);
VARVE_OPTION(write_dbid_to_manifest, unsigned char);
VARVE_OPTION(write_identity_file, unsigned char);
VARVE_OPTION(allow_data_in_errors, unsigned char);
VARVE_OPTION(enforce_single_del_contracts, unsigned char);
VARVE_OPTION(max_bgerror_resume_count, int);
VARVE_OPTION(bgerror_resume_retry_interval, uint64_t);

VARVE_OPTION(info_log_level, int);
VARVE_OPTION(max_log_file_size, size_t);
VARVE_OPTION(log_file_time_to_roll, size_t);
VARVE_OPTION(keep_log_file_num, size_t);
VARVE_OPTION(max_open_files, int);
VARVE_OPTION(max_file_opening_threads, int);
VARVE_OPTION(max_total_wal_size, uint64_t);
VARVE_OPTION(use_fsync, int);
VARVE_OPTION(delete_obsolete_files_period_micros, uint64_t);
VARVE_OPTION(max_manifest_file_size, size_t);
VARVE_OPTION(manifest_preallocation_size, size_t);
VARVE_OPTION(table_cache_numshardbits, int);
VARVE_OPTION(recycle_log_file_num, size_t);
VARVE_OPTION(WAL_ttl_seconds, uint64_t);
VARVE_OPTION(WAL_size_limit_MB, uint64_t);
VARVE_OPTION(allow_mmap_reads, unsigned char);
VARVE_OPTION(allow_mmap_writes, unsigned char);
VARVE_OPTION(use_direct_reads, unsigned char);
VARVE_OPTION(use_direct_io_for_flush_and_compaction, unsigned char);
VARVE_OPTION(allow_fallocate, unsigned char);
VARVE_OPTION(is_fd_close_on_exec, unsigned char);
VARVE_OPTION(advise_random_on_open, unsigned char);
VARVE_C_SETTER(rocksdb_options_t, rocksdb_options_compaction_readahead_size, size_t,
               compaction_readahead_size);
VARVE_OPTION_GETTER(compaction_readahead_size, size_t, compaction_readahead_size);
VARVE_OPTION(writable_file_max_buffer_size, uint64_t);
VARVE_OPTION(bytes_per_sync, uint64_t);
VARVE_OPTION(wal_bytes_per_sync, uint64_t);
VARVE_OPTION(strict_bytes_per_sync, unsigned char);
VARVE_OPTION(log_readahead_size, size_t);
VARVE_OPTION(avoid_unnecessary_blocking_io, unsigned char);

VARVE_OPTION(max_background_jobs, int);
VARVE_OPTION(max_background_compactions, int);
VARVE_OPTION(max_background_flushes, int);
VARVE_OPTION(max_subcompactions, uint32_t);
VARVE_OPTION(enable_thread_tracking, unsigned char);
VARVE_OPTION(stats_dump_period_sec, unsigned int);
VARVE_OPTION(stats_persist_period_sec, unsigned int);
VARVE_OPTION(persist_stats_to_disk, unsigned char);
VARVE_OPTION(stats_history_buffer_size, size_t);
VARVE_OPTION(dump_malloc_stats, unsigned char);

VARVE_OPTION(db_write_buffer_size, size_t);
VARVE_OPTION(delayed_write_rate, uint64_t);
VARVE_OPTION(enable_pipelined_write, unsigned char);
VARVE_OPTION(unordered_write, unsigned char);
VARVE_OPTION(two_write_queues, unsigned char);
VARVE_OPTION(allow_ingest_behind, unsigned char);
VARVE_OPTION(atomic_flush, unsigned char);
VARVE_OPTION(allow_concurrent_memtable_write, unsigned char);
VARVE_OPTION(enable_write_thread_adaptive_yield, unsigned char);
VARVE_OPTION(max_write_batch_group_size_bytes, uint64_t);
VARVE_OPTION(write_thread_max_yield_usec, uint64_t);
VARVE_OPTION(write_thread_slow_yield_usec, uint64_t);
VARVE_OPTION(use_adaptive_mutex, unsigned char);
VARVE_OPTION(manual_wal_flush, unsigned char);
VARVE_OPTION(wal_compression, int);
VARVE_OPTION(prefix_seek_opt_in_only, unsigned char);

VARVE_OPTION(write_buffer_size, size_t);
VARVE_OPTION(max_write_buffer_number, int);
VARVE_OPTION(min_write_buffer_number_to_merge, int);
VARVE_OPTION(max_write_buffer_size_to_maintain, int64_t);
VARVE_OPTION(inplace_update_support, unsigned char);
VARVE_OPTION(inplace_update_num_locks, size_t);
VARVE_OPTION(memtable_prefix_bloom_size_ratio, double);
VARVE_OPTION(memtable_whole_key_filtering, unsigned char);
VARVE_OPTION(memtable_huge_page_size, size_t);
VARVE_OPTION(bloom_locality, uint32_t);
VARVE_OPTION(arena_block_size, size_t);
VARVE_OPTION(memtable_protection_bytes_per_key, uint32_t);
VARVE_OPTION(memtable_max_range_deletions, uint32_t);
VARVE_OPTION(max_successive_merges, size_t);
VARVE_OPTION(strict_max_successive_merges, unsigned char);

VARVE_OPTION(compression, int);
VARVE_OPTION(bottommost_compression, int);
VARVE_OPTION(num_levels, int);
VARVE_OPTION(level0_file_num_compaction_trigger, int);
VARVE_OPTION(level0_slowdown_writes_trigger, int);
VARVE_OPTION(level0_stop_writes_trigger, int);
VARVE_OPTION(target_file_size_base, uint64_t);
VARVE_OPTION(target_file_size_multiplier, int);
VARVE_OPTION(level_compaction_dynamic_level_bytes, unsigned char);
VARVE_OPTION(max_bytes_for_level_base, uint64_t);
VARVE_OPTION(max_bytes_for_level_multiplier, double);
VARVE_OPTION(max_compaction_bytes, uint64_t);
VARVE_OPTION(soft_pending_compaction_bytes_limit, size_t);
VARVE_OPTION(hard_pending_compaction_bytes_limit, size_t);
VARVE_OPTION_SETTER(disable_auto_compactions, int, disable_auto_compactions);
VARVE_OPTION_GETTER(disable_auto_compactions, unsigned char, disable_auto_compactions);
VARVE_OPTION(compaction_style, int);
VARVE_OPTION(compaction_pri, int);
VARVE_OPTION(ttl, uint64_t);
VARVE_OPTION(periodic_compaction_seconds, uint64_t);
VARVE_OPTION(max_sequential_skip_in_iterations, uint64_t);
VARVE_OPTION_SETTER(optimize_filters_for_hits, int, optimize_filters_for_hits);
VARVE_OPTION_GETTER(optimize_filters_for_hits, unsigned char, optimize_filters_for_hits);
VARVE_OPTION(paranoid_file_checks, unsigned char);
VARVE_OPTION(force_consistency_checks, unsigned char);
VARVE_OPTION_SETTER(report_bg_io_stats, int, report_bg_io_stats);
VARVE_OPTION_GETTER(report_bg_io_stats, unsigned char, report_bg_io_stats);
VARVE_OPTION(sample_for_compression, uint64_t);
VARVE_OPTION(persist_user_defined_timestamps, unsigned char);

VARVE_OPTION(enable_blob_files, unsigned char);
VARVE_OPTION(min_blob_size, uint64_t);
VARVE_OPTION(blob_file_size, uint64_t);
VARVE_OPTION(blob_compression_type, int);
VARVE_OPTION_SETTER(enable_blob_gc, unsigned char, enable_blob_garbage_collection);
VARVE_OPTION_GETTER(enable_blob_gc, unsigned char, enable_blob_garbage_collection);
VARVE_OPTION_SETTER(blob_gc_age_cutoff, double, blob_garbage_collection_age_cutoff);
VARVE_OPTION_GETTER(blob_gc_age_cutoff, double, blob_garbage_collection_age_cutoff);
VARVE_OPTION_SETTER(blob_gc_force_threshold, double, blob_garbage_collection_force_threshold);
VARVE_OPTION_GETTER(blob_gc_force_threshold, double, blob_garbage_collection_force_threshold);
VARVE_OPTION(blob_compaction_readahead_size, uint64_t);
VARVE_OPTION(blob_file_starting_level, int);

void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_universal_compaction_options",
                                universal == nullptr);
  });
  if (universal != nullptr) options->rep.compaction_options_universal = universal->rep;
}

void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* fifo) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_fifo_compaction_options", fifo == nullptr);
  });
  if (fifo != nullptr) options->rep.compaction_options_fifo = fifo->rep;
}

VARVE_C_HANDLE(universal_compaction_options);

VARVE_C_FIELD(universal_compaction_options, size_ratio, int);
VARVE_C_FIELD(universal_compaction_options, min_merge_width, int);
VARVE_C_FIELD(universal_compaction_options, max_merge_width, int);
VARVE_C_FIELD(universal_compaction_options, max_size_amplification_percent, int);
VARVE_C_FIELD(universal_compaction_options, compression_size_percent, int);
VARVE_C_FIELD(universal_compaction_options, stop_style, int);
VARVE_C_FIELD(universal_compaction_options, allow_trivial_move, unsigned char);
VARVE_C_FIELD(universal_compaction_options, incremental, unsigned char);

VARVE_C_HANDLE(fifo_compaction_options);

VARVE_C_FIELD(fifo_compaction_options, allow_compaction, unsigned char);
VARVE_C_FIELD(fifo_compaction_options, max_table_files_size, uint64_t);

// ---- Fields that only RocksDB has ----

VARVE_C_FIELD(universal_compaction_options, max_read_amp, int);
VARVE_C_FIELD(universal_compaction_options, reduce_file_locking, unsigned char);
VARVE_C_FIELD(fifo_compaction_options, age_for_warm, uint64_t);
VARVE_C_FIELD(fifo_compaction_options, allow_trivial_copy_when_change_temperature, unsigned char);
VARVE_C_FIELD(fifo_compaction_options, trivial_copy_buffer_size, uint64_t);
VARVE_C_FIELD(fifo_compaction_options, max_data_files_size, uint64_t);
VARVE_C_FIELD(fifo_compaction_options, use_kv_ratio_compaction, unsigned char);
