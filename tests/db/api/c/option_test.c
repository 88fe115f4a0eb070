// SPDX-License-Identifier: Apache-2.0
// Tests options whose setter and getter are no rows of c_functions.inc, which
// every_function_test.cc tests, and that values reach the database where that is visible.

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

static void CheckStyles(rocksdb_options_t* o) {
  rocksdb_universal_compaction_options_t* u = rocksdb_universal_compaction_options_create();
  rocksdb_options_set_universal_compaction_options(o, u);
  rocksdb_universal_compaction_options_destroy(u);
  rocksdb_fifo_compaction_options_t* fifo = rocksdb_fifo_compaction_options_create();
  rocksdb_options_set_fifo_compaction_options(o, fifo);
  rocksdb_fifo_compaction_options_destroy(fifo);
}

void TestOptionFields(void) {
  rocksdb_options_t* o = rocksdb_options_create();
  rocksdb_options_compaction_readahead_size(o, 18);
  CHECK(rocksdb_options_get_compaction_readahead_size(o) == 18);
  FLAG(options, disable_auto_compactions, o);
  FLAG(options, optimize_filters_for_hits, o);
  FLAG(options, report_bg_io_stats, o);
  CheckStyles(o);
  rocksdb_options_set_write_buffer_size(o, (size_t)6 << 32);
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

static void UseHashSkipList(rocksdb_options_t* options) {
  rocksdb_options_set_inplace_update_support(options, 1);
  rocksdb_options_set_hash_skip_list_rep(options, 1000, 4, 4);
  rocksdb_options_set_hash_skip_list_rep(NULL, 1000, 4, 4);
}

static void UseHashLinkList(rocksdb_options_t* options) {
  rocksdb_options_set_hash_link_list_rep(options, 1000);
  rocksdb_options_set_hash_link_list_rep(NULL, 1000);
}

static void UsePlainTable(rocksdb_options_t* options) {
  rocksdb_options_set_plain_table_factory(options, 0, 10, 0.75, 16, 0, 1, 0, 0);
  rocksdb_options_set_plain_table_factory(NULL, 0, 10, 0.75, 16, 0, 0, 0, 0);
}

static void CheckOtherMemtablesAndTables(void) {
  void (*const kinds[])(rocksdb_options_t*) = {UseHashSkipList, UseHashLinkList, UsePlainTable};
  const char* const names[] = {"hash_skip_list", "hash_link_list", "plain_table"};
  for (int i = 0; i < 3; i++) {
    Fixture f;
    Open(&f, names[i], kinds[i]);
    PutText(&f, "b", "2");
    PutText(&f, "a", "1");
    CHECK(Has(&f, "a", "1"));
    rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
    char* error = NULL;
    rocksdb_flush(f.db, flush, &error);
    CHECK_OK(error);
    rocksdb_flushoptions_destroy(flush);
    Reopen(&f);
    CHECK(Has(&f, "b", "2"));
    Close(&f);
  }
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
  CheckOtherMemtablesAndTables();
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
  rocksdb_block_based_options_set_data_block_hash_ratio(t, 0.25);
  CHECK(rocksdb_block_based_options_get_data_block_hash_table_util_ratio(t) == 0.25);
  ROUND_TRIP(block_based_options, checksum, t, 1);
  ROUND_TRIP(block_based_options, block_size, t, 8192);
  ROUND_TRIP(block_based_options, format_version, t, 4);
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
  ROUND_TRIP(readoptions, deadline, r, 1000);
  ROUND_TRIP(readoptions, io_timeout, r, 2000);
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
  rocksdb_writeoptions_disable_WAL(w, 1);
  CHECK(rocksdb_writeoptions_get_disable_WAL(w) == 1);
  rocksdb_writeoptions_destroy(w);

  rocksdb_flushoptions_t* f = rocksdb_flushoptions_create();
  rocksdb_flushoptions_destroy(f);
  rocksdb_flushwaloptions_t* wal = rocksdb_flushwaloptions_create();
  rocksdb_flushwaloptions_destroy(wal);

  rocksdb_compactoptions_t* c = rocksdb_compactoptions_create();
  char ts[] = "ts";
  rocksdb_compactoptions_set_full_history_ts_low(c, ts, 2);
  rocksdb_compactoptions_destroy(c);

  rocksdb_wait_for_compact_options_t* wait = rocksdb_wait_for_compact_options_create();
  ROUND_TRIP(wait_for_compact_options, timeout, wait, 5);
  rocksdb_wait_for_compact_options_destroy(wait);
}
