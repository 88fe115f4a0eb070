// SPDX-License-Identifier: Apache-2.0
// Tests objects that options hold: caches, comparators, filters, prefixes, environments, logs.

#include <ctype.h>

#include "check.h"

static rocksdb_cache_t* g_cache;

static void UseCacheAndFilter(rocksdb_options_t* options) {
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_cache(table, g_cache);
  rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_options_set_block_based_table_factory(options, table);
  rocksdb_block_based_options_destroy(table);
}

static void CheckUse(const char* name) {
  Fixture f;
  char* error = NULL;
  Open(&f, name, UseCacheAndFilter);
  PutText(&f, "k", "v");
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_flush(f.db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  CHECK(Has(&f, "k", "v"));
  CHECK(rocksdb_cache_get_usage(g_cache) > 0);
  CHECK(rocksdb_cache_get_pinned_usage(g_cache) <= rocksdb_cache_get_usage(g_cache));
  CHECK(rocksdb_cache_get_occupancy_count(g_cache) > 0);
  CHECK(rocksdb_cache_get_table_address_count(g_cache) > 0);
  Close(&f);
}

static void CheckCache(rocksdb_cache_t* cache, const char* name) {
  CHECK(cache != NULL);
  if (cache == NULL) return;
  CHECK(rocksdb_cache_get_capacity(cache) == 8 << 20);
  g_cache = cache;
  CheckUse(name);
  rocksdb_cache_set_capacity(cache, 4 << 20);
  CHECK(rocksdb_cache_get_capacity(cache) == 4 << 20);
  rocksdb_cache_destroy(cache);
}

void TestCaches(void) {
  char* error = NULL;
  CheckCache(rocksdb_cache_create_lru(8 << 20), "lru");
  CheckCache(rocksdb_cache_create_lru_with_strict_capacity_limit(8 << 20), "strict");
  CheckCache(rocksdb_cache_create_hyper_clock(8 << 20, 0), "clock");
  rocksdb_lru_cache_options_t* lru = rocksdb_lru_cache_options_create();
  rocksdb_lru_cache_options_set_capacity(lru, 8 << 20);
  rocksdb_lru_cache_options_set_num_shard_bits(lru, 2);
  rocksdb_lru_cache_options_set_memory_allocator(lru, NULL);
  CheckCache(rocksdb_cache_create_lru_opts(lru), "lru_options");
  rocksdb_lru_cache_options_destroy(lru);
  rocksdb_hyper_clock_cache_options_t* clock = rocksdb_hyper_clock_cache_options_create(1, 0);
  rocksdb_hyper_clock_cache_options_set_capacity(clock, 8 << 20);
  rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(clock, 4096);
  rocksdb_hyper_clock_cache_options_set_num_shard_bits(clock, 1);
  rocksdb_hyper_clock_cache_options_set_memory_allocator(clock, NULL);
  CheckCache(rocksdb_cache_create_hyper_clock_opts(clock), "clock_options");
  rocksdb_hyper_clock_cache_options_destroy(clock);
  rocksdb_memory_allocator_t* allocator = rocksdb_jemalloc_nodump_allocator_create(&error);
  CHECK((allocator == NULL) == (error != NULL));
  rocksdb_free(error);
  rocksdb_memory_allocator_destroy(allocator);

  rocksdb_cache_t* cache = rocksdb_cache_create_lru(8 << 20);
  rocksdb_write_buffer_manager_t* manager =
      rocksdb_write_buffer_manager_create_with_cache(4 << 20, cache, false);
  CHECK(rocksdb_write_buffer_manager_enabled(manager));
  CHECK(rocksdb_write_buffer_manager_cost_to_cache(manager));
  CHECK(rocksdb_write_buffer_manager_buffer_size(manager) == 4 << 20);
  rocksdb_write_buffer_manager_set_buffer_size(manager, 5 << 20);
  CHECK(rocksdb_write_buffer_manager_buffer_size(manager) == 5 << 20);
  rocksdb_write_buffer_manager_destroy(manager);
  rocksdb_cache_destroy(cache);
}

static int g_destroyed;

static void CountDestroyed(void* state) {
  (void)state;
  ++g_destroyed;
}

static int CompareLowerCase(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  for (size_t i = 0; i < alen && i < blen; ++i) {
    const int order = tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
    if (order != 0) return order;
  }
  return alen < blen ? -1 : alen > blen ? 1 : 0;
}

static const char* ComparatorName(void* state) {
  (void)state;
  return "test.LowerCase";
}

static rocksdb_comparator_t* g_comparator;

static void UseComparator(rocksdb_options_t* options) {
  rocksdb_options_set_comparator(options, g_comparator);
}

void TestComparator(void) {
  Fixture f;
  char* error = NULL;
  g_destroyed = 0;
  g_comparator = rocksdb_comparator_create(NULL, CountDestroyed, CompareLowerCase, ComparatorName);
  Open(&f, "comparator", UseComparator);
  PutText(&f, "B", "1");
  PutText(&f, "a", "2");
  CHECK(Has(&f, "b", "1") && Has(&f, "A", "2"));
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f.db, f.read);
  size_t size = 0;
  rocksdb_iter_seek_to_first(iter);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 1, "a"));
  rocksdb_iter_destroy(iter);
  rocksdb_close(f.db);
  rocksdb_options_set_comparator(f.options, NULL);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK(f.db == NULL);
  CHECK_ERROR(error, "rocksdb_options_set_comparator");
  rocksdb_options_t* others = rocksdb_options_create();
  CHECK(rocksdb_open(others, f.path, &error) == NULL);
  CHECK_ERROR(error,
              "Invalid argument: leveldb.BytewiseComparator: does not match existing comparator "
              "test.LowerCase");
  rocksdb_options_destroy(others);
  UseComparator(f.options);
  Close(&f);
  rocksdb_comparator_destroy(g_comparator);
  CHECK(g_destroyed == 1);
}

// Drops keys that start with "drop", shortens the values of those that start with "cut".
static unsigned char Filter(void* state, int level, const char* key, size_t key_length,
                            const char* value, size_t value_length, char** new_value,
                            size_t* new_value_length, unsigned char* value_changed) {
  (void)level;
  (void)value;
  ++*(int*)state;
  if (key_length >= 4 && memcmp(key, "drop", 4) == 0) return 1;
  if (key_length >= 3 && memcmp(key, "cut", 3) == 0 && value_length > 1) {
    static char cut[] = "c";
    *new_value = cut;
    *new_value_length = 1;
    *value_changed = 1;
  }
  return 0;
}

static const char* FilterName(void* state) {
  (void)state;
  return "test.Filter";
}

static int g_filtered;
static int g_contexts;
static rocksdb_compactionfilter_t* g_filter;

static rocksdb_compactionfilter_t* CreateFilter(void* state,
                                                rocksdb_compactionfiltercontext_t* context) {
  (void)state;
  ++g_contexts;
  CHECK(rocksdb_compactionfiltercontext_is_manual_compaction(context) == 1);
  CHECK(rocksdb_compactionfiltercontext_is_full_compaction(context) <= 1);
  return rocksdb_compactionfilter_create(&g_filtered, NULL, Filter, FilterName);
}

static void UseFilter(rocksdb_options_t* options) {
  rocksdb_options_set_compaction_filter(options, g_filter);
}

static void UseFilterFactory(rocksdb_options_t* options) {
  rocksdb_options_set_compaction_filter_factory(
      options,
      rocksdb_compactionfilterfactory_create(NULL, CountDestroyed, CreateFilter, FilterName));
}

static void CheckFiltering(Fixture* f) {
  char* error = NULL;
  g_filtered = 0;
  PutText(f, "cut", "long value");
  PutText(f, "drop", "1");
  PutText(f, "keep", "2");
  rocksdb_compactoptions_t* options = rocksdb_compactoptions_create();
  rocksdb_compactoptions_set_bottommost_level_compaction(options, 2);
  rocksdb_compact_range_opt(f->db, options, NULL, 0, NULL, 0);
  rocksdb_compactoptions_destroy(options);
  CHECK(g_filtered >= 3);
  CHECK(Has(f, "cut", "c") && Has(f, "drop", NULL) && Has(f, "keep", "2"));
  CHECK_OK(error);
}

void TestCompactionFilters(void) {
  Fixture f;
  g_filter = rocksdb_compactionfilter_create(&g_filtered, NULL, Filter, FilterName);
  rocksdb_compactionfilter_set_ignore_snapshots(g_filter, 1);
  Open(&f, "filter", UseFilter);
  CheckFiltering(&f);
  Close(&f);
  rocksdb_compactionfilter_destroy(g_filter);

  g_destroyed = 0;
  g_contexts = 0;
  Open(&f, "filter_factory", UseFilterFactory);
  CheckFiltering(&f);
  CHECK(g_contexts > 0);
  Close(&f);
  CHECK(g_destroyed == 1);
  rocksdb_compactionfilterfactory_destroy(
      rocksdb_compactionfilterfactory_create(NULL, CountDestroyed, CreateFilter, FilterName));
  CHECK(g_destroyed == 2);
}

static char* FirstTwo(void* state, const char* key, size_t length, size_t* dst_length) {
  (void)state;
  *dst_length = length < 2 ? length : 2;
  return (char*)key;
}

static unsigned char HasTwo(void* state, const char* key, size_t length) {
  (void)state;
  (void)key;
  return length >= 2;
}

static const char* PrefixName(void* state) {
  (void)state;
  return "test.FirstTwo";
}

static void UsePrefix(rocksdb_options_t* options) {
  rocksdb_options_set_prefix_extractor(
      options, rocksdb_slicetransform_create(NULL, CountDestroyed, FirstTwo, HasTwo, PrefixName));
}

static void UseFixedPrefix(rocksdb_options_t* options) {
  rocksdb_options_set_prefix_extractor(options, rocksdb_slicetransform_create_fixed_prefix(2));
}

static void CheckPrefixIteration(Fixture* f) {
  size_t size = 0;
  PutText(f, "aa1", "1");
  PutText(f, "aa2", "2");
  PutText(f, "bb1", "3");
  rocksdb_readoptions_set_prefix_same_as_start(f->read, 1);
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f->db, f->read);
  rocksdb_iter_seek(iter, "aa", 2);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 3, "aa1"));
  rocksdb_iter_next(iter);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 3, "aa2"));
  rocksdb_iter_next(iter);
  CHECK(rocksdb_iter_valid(iter) == 0);
  rocksdb_iter_destroy(iter);
}

void TestPrefixes(void) {
  Fixture f;
  g_destroyed = 0;
  Open(&f, "prefix", UsePrefix);
  CheckPrefixIteration(&f);
  Close(&f);
  CHECK(g_destroyed == 1);
  Open(&f, "fixed_prefix", UseFixedPrefix);
  CheckPrefixIteration(&f);
  Close(&f);
  rocksdb_slicetransform_destroy(rocksdb_slicetransform_create_noop());
}

static int g_logged;

static void OnLog(void* priv, unsigned level, char* message, size_t size) {
  CHECK(priv == &g_logged && level <= 5 && message != NULL);
  __atomic_add_fetch(&g_logged, size > 0 ? 1 : 0, __ATOMIC_RELAXED);
}

static rocksdb_env_t* g_env;

static void UseEnv(rocksdb_options_t* options) {
  rocksdb_options_set_env(options, g_env);
  rocksdb_logger_t* logger = rocksdb_logger_create_callback_logger(1, OnLog, &g_logged);
  rocksdb_options_set_info_log(options, logger);
  rocksdb_logger_destroy(logger);
  rocksdb_ratelimiter_t* limiter = rocksdb_ratelimiter_create(100 << 20, 100 * 1000, 10);
  rocksdb_options_set_ratelimiter(options, limiter);
  rocksdb_ratelimiter_destroy(limiter);
  rocksdb_write_buffer_manager_t* manager = rocksdb_write_buffer_manager_create(8 << 20, false);
  rocksdb_options_set_write_buffer_manager(options, manager);
  rocksdb_write_buffer_manager_destroy(manager);
}

void TestEnvironments(void) {
  Fixture f;
  char* error = NULL;
  g_env = rocksdb_create_mem_env();
  Open(&f, "in_memory", UseEnv);
  PutText(&f, "k", "v");
  FILE* file = fopen(f.path, "r");
  CHECK(file == NULL);
  if (file != NULL) fclose(file);
  Reopen(&f);
  CHECK(Has(&f, "k", "v"));
  CHECK(g_logged > 0);
  Close(&f);
  rocksdb_create_dir_if_missing(g_env, "/a_directory", &error);
  CHECK_OK(error);
  rocksdb_env_destroy(g_env);

  rocksdb_env_t* env = rocksdb_create_default_env();
  rocksdb_env_set_background_threads(env, 3);
  CHECK(rocksdb_env_get_background_threads(env) == 3);
  rocksdb_env_set_low_priority_background_threads(env, 2);
  CHECK(rocksdb_env_get_low_priority_background_threads(env) == 2);
  rocksdb_env_set_high_priority_background_threads(env, 2);
  CHECK(rocksdb_env_get_high_priority_background_threads(env) == 2);
  rocksdb_env_set_bottom_priority_background_threads(env, 1);
  CHECK(rocksdb_env_get_bottom_priority_background_threads(env) == 1);
  rocksdb_env_lower_thread_pool_io_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_io_priority(env);
  rocksdb_env_lower_thread_pool_cpu_priority(env);
  rocksdb_env_lower_high_priority_thread_pool_cpu_priority(env);
  rocksdb_env_join_all_threads(env);
  rocksdb_env_destroy(env);

  rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_create_auto_tuned(1 << 20, 100 * 1000, 10));
  rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_create_with_mode(1 << 20, 100000, 10, 2, false));
}

static void GiveNulls(rocksdb_options_t* options) {
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_cache(table, NULL);
  rocksdb_block_based_options_set_filter_policy(table, NULL);
  rocksdb_options_set_block_based_table_factory(options, table);
  rocksdb_options_set_block_based_table_factory(options, NULL);
  rocksdb_block_based_options_destroy(table);
  rocksdb_options_set_compaction_filter(options, NULL);
  rocksdb_options_set_compaction_filter_factory(options, NULL);
  rocksdb_options_set_env(options, NULL);
  rocksdb_options_set_file_checksum_gen_factory(options, NULL);
  rocksdb_options_set_info_log(options, NULL);
  rocksdb_options_set_merge_operator(options, NULL);
  rocksdb_options_set_prefix_extractor(options, NULL);
  rocksdb_options_set_ratelimiter(options, NULL);
  rocksdb_options_set_row_cache(options, NULL);
  rocksdb_options_set_blob_cache(options, NULL);
  rocksdb_options_set_sst_file_manager(options, NULL);
  rocksdb_options_set_sst_partitioner_factory(options, NULL);
  rocksdb_options_set_write_buffer_manager(options, NULL);
}

// Sets options that a null clears, and options that it leaves.
static void SetThenGiveNulls(rocksdb_options_t* options) {
  rocksdb_options_set_compaction_filter_factory(
      options,
      rocksdb_compactionfilterfactory_create(NULL, CountDestroyed, CreateFilter, FilterName));
  rocksdb_options_set_prefix_extractor(options, rocksdb_slicetransform_create_fixed_prefix(3));
  rocksdb_options_set_uint64add_merge_operator(options);
  rocksdb_logger_t* logger = rocksdb_logger_create_callback_logger(1, OnLog, &g_logged);
  rocksdb_options_set_info_log(options, logger);
  rocksdb_logger_destroy(logger);
  GiveNulls(options);
}

void TestNullObjects(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "null_objects", GiveNulls);
  PutText(&f, "k", "v");
  CHECK(Has(&f, "k", "v"));
  g_logged = 0;
  SetThenGiveNulls(f.options);
  Reopen(&f);
  CHECK(Has(&f, "k", "v"));
  CHECK(g_logged > 0);
  rocksdb_merge(f.db, f.write, "k", 1, "12345678", 8, &error);
  CHECK_ERROR(error, "merge_operator");
  Close(&f);
}
