// SPDX-License-Identifier: Apache-2.0
// Tests that options return the values that were set, and that these reach the database where that
// is visible.

#include "check.h"

#define ROUND_TRIP(object, name, handle, value)              \
  do {                                                       \
    rocksdb_##object##_set_##name(handle, value);            \
    CHECK(rocksdb_##object##_get_##name(handle) == (value)); \
  } while (0)
// A flag goes on and off, and any value but 0 is on.
#define FLAG(object, name, handle)                     \
  do {                                                 \
    ROUND_TRIP(object, name, handle, 1);               \
    ROUND_TRIP(object, name, handle, 0);               \
    rocksdb_##object##_set_##name(handle, 200);        \
    CHECK(rocksdb_##object##_get_##name(handle) == 1); \
  } while (0)

static void CheckDatabaseFlags(rocksdb_options_t* o) {
  FLAG(options, create_if_missing, o);
  FLAG(options, create_missing_column_families, o);
  FLAG(options, error_if_exists, o);
  FLAG(options, paranoid_checks, o);
  FLAG(options, flush_verify_memtable_count, o);
  FLAG(options, compaction_verify_record_count, o);
  FLAG(options, track_and_verify_wals_in_manifest, o);
  FLAG(options, verify_sst_unique_id_in_manifest, o);
  FLAG(options, skip_stats_update_on_db_open, o);
  FLAG(options, best_efforts_recovery, o);
  FLAG(options, avoid_flush_during_recovery, o);
  FLAG(options, avoid_flush_during_shutdown, o);
  FLAG(options, allow_2pc, o);
  FLAG(options, write_dbid_to_manifest, o);
  FLAG(options, write_identity_file, o);
  FLAG(options, allow_data_in_errors, o);
  FLAG(options, enforce_single_del_contracts, o);
  FLAG(options, allow_mmap_reads, o);
  FLAG(options, allow_mmap_writes, o);
  FLAG(options, use_direct_reads, o);
  FLAG(options, use_direct_io_for_flush_and_compaction, o);
  FLAG(options, allow_fallocate, o);
  FLAG(options, is_fd_close_on_exec, o);
  FLAG(options, advise_random_on_open, o);
  FLAG(options, strict_bytes_per_sync, o);
  FLAG(options, avoid_unnecessary_blocking_io, o);
  FLAG(options, enable_thread_tracking, o);
  FLAG(options, persist_stats_to_disk, o);
  FLAG(options, dump_malloc_stats, o);
  FLAG(options, enable_pipelined_write, o);
  FLAG(options, unordered_write, o);
  FLAG(options, two_write_queues, o);
  FLAG(options, allow_ingest_behind, o);
  FLAG(options, atomic_flush, o);
  FLAG(options, allow_concurrent_memtable_write, o);
  FLAG(options, enable_write_thread_adaptive_yield, o);
  FLAG(options, use_adaptive_mutex, o);
  FLAG(options, manual_wal_flush, o);
  FLAG(options, prefix_seek_opt_in_only, o);
  ROUND_TRIP(options, use_fsync, o, 1);
}

static void CheckDatabaseNumbers(rocksdb_options_t* o) {
  ROUND_TRIP(options, wal_recovery_mode, o, rocksdb_absolute_consistency_recovery);
  ROUND_TRIP(options, max_bgerror_resume_count, o, 3);
  ROUND_TRIP(options, bgerror_resume_retry_interval, o, 4);
  ROUND_TRIP(options, follower_refresh_catchup_period_ms, o, 35);
  ROUND_TRIP(options, follower_catchup_retry_count, o, 36);
  ROUND_TRIP(options, follower_catchup_retry_wait_ms, o, 37);
  ROUND_TRIP(options, info_log_level, o, 2);
  ROUND_TRIP(options, max_log_file_size, o, 5);
  ROUND_TRIP(options, log_file_time_to_roll, o, 6);
  ROUND_TRIP(options, keep_log_file_num, o, 7);
  ROUND_TRIP(options, max_open_files, o, 8);
  ROUND_TRIP(options, max_file_opening_threads, o, 9);
  ROUND_TRIP(options, max_total_wal_size, o, 10);
  ROUND_TRIP(options, delete_obsolete_files_period_micros, o, 11);
  ROUND_TRIP(options, max_manifest_file_size, o, 12);
  ROUND_TRIP(options, manifest_preallocation_size, o, 13);
  ROUND_TRIP(options, table_cache_numshardbits, o, 14);
  ROUND_TRIP(options, recycle_log_file_num, o, 15);
  ROUND_TRIP(options, WAL_ttl_seconds, o, 16);
  ROUND_TRIP(options, WAL_size_limit_MB, o, 17);
  rocksdb_options_compaction_readahead_size(o, 18);
  CHECK(rocksdb_options_get_compaction_readahead_size(o) == 18);
  ROUND_TRIP(options, writable_file_max_buffer_size, o, 19);
  ROUND_TRIP(options, bytes_per_sync, o, 20);
  ROUND_TRIP(options, wal_bytes_per_sync, o, 21);
  ROUND_TRIP(options, log_readahead_size, o, 22);
  ROUND_TRIP(options, max_background_jobs, o, 23);
  ROUND_TRIP(options, max_background_compactions, o, 24);
  ROUND_TRIP(options, max_background_flushes, o, 25);
  ROUND_TRIP(options, max_subcompactions, o, 26);
  ROUND_TRIP(options, stats_dump_period_sec, o, 27);
  ROUND_TRIP(options, stats_persist_period_sec, o, 28);
  ROUND_TRIP(options, stats_history_buffer_size, o, 29);
  ROUND_TRIP(options, db_write_buffer_size, o, (size_t)5 << 32);
  ROUND_TRIP(options, delayed_write_rate, o, 31);
  ROUND_TRIP(options, max_write_batch_group_size_bytes, o, 32);
  ROUND_TRIP(options, write_thread_max_yield_usec, o, 33);
  ROUND_TRIP(options, write_thread_slow_yield_usec, o, 34);
  ROUND_TRIP(options, wal_compression, o, rocksdb_zstd_compression);
}

static void CheckFamilyFields(rocksdb_options_t* o) {
  FLAG(options, inplace_update_support, o);
  FLAG(options, memtable_whole_key_filtering, o);
  FLAG(options, strict_max_successive_merges, o);
  FLAG(options, level_compaction_dynamic_level_bytes, o);
  FLAG(options, disable_auto_compactions, o);
  FLAG(options, optimize_filters_for_hits, o);
  FLAG(options, paranoid_file_checks, o);
  FLAG(options, force_consistency_checks, o);
  FLAG(options, report_bg_io_stats, o);
  FLAG(options, persist_user_defined_timestamps, o);
  FLAG(options, enable_blob_files, o);
  FLAG(options, enable_blob_gc, o);
  ROUND_TRIP(options, write_buffer_size, o, (size_t)6 << 32);
  ROUND_TRIP(options, max_write_buffer_number, o, 36);
  ROUND_TRIP(options, min_write_buffer_number_to_merge, o, 37);
  ROUND_TRIP(options, max_write_buffer_size_to_maintain, o, -1);
  ROUND_TRIP(options, inplace_update_num_locks, o, 39);
  ROUND_TRIP(options, memtable_prefix_bloom_size_ratio, o, 0.125);
  ROUND_TRIP(options, memtable_huge_page_size, o, 40);
  ROUND_TRIP(options, bloom_locality, o, 41);
  ROUND_TRIP(options, arena_block_size, o, 42);
  ROUND_TRIP(options, memtable_protection_bytes_per_key, o, 8);
  ROUND_TRIP(options, memtable_max_range_deletions, o, 43);
  ROUND_TRIP(options, max_successive_merges, o, 44);
  ROUND_TRIP(options, compression, o, rocksdb_lz4hc_compression);
  ROUND_TRIP(options, bottommost_compression, o, rocksdb_zstd_compression);
  ROUND_TRIP(options, num_levels, o, 5);
  ROUND_TRIP(options, level0_file_num_compaction_trigger, o, 45);
  ROUND_TRIP(options, level0_slowdown_writes_trigger, o, 46);
  ROUND_TRIP(options, level0_stop_writes_trigger, o, 47);
  ROUND_TRIP(options, target_file_size_base, o, (uint64_t)7 << 33);
  ROUND_TRIP(options, target_file_size_multiplier, o, 48);
  ROUND_TRIP(options, max_bytes_for_level_base, o, 49);
  ROUND_TRIP(options, max_bytes_for_level_multiplier, o, 2.5);
  ROUND_TRIP(options, max_compaction_bytes, o, 50);
  ROUND_TRIP(options, soft_pending_compaction_bytes_limit, o, 51);
  ROUND_TRIP(options, hard_pending_compaction_bytes_limit, o, 52);
  ROUND_TRIP(options, compaction_style, o, rocksdb_fifo_compaction);
  ROUND_TRIP(options, compaction_pri, o, rocksdb_k_round_robin_compaction_pri);
  ROUND_TRIP(options, ttl, o, 53);
  ROUND_TRIP(options, periodic_compaction_seconds, o, 54);
  ROUND_TRIP(options, max_sequential_skip_in_iterations, o, 55);
  ROUND_TRIP(options, sample_for_compression, o, 56);
  ROUND_TRIP(options, min_blob_size, o, 57);
  ROUND_TRIP(options, blob_file_size, o, 58);
  ROUND_TRIP(options, blob_compression_type, o, rocksdb_lz4_compression);
  ROUND_TRIP(options, blob_gc_age_cutoff, o, 0.5);
  ROUND_TRIP(options, blob_gc_force_threshold, o, 0.75);
  ROUND_TRIP(options, blob_compaction_readahead_size, o, 59);
  ROUND_TRIP(options, blob_file_starting_level, o, 2);
}

static void CheckRefusedStyles(rocksdb_options_t* o) {
  rocksdb_universal_compaction_options_t* u = rocksdb_universal_compaction_options_create();
  ROUND_TRIP(universal_compaction_options, size_ratio, u, 1);
  ROUND_TRIP(universal_compaction_options, min_merge_width, u, 2);
  ROUND_TRIP(universal_compaction_options, max_merge_width, u, 3);
  ROUND_TRIP(universal_compaction_options, max_size_amplification_percent, u, 4);
  ROUND_TRIP(universal_compaction_options, compression_size_percent, u, -1);
  ROUND_TRIP(universal_compaction_options, stop_style, u,
             rocksdb_similar_size_compaction_stop_style);
  FLAG(universal_compaction_options, allow_trivial_move, u);
  FLAG(universal_compaction_options, incremental, u);
  rocksdb_options_set_universal_compaction_options(o, u);
  rocksdb_universal_compaction_options_destroy(u);
  rocksdb_fifo_compaction_options_t* fifo = rocksdb_fifo_compaction_options_create();
  FLAG(fifo_compaction_options, allow_compaction, fifo);
  ROUND_TRIP(fifo_compaction_options, max_table_files_size, fifo, 5);
  rocksdb_options_set_fifo_compaction_options(o, fifo);
  rocksdb_fifo_compaction_options_destroy(fifo);
}

void TestOptionFields(void) {
  rocksdb_options_t* o = rocksdb_options_create();
  CheckDatabaseFlags(o);
  CheckDatabaseNumbers(o);
  CheckFamilyFields(o);
  CheckRefusedStyles(o);
  rocksdb_options_t* copy = rocksdb_options_create_copy(o);
  rocksdb_options_destroy(o);
  CHECK(rocksdb_options_get_write_buffer_size(copy) == (size_t)6 << 32);
  rocksdb_options_destroy(copy);
}

static void CheckCompression(rocksdb_options_t* o) {
  const int levels[] = {rocksdb_no_compression, rocksdb_lz4_compression};
  rocksdb_options_set_compression_per_level(o, levels, 2);
  rocksdb_options_set_compression(o, rocksdb_lz4_compression);
  rocksdb_options_set_min_level_to_compress(o, 2);
  rocksdb_options_set_compression_options(o, -14, 3, 0, 4096);
  ROUND_TRIP(options, compression_options_zstd_max_train_bytes, o, 1 << 16);
  ROUND_TRIP(options, compression_options_parallel_threads, o, 2);
  ROUND_TRIP(options, compression_options_max_dict_buffer_bytes, o, 1 << 20);
  FLAG(options, compression_options_use_zstd_dict_trainer, o);
  rocksdb_options_set_bottommost_compression_options(o, -14, 3, 0, 4096, 1);
  rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(o, 1 << 16, 1);
  rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(o, 1 << 20, 1);
  rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(o, 0, 1);
  CHECK(rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(o) == 0);
  int additional[] = {1, 1, 2};
  rocksdb_options_set_max_bytes_for_level_multiplier_additional(o, additional, 3);
}

static void CheckText(rocksdb_options_t* o) {
  size_t size = 0;
  rocksdb_options_set_db_log_dir(o, "/logs");
  CHECK(Equal(rocksdb_options_get_db_log_dir(o, &size), 5, "/logs") && size == 5);
  rocksdb_options_set_wal_dir(o, "/wal");
  CHECK(Equal(rocksdb_options_get_wal_dir(o, &size), 4, "/wal") && size == 4);
  rocksdb_options_set_db_host_id(o, "host");
  CHECK(Equal(rocksdb_options_get_db_host_id(o, &size), 4, "host") && size == 4);
}

static void CheckParsing(rocksdb_options_t* o) {
  char* error = NULL;
  rocksdb_options_t* parsed = rocksdb_options_create();
  rocksdb_options_set_max_open_files(o, 77);
  rocksdb_get_options_from_string(
      o, "write_buffer_size=4M;block_based_table_factory={block_size=8192}", parsed, &error);
  CHECK_OK(error);
  CHECK(rocksdb_options_get_write_buffer_size(parsed) == 4 << 20);
  CHECK(rocksdb_options_get_max_open_files(parsed) == 77);
  rocksdb_get_options_from_string(o, "no_such_option=1", parsed, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(rocksdb_options_get_write_buffer_size(parsed) == 4 << 20);
  rocksdb_options_destroy(parsed);
}

static void MakeSmall(rocksdb_options_t* options) {
  rocksdb_options_set_write_buffer_size(options, 1 << 20);
  rocksdb_options_set_num_levels(options, 4);
}

static void CheckLoading(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "loaded", MakeSmall);
  rocksdb_column_family_handle_t* one =
      rocksdb_create_column_family(f.db, f.options, "one", &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(one);
  rocksdb_env_t* env = rocksdb_create_default_env();
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_options_t* db_options = NULL;
  size_t n = 0;
  char** names = NULL;
  rocksdb_options_t** options = NULL;
  rocksdb_load_latest_options(f.path, env, false, cache, &db_options, &n, &names, &options, &error);
  CHECK_OK(error);
  CHECK(n == 2 && strcmp(names[0], "default") == 0 && strcmp(names[1], "one") == 0);
  CHECK(rocksdb_options_get_num_levels(options[1]) == 4);
  CHECK(rocksdb_options_get_write_buffer_size(options[0]) == 1 << 20);
  rocksdb_load_latest_options_destroy(db_options, names, options, n);
  rocksdb_load_latest_options("/no/such/place", env, false, NULL, &db_options, &n, &names, &options,
                              &error);
  CHECK(db_options == NULL && names == NULL && options == NULL);
  CHECK_ERROR(error, "");
  rocksdb_cache_destroy(cache);
  rocksdb_env_destroy(env);
  Close(&f);
}

static void UseVector(rocksdb_options_t* options) {
  rocksdb_options_set_memtable_vector_rep(options);
  rocksdb_options_set_memtable_vector_rep(NULL);
}

// Only the vector memtable grows when it is first read, as it is sorted then.
static void CheckVectorMemtables(void) {
  const char* const size = "rocksdb.cur-size-active-mem-table";
  Fixture f;
  uint64_t before = 0;
  uint64_t after = 0;
  Open(&f, "vector", UseVector);
  PutText(&f, "b", "2");
  PutText(&f, "a", "1");
  CHECK(rocksdb_property_int(f.db, size, &before) == 0);
  CHECK(Has(&f, "a", "1"));
  CHECK(rocksdb_property_int(f.db, size, &after) == 0);
  CHECK(after > before);
  Reopen(&f);
  CHECK(Has(&f, "b", "2"));
  Close(&f);
}

void TestOptionObjects(void) {
  CheckVectorMemtables();
  rocksdb_options_t* o = rocksdb_options_create();
  CheckCompression(o);
  CheckText(o);
  rocksdb_options_destroy(o);

  o = rocksdb_options_create();
  CheckParsing(o);
  rocksdb_options_increase_parallelism(o, 4);
  CHECK(rocksdb_options_get_max_background_jobs(o) == 4);
  rocksdb_options_optimize_level_style_compaction(o, 64 << 20);
  CHECK(rocksdb_options_get_write_buffer_size(o) == 16 << 20);
  rocksdb_options_optimize_for_point_lookup(o, 8);
  rocksdb_options_prepare_for_bulk_load(o);
  CHECK(rocksdb_options_get_disable_auto_compactions(o) == 1);

  CHECK(rocksdb_options_get_info_log(o) == NULL);
  rocksdb_logger_t* logger = rocksdb_logger_create_stderr_logger(4, "test: ");
  rocksdb_options_set_info_log(o, logger);
  rocksdb_logger_destroy(logger);
  logger = rocksdb_options_get_info_log(o);
  CHECK(logger != NULL);
  rocksdb_logger_destroy(logger);
  rocksdb_dbpath_t* path = rocksdb_dbpath_create("/tmp/elsewhere", 1 << 30);
  const rocksdb_dbpath_t* paths[] = {path};
  rocksdb_options_set_db_paths(o, paths, 1);
  rocksdb_options_set_cf_paths(o, paths, 1);
  rocksdb_dbpath_destroy(path);
  rocksdb_options_destroy(o);
  CheckLoading();
}

void TestTableOptions(void) {
  rocksdb_block_based_table_options_t* t = rocksdb_block_based_options_create();
  FLAG(block_based_options, cache_index_and_filter_blocks, t);
  FLAG(block_based_options, cache_index_and_filter_blocks_with_high_priority, t);
  FLAG(block_based_options, pin_l0_filter_and_index_blocks_in_cache, t);
  FLAG(block_based_options, pin_top_level_index_and_filter, t);
  FLAG(block_based_options, no_block_cache, t);
  FLAG(block_based_options, partition_filters, t);
  FLAG(block_based_options, decouple_partitioned_filters, t);
  FLAG(block_based_options, optimize_filters_for_memory, t);
  FLAG(block_based_options, use_delta_encoding, t);
  FLAG(block_based_options, use_udi_as_primary_index, t);
  FLAG(block_based_options, fail_if_no_udi_on_open, t);
  FLAG(block_based_options, whole_key_filtering, t);
  FLAG(block_based_options, detect_filter_construct_corruption, t);
  FLAG(block_based_options, verify_compression, t);
  FLAG(block_based_options, separate_key_value_in_data_block, t);
  FLAG(block_based_options, enable_index_compression, t);
  FLAG(block_based_options, block_align, t);
  ROUND_TRIP(block_based_options, index_type, t,
             rocksdb_block_based_table_index_type_two_level_index_search);
  ROUND_TRIP(block_based_options, index_block_search_type, t, 1);
  ROUND_TRIP(block_based_options, data_block_index_type, t, 1);
  ROUND_TRIP(block_based_options, data_block_hash_table_util_ratio, t, 0.5);
  rocksdb_block_based_options_set_data_block_hash_ratio(t, 0.25);
  CHECK(rocksdb_block_based_options_get_data_block_hash_table_util_ratio(t) == 0.25);
  ROUND_TRIP(block_based_options, checksum, t, 1);
  ROUND_TRIP(block_based_options, block_size, t, 8192);
  ROUND_TRIP(block_based_options, block_size_deviation, t, 5);
  ROUND_TRIP(block_based_options, block_restart_interval, t, 8);
  ROUND_TRIP(block_based_options, index_block_restart_interval, t, 2);
  ROUND_TRIP(block_based_options, metadata_block_size, t, 2048);
  ROUND_TRIP(block_based_options, read_amp_bytes_per_bit, t, 16);
  ROUND_TRIP(block_based_options, format_version, t, 4);
  ROUND_TRIP(block_based_options, uniform_cv_threshold, t, 0.5);
  ROUND_TRIP(block_based_options, super_block_alignment_size, t, 1 << 20);
  ROUND_TRIP(block_based_options, super_block_alignment_space_overhead_ratio, t, 64);
  ROUND_TRIP(block_based_options, index_shortening, t, 2);
  ROUND_TRIP(block_based_options, max_auto_readahead_size, t, 1 << 16);
  ROUND_TRIP(block_based_options, prepopulate_block_cache, t, 1);
  ROUND_TRIP(block_based_options, initial_auto_readahead_size, t, 1 << 12);
  ROUND_TRIP(block_based_options, num_file_reads_for_auto_readahead, t, 3);
  rocksdb_block_based_options_set_top_level_index_pinning_tier(
      t, rocksdb_block_based_k_all_pinning_tier);
  rocksdb_block_based_options_set_partition_pinning_tier(t,
                                                         rocksdb_block_based_k_none_pinning_tier);
  rocksdb_block_based_options_set_unpartitioned_pinning_tier(
      t, rocksdb_block_based_k_flush_and_similar_pinning_tier);
  rocksdb_block_based_options_destroy(t);

  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_bloom(10));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_ribbon(10));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_ribbon_hybrid(10, 1));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_bloom_format(10, 1));
  rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_create_ribbon_format(10, 1));
}

static void CheckReadOptions(void) {
  rocksdb_readoptions_t* r = rocksdb_readoptions_create();
  FLAG(readoptions, verify_checksums, r);
  FLAG(readoptions, fill_cache, r);
  FLAG(readoptions, ignore_range_deletions, r);
  FLAG(readoptions, async_io, r);
  FLAG(readoptions, optimize_multiget_for_io, r);
  FLAG(readoptions, tailing, r);
  FLAG(readoptions, total_order_seek, r);
  FLAG(readoptions, auto_prefix_mode, r);
  FLAG(readoptions, prefix_same_as_start, r);
  FLAG(readoptions, pin_data, r);
  FLAG(readoptions, adaptive_readahead, r);
  FLAG(readoptions, background_purge_on_iterator_cleanup, r);
  FLAG(readoptions, auto_readahead_size, r);
  FLAG(readoptions, allow_unprepared_value, r);
  FLAG(readoptions, auto_refresh_iterator_with_snapshot, r);
  ROUND_TRIP(readoptions, deadline, r, 1000);
  ROUND_TRIP(readoptions, io_timeout, r, 2000);
  ROUND_TRIP(readoptions, read_tier, r, 1);
  ROUND_TRIP(readoptions, rate_limiter_priority, r, 3);
  ROUND_TRIP(readoptions, value_size_soft_limit, r, 4);
  ROUND_TRIP(readoptions, readahead_size, r, 5);
  ROUND_TRIP(readoptions, max_skippable_internal_keys, r, 6);
  ROUND_TRIP(readoptions, io_activity, r, 3);
  CHECK(rocksdb_readoptions_has_merge_operand_count_threshold(r) == 0);
  ROUND_TRIP(readoptions, merge_operand_count_threshold, r, 7);
  CHECK(rocksdb_readoptions_has_merge_operand_count_threshold(r) == 1);
  rocksdb_readoptions_clear_merge_operand_count_threshold(r);
  CHECK(rocksdb_readoptions_has_merge_operand_count_threshold(r) == 0);
  rocksdb_readoptions_set_timestamp(r, "ts", 2);
  rocksdb_readoptions_set_iter_start_ts(r, "ts", 2);
  rocksdb_readoptions_set_timestamp(r, NULL, 0);
  rocksdb_readoptions_destroy(r);
}

void TestCallOptions(void) {
  CheckReadOptions();
  rocksdb_writeoptions_t* w = rocksdb_writeoptions_create();
  FLAG(writeoptions, sync, w);
  FLAG(writeoptions, ignore_missing_column_families, w);
  FLAG(writeoptions, no_slowdown, w);
  FLAG(writeoptions, low_pri, w);
  FLAG(writeoptions, memtable_insert_hint_per_batch, w);
  ROUND_TRIP(writeoptions, rate_limiter_priority, w, 3);
  ROUND_TRIP(writeoptions, protection_bytes_per_key, w, 8);
  ROUND_TRIP(writeoptions, io_activity, w, 4);
  rocksdb_writeoptions_disable_WAL(w, 1);
  CHECK(rocksdb_writeoptions_get_disable_WAL(w) == 1);
  rocksdb_writeoptions_destroy(w);

  rocksdb_flushoptions_t* f = rocksdb_flushoptions_create();
  FLAG(flushoptions, wait, f);
  FLAG(flushoptions, allow_write_stall, f);
  rocksdb_flushoptions_destroy(f);
  rocksdb_flushwaloptions_t* wal = rocksdb_flushwaloptions_create();
  FLAG(flushwaloptions, sync, wal);
  ROUND_TRIP(flushwaloptions, rate_limiter_priority, wal, 2);
  rocksdb_flushwaloptions_destroy(wal);

  rocksdb_compactoptions_t* c = rocksdb_compactoptions_create();
  FLAG(compactoptions, exclusive_manual_compaction, c);
  FLAG(compactoptions, change_level, c);
  FLAG(compactoptions, allow_write_stall, c);
  ROUND_TRIP(compactoptions, bottommost_level_compaction, c, 3);
  ROUND_TRIP(compactoptions, target_level, c, 2);
  ROUND_TRIP(compactoptions, target_path_id, c, 1);
  ROUND_TRIP(compactoptions, max_subcompactions, c, 4);
  char ts[] = "ts";
  rocksdb_compactoptions_set_full_history_ts_low(c, ts, 2);
  rocksdb_compactoptions_destroy(c);

  rocksdb_wait_for_compact_options_t* wait = rocksdb_wait_for_compact_options_create();
  FLAG(wait_for_compact_options, abort_on_pause, wait);
  FLAG(wait_for_compact_options, flush, wait);
  FLAG(wait_for_compact_options, wait_for_purge, wait);
  FLAG(wait_for_compact_options, close_db, wait);
  ROUND_TRIP(wait_for_compact_options, timeout, wait, 5);
  rocksdb_wait_for_compact_options_destroy(wait);
}
