// SPDX-License-Identifier: Apache-2.0
// Tests maintenance, properties, sizes, files, levels, memory, statistics and the perf context.

#include "check.h"

static void Fill(Fixture* f, int from, int to) {
  char* error = NULL;
  char value[100];
  memset(value, 'v', sizeof(value));
  for (int i = from; i < to; ++i) {
    char key[16];
    snprintf(key, sizeof(key), "key%06d", i);
    rocksdb_put(f->db, f->write, key, 9, value, sizeof(value), &error);
    CHECK_OK(error);
  }
}

static uint64_t Number(Fixture* f, const char* property) {
  uint64_t value = 0;
  CHECK(rocksdb_property_int(f->db, property, &value) == 0);
  return value;
}

static void CheckSizes(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  const char* starts[] = {"key000000", "zzz"};
  const char* limits[] = {"key999999", "zzzz"};
  const size_t start_sizes[] = {9, 3};
  const size_t limit_sizes[] = {9, 4};
  uint64_t sizes[2] = {0, 9};
  rocksdb_approximate_sizes(f->db, 2, starts, start_sizes, limits, limit_sizes, sizes, &error);
  CHECK_OK(error);
  CHECK(sizes[0] > 10000 && sizes[1] == 0);
  uint64_t again[2] = {0, 9};
  rocksdb_approximate_sizes_cf(f->db, family, 2, starts, start_sizes, limits, limit_sizes, again,
                               &error);
  CHECK_OK(error);
  CHECK(again[0] == sizes[0] && again[1] == 0);
  rocksdb_approximate_sizes_cf_with_flags(f->db, family, 2, starts, start_sizes, limits,
                                          limit_sizes,
                                          rocksdb_size_approximation_flags_include_memtable |
                                              rocksdb_size_approximation_flags_include_files,
                                          again, &error);
  CHECK_OK(error);
  CHECK(again[0] >= sizes[0]);
  rocksdb_size_approximation_options_t* options = rocksdb_size_approximation_options_create();
  CHECK(rocksdb_size_approximation_options_get_include_files(options) == 1);
  rocksdb_size_approximation_options_set_include_memtables(options, 1);
  CHECK(rocksdb_size_approximation_options_get_include_memtables(options) == 1);
  rocksdb_size_approximation_options_set_files_size_error_margin(options, 0.1);
  CHECK(rocksdb_size_approximation_options_get_files_size_error_margin(options) == 0.1);
  rocksdb_approximate_sizes_with_options(f->db, options, 2, starts, start_sizes, limits,
                                         limit_sizes, again, &error);
  CHECK_OK(error);
  rocksdb_approximate_sizes_cf_with_options(f->db, family, options, 2, starts, start_sizes, limits,
                                            limit_sizes, again, &error);
  CHECK_OK(error);
  CHECK(again[0] >= sizes[0] / 2);
  rocksdb_size_approximation_options_destroy(options);
}

static void CheckCompactions(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  rocksdb_compact_range(f->db, NULL, 0, NULL, 0);
  char* files = rocksdb_property_value(f->db, "rocksdb.num-files-at-level0");
  CHECK(TakeEqual(files, 1, "0"));
  rocksdb_compact_range_cf(f->db, family, "key", 3, NULL, 0);
  rocksdb_compactoptions_t* options = rocksdb_compactoptions_create();
  rocksdb_compactoptions_set_bottommost_level_compaction(options, 2);
  rocksdb_compact_range_opt(f->db, options, NULL, 0, "key9", 4);
  rocksdb_compact_range_cf_opt(f->db, family, options, NULL, 0, NULL, 0);
  rocksdb_compactoptions_destroy(options);
  rocksdb_suggest_compact_range(f->db, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_suggest_compact_range_cf(f->db, family, "a", 1, "z", 1, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_t* wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact_options_set_flush(wait, 1);
  rocksdb_wait_for_compact(f->db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(wait);
}

static void CheckChanges(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  const char* keys[] = {"write_buffer_size", "disable_auto_compactions"};
  const char* values[] = {"1048576", "true"};
  rocksdb_set_options(f->db, 2, keys, values, &error);
  CHECK_OK(error);
  rocksdb_set_options_cf(f->db, family, 2, keys, values, &error);
  CHECK_OK(error);
  const char* db_keys[] = {"max_background_jobs"};
  const char* db_values[] = {"4"};
  rocksdb_set_db_options(f->db, 1, db_keys, db_values, &error);
  CHECK_OK(error);
  const char* unknown[] = {"no_such_option"};
  rocksdb_set_options(f->db, 1, unknown, db_values, &error);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_set_db_options(f->db, 1, unknown, db_values, &error);
  CHECK_ERROR(error, "Invalid argument");
}

static void CheckFlushes(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  Fill(f, 0, 500);
  rocksdb_flush(f->db, flush, &error);
  CHECK_OK(error);
  CHECK(Number(f, "rocksdb.num-entries-active-mem-table") == 0);
  Fill(f, 500, 700);
  rocksdb_flush_cf(f->db, flush, family, &error);
  CHECK_OK(error);
  Fill(f, 700, 900);
  rocksdb_flush_cfs(f->db, flush, &family, 1, &error);
  CHECK_OK(error);
  CHECK(Number(f, "rocksdb.num-entries-active-mem-table") == 0);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_flush_wal(f->db, 1, &error);
  CHECK_OK(error);
  rocksdb_flushwaloptions_t* wal = rocksdb_flushwaloptions_create();
  rocksdb_flushwaloptions_set_sync(wal, 1);
  rocksdb_flush_wal_with_options(f->db, wal, &error);
  CHECK_OK(error);
  rocksdb_flushwaloptions_destroy(wal);
}

static void CheckSwitches(Fixture* f) {
  char* error = NULL;
  rocksdb_disable_file_deletions(f->db, &error);
  CHECK_OK(error);
  rocksdb_enable_file_deletions(f->db, &error);
  CHECK_OK(error);
  rocksdb_pause_background_work(f->db, &error);
  CHECK_OK(error);
  rocksdb_continue_background_work(f->db, &error);
  CHECK_OK(error);
  rocksdb_disable_manual_compaction(f->db);
  rocksdb_enable_manual_compaction(f->db);
  rocksdb_verify_checksum(f->db, &error);
  CHECK_OK(error);
  rocksdb_verify_checksum_with_options(f->db, f->read, &error);
  CHECK_OK(error);
}

void TestMaintenance(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "maintenance", NULL);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  CheckFlushes(&f, family);
  CheckSizes(&f, family);
  CheckCompactions(&f, family);
  CheckChanges(&f, family);
  CheckSwitches(&f);

  char* text = rocksdb_property_value(f.db, "rocksdb.stats");
  CHECK(text != NULL && strlen(text) > 0);
  rocksdb_free(text);
  text = rocksdb_property_value_cf(f.db, family, "rocksdb.estimate-num-keys");
  CHECK(text != NULL && strcmp(text, "900") == 0);
  rocksdb_free(text);
  CHECK(rocksdb_property_value(f.db, "rocksdb.no-such") == NULL);
  uint64_t number = 0;
  CHECK(rocksdb_property_int_cf(f.db, family, "rocksdb.estimate-num-keys", &number) == 0);
  CHECK(number == 900);
  CHECK(rocksdb_property_int(f.db, "rocksdb.no-such", &number) == -1);
  CHECK(rocksdb_property_int(f.db, "rocksdb.stats", &number) == -1);

  rocksdb_delete_file_in_range(f.db, "key", 3, "kez", 3, &error);
  CHECK_OK(error);
  rocksdb_delete_file_in_range_cf(f.db, family, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f.db, f.read);
  rocksdb_iter_seek_to_first(iter);
  CHECK(rocksdb_iter_valid(iter) == 0);
  rocksdb_iter_destroy(iter);
  rocksdb_cancel_all_background_work(f.db, 1);
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

static void CheckLiveFiles(Fixture* f) {
  size_t size = 0;
  const rocksdb_livefiles_t* files = rocksdb_livefiles(f->db);
  CHECK(rocksdb_livefiles_count(files) == 1);
  CHECK(strcmp(rocksdb_livefiles_column_family_name(files, 0), "default") == 0);
  CHECK(strstr(rocksdb_livefiles_name(files, 0), ".sst") != NULL);
  CHECK(strcmp(rocksdb_livefiles_directory(files, 0), f->path) == 0);
  CHECK(rocksdb_livefiles_level(files, 0) == 0);
  CHECK(rocksdb_livefiles_size(files, 0) > 0);
  CHECK(Equal(rocksdb_livefiles_smallestkey(files, 0, &size), 9, "key000000") && size == 9);
  CHECK(Equal(rocksdb_livefiles_largestkey(files, 0, &size), 9, "key000099") && size == 9);
  CHECK(rocksdb_livefiles_smallest_seqno(files, 0) > 0);
  CHECK(rocksdb_livefiles_largest_seqno(files, 0) > rocksdb_livefiles_smallest_seqno(files, 0));
  CHECK(rocksdb_livefiles_entries(files, 0) == 100);
  CHECK(rocksdb_livefiles_deletions(files, 0) == 0);
  rocksdb_livefiles_destroy(files);
}

static void CheckLevels(Fixture* f, rocksdb_column_family_metadata_t* metadata) {
  CHECK(rocksdb_column_family_metadata_get_size(metadata) > 0);
  CHECK(rocksdb_column_family_metadata_get_file_count(metadata) == 1);
  char* text = rocksdb_column_family_metadata_get_name(metadata);
  CHECK(TakeEqual(text, 7, "default"));
  CHECK(rocksdb_column_family_metadata_get_level_count(metadata) == 7);
  CHECK(rocksdb_column_family_metadata_get_level_metadata(metadata, 7) == NULL);
  rocksdb_level_metadata_t* level = rocksdb_column_family_metadata_get_level_metadata(metadata, 0);
  CHECK(rocksdb_level_metadata_get_level(level) == 0);
  CHECK(rocksdb_level_metadata_get_size(level) > 0);
  CHECK(rocksdb_level_metadata_get_file_count(level) == 1);
  CHECK(rocksdb_level_metadata_get_sst_file_metadata(level, 1) == NULL);
  rocksdb_sst_file_metadata_t* file = rocksdb_level_metadata_get_sst_file_metadata(level, 0);
  text = rocksdb_sst_file_metadata_get_relative_filename(file);
  CHECK(text != NULL && strstr(text, ".sst") != NULL);
  rocksdb_free(text);
  text = rocksdb_sst_file_metadata_get_directory(file);
  CHECK(TakeEqual(text, strlen(f->path), f->path));
  CHECK(rocksdb_sst_file_metadata_get_size(file) > 0);
  size_t size = 0;
  text = rocksdb_sst_file_metadata_get_smallestkey(file, &size);
  CHECK(TakeEqual(text, size, "key000000"));
  text = rocksdb_sst_file_metadata_get_largestkey(file, &size);
  CHECK(TakeEqual(text, size, "key000099"));
  rocksdb_sst_file_metadata_destroy(file);
  rocksdb_level_metadata_destroy(level);
  rocksdb_column_family_metadata_destroy(metadata);
}

static void CheckMemory(Fixture* f) {
  char* error = NULL;
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_memory_consumers_t* consumers = rocksdb_memory_consumers_create();
  rocksdb_memory_consumers_add_db(consumers, f->db);
  rocksdb_memory_consumers_add_cache(consumers, cache);
  rocksdb_memory_usage_t* usage = rocksdb_approximate_memory_usage_create(consumers, &error);
  CHECK_OK(error);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_total(usage) > 0);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_unflushed(usage) > 0);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_readers_total(usage) <= 1 << 20);
  CHECK(rocksdb_approximate_memory_usage_get_cache_total(usage) == rocksdb_cache_get_usage(cache));
  rocksdb_approximate_memory_usage_destroy(usage);
  rocksdb_memory_consumers_destroy(consumers);
  rocksdb_cache_destroy(cache);
}

void TestMetadata(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "metadata", NULL);
  Fill(&f, 0, 100);
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_flush(f.db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  CheckLiveFiles(&f);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  CheckLevels(&f, rocksdb_get_column_family_metadata(f.db));
  CheckLevels(&f, rocksdb_get_column_family_metadata_cf(f.db, family));
  rocksdb_column_family_handle_destroy(family);
  CheckMemory(&f);
  Close(&f);
}

static void CheckHistogram(rocksdb_options_t* options) {
  enum { kBytesPerWrite = 32 };  // Value in varve/statistics.h.
  rocksdb_statistics_histogram_data_t* data = rocksdb_statistics_histogram_data_create();
  rocksdb_options_statistics_get_histogram_data(options, kBytesPerWrite, data);
  const double average = rocksdb_statistics_histogram_data_get_average(data);
  CHECK(rocksdb_statistics_histogram_data_get_count(data) == 10);
  CHECK(rocksdb_statistics_histogram_data_get_sum(data) > 0);
  CHECK(rocksdb_statistics_histogram_data_get_min(data) <= average);
  CHECK(rocksdb_statistics_histogram_data_get_max(data) >= average);
  CHECK(rocksdb_statistics_histogram_data_get_median(data) > 0);
  CHECK(rocksdb_statistics_histogram_data_get_p95(data) > 0);
  CHECK(rocksdb_statistics_histogram_data_get_p99(data) > 0);
  CHECK(rocksdb_statistics_histogram_data_get_std_dev(data) >= 0);
  rocksdb_statistics_histogram_data_destroy(data);
}

void TestMetrics(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "metrics", rocksdb_options_enable_statistics);
  CHECK(rocksdb_options_get_statistics_level(f.options) ==
        rocksdb_statistics_level_except_detailed_timers);
  rocksdb_options_set_statistics_level(f.options, rocksdb_statistics_level_all);
  CHECK(rocksdb_options_get_statistics_level(f.options) == rocksdb_statistics_level_all);

  rocksdb_set_perf_level(2);
  rocksdb_perfcontext_t* perf = rocksdb_perfcontext_create();
  rocksdb_perfcontext_reset(perf);
  Fill(&f, 0, 10);
  CHECK(Has(&f, "key000005", NULL) == false);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_get_from_memtable_count) >= 1);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_blob_read_count) == 0);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_total_metric_count) == 0);
  char* text = rocksdb_perfcontext_report(perf, 1);
  CHECK(text != NULL && strstr(text, "get_from_memtable_count") != NULL);
  CHECK(text != NULL && strstr(text, "blob_read_count") == NULL);
  rocksdb_free(text);
  rocksdb_perfcontext_reset(perf);
  CHECK(rocksdb_perfcontext_metric(perf, rocksdb_get_from_memtable_count) == 0);
  rocksdb_perfcontext_destroy(perf);
  rocksdb_set_perf_level(rocksdb_disable);

  text = rocksdb_metrics_text(f.db, &error);
  CHECK(error == NULL && text != NULL &&
        strstr(text, "# TYPE varve_user_writes_total counter\n") != NULL);
  rocksdb_free(text);
  text = rocksdb_metrics_json(f.db, &error);
  CHECK(error == NULL && text != NULL && strncmp(text, "{\"metrics\": [", 13) == 0);
  rocksdb_free(text);
  CHECK(rocksdb_metrics_text(NULL, &error) == NULL && error != NULL);
  rocksdb_free(error);
  error = NULL;

  text = rocksdb_options_statistics_get_string(f.options);
  CHECK(text != NULL && strstr(text, "rocksdb.number.keys.written COUNT : 10") != NULL);
  rocksdb_free(text);
  uint64_t total = 0;
  for (uint32_t ticker = 0; ticker < 1000; ++ticker) {
    total += rocksdb_options_statistics_get_ticker_count(f.options, ticker);
  }
  CHECK(total >= 10);
  CheckHistogram(f.options);
  Close(&f);
}
