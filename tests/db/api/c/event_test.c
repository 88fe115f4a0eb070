// SPDX-License-Identifier: Apache-2.0
// Tests listeners, their events, and the descriptions of files.

#include "check.h"

typedef struct {
  int flushes;
  int compactions;
  int sealed;
  int destroyed;
  uint64_t entries;      // entries of the flushed tables
  uint64_t input_files;  // files of the last compaction
  uint64_t blobs;        // values in the blob files of the flushes
  uint64_t garbage;      // values of blob files that the compactions dropped
  bool consistent;
} Heard;

static Heard g_heard;

static void Destroyed(void* state) {
  ++((Heard*)state)->destroyed;
}

static void OnFlush(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info) {
  Heard* heard = state;
  size_t size = 0;
  const rocksdb_table_properties_t* table = rocksdb_flushjobinfo_table_properties(info);
  ++heard->flushes;
  heard->entries += rocksdb_table_properties_num_entries(table);
  heard->consistent =
      heard->consistent && db != NULL &&
      Equal(rocksdb_flushjobinfo_cf_name(info, &size), 7, "default") && size == 7 &&
      rocksdb_flushjobinfo_file_number(info) != 0 &&
      rocksdb_flushjobinfo_smallest_seqno(info) <= rocksdb_flushjobinfo_largest_seqno(info) &&
      rocksdb_flushjobinfo_blob_file_addition_infos_count(info) == 1 &&
      rocksdb_flushjobinfo_blob_file_addition_info_at(info, 1) == NULL;
  const rocksdb_blob_file_addition_info_t* blobs =
      rocksdb_flushjobinfo_blob_file_addition_info_at(info, 0);
  const char* path = rocksdb_blob_file_addition_info_blob_file_path(blobs, &size);
  heard->blobs += rocksdb_blob_file_addition_info_total_blob_count(blobs);
  heard->consistent = heard->consistent && path != NULL && size == strlen(path) &&
                      strstr(path, ".blob") != NULL &&
                      rocksdb_blob_file_addition_info_blob_file_number(blobs) ==
                          rocksdb_flushjobinfo_oldest_blob_file_number(info) &&
                      rocksdb_blob_file_addition_info_total_blob_bytes(blobs) == 2 * (32 + 1 + 1);
}

static void OnCompaction(void* state, rocksdb_t* db, const rocksdb_compactionjobinfo_t* info) {
  Heard* heard = state;
  char* error = NULL;
  size_t size = 0;
  const rocksdb_compaction_job_stats_t* stats = rocksdb_compactionjobinfo_stats(info);
  const size_t inputs = rocksdb_compactionjobinfo_input_files_count(info);
  ++heard->compactions;
  heard->input_files = inputs;
  for (size_t i = 0; i < rocksdb_compactionjobinfo_blob_file_garbage_infos_count(info); ++i) {
    const rocksdb_blob_file_garbage_info_t* garbage =
        rocksdb_compactionjobinfo_blob_file_garbage_info_at(info, i);
    heard->garbage += rocksdb_blob_file_garbage_info_garbage_blob_count(garbage);
    heard->consistent =
        heard->consistent &&
        rocksdb_blob_file_garbage_info_garbage_blob_bytes(garbage) == 2 * (32 + 1 + 1) &&
        rocksdb_blob_file_garbage_info_blob_file_number(garbage) != 0 &&
        rocksdb_blob_file_garbage_info_blob_file_path(garbage, &size) != NULL &&
        rocksdb_compactionjobinfo_blob_file_addition_infos_count(info) == 0 &&
        rocksdb_compactionjobinfo_blob_file_addition_info_at(info, 0) == NULL;
  }
  rocksdb_compactionjobinfo_status(info, &error);
  CHECK_OK(error);
  heard->consistent =
      heard->consistent && db != NULL && inputs != 0 &&
      rocksdb_compactionjobinfo_input_file_infos_count(info) == inputs &&
      rocksdb_compactionjobinfo_input_file_at(info, 0, &size) != NULL && size != 0 &&
      rocksdb_compactionjobinfo_input_file_at(info, inputs, &size) == NULL && size == 0 &&
      rocksdb_compaction_file_info_file_number(
          rocksdb_compactionjobinfo_input_file_info_at(info, 0)) != 0 &&
      rocksdb_compactionjobinfo_input_file_info_at(info, inputs) == NULL &&
      rocksdb_compaction_job_stats_num_input_records(stats) ==
          rocksdb_compactionjobinfo_input_records(info);
  for (size_t i = 0; i < rocksdb_compactionjobinfo_table_properties_count(info); ++i) {
    const char* name = rocksdb_compactionjobinfo_table_properties_key_at(info, i, &size);
    heard->consistent = heard->consistent &&
                        rocksdb_compactionjobinfo_table_properties_for_file(info, name, size) ==
                            rocksdb_compactionjobinfo_table_properties_value_at(info, i);
  }
}

static void OnSealed(void* state, const rocksdb_memtableinfo_t* info) {
  Heard* heard = state;
  ++heard->sealed;
  heard->consistent = heard->consistent && rocksdb_memtableinfo_num_entries(info) != 0;
}

static rocksdb_eventlistener_t* NewListener(void) {
  return rocksdb_eventlistener_create(&g_heard, Destroyed, NULL, OnFlush, NULL, OnCompaction, NULL,
                                      NULL, NULL, NULL, NULL, OnSealed);
}

static void Listen(rocksdb_options_t* options) {
  rocksdb_eventlistener_t* listener = NewListener();
  rocksdb_options_add_eventlistener(options, listener);
  rocksdb_eventlistener_destroy(listener);  // Given away: this does nothing.
  rocksdb_options_set_disable_auto_compactions(options, 1);
  rocksdb_options_set_enable_blob_files(options, 1);
  CHECK(rocksdb_options_get_enable_blob_files(options) == 1);
}

static void Flush(Fixture* f) {
  char* error = NULL;
  rocksdb_flushoptions_t* options = rocksdb_flushoptions_create();
  rocksdb_flush(f->db, options, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_set_force_atomic_flush(options, 1);
  CHECK(rocksdb_flushoptions_get_force_atomic_flush(options) == 1);
  rocksdb_flush(f->db, options, &error);
  CHECK_ERROR(error, "rocksdb_flush: this engine does not have it: force_atomic_flush");
  rocksdb_flushoptions_destroy(options);
}

// A flush may return as soon as its table is installed, before its job has called the listeners.
static void WaitForJobs(Fixture* f) {
  char* error = NULL;
  rocksdb_wait_for_compact_options_t* options = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact(f->db, options, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(options);
}

void TestListeners(void) {
  Fixture f;
  memset(&g_heard, 0, sizeof(g_heard));
  g_heard.consistent = true;
  Open(&f, "listeners", Listen);
  for (int round = 0; round < 2; ++round) {
    PutText(&f, "a", "1");
    PutText(&f, "b", "2");
    Flush(&f);
  }
  rocksdb_compact_range(f.db, NULL, 0, NULL, 0);
  WaitForJobs(&f);
  CHECK(g_heard.flushes == 2 && g_heard.entries == 4 && g_heard.sealed == 2);
  CHECK(g_heard.compactions == 1 && g_heard.input_files == 2);
  CHECK(g_heard.blobs == 4 && g_heard.garbage == 2);
  CHECK(g_heard.consistent);
  CHECK(g_heard.destroyed == 0);
  Close(&f);
  CHECK(g_heard.destroyed == 1);
  rocksdb_eventlistener_destroy(NewListener());
  CHECK(g_heard.destroyed == 2);
}

// ---- Files ----

// Makes two tables in L0: a to b, and c to d.
static void MakeTwoTables(Fixture* f) {
  PutText(f, "a", "1");
  PutText(f, "b", "2");
  Flush(f);
  PutText(f, "c", "3");
  PutText(f, "d", "4");
  Flush(f);
}

static void NoCompactions(rocksdb_options_t* options) {
  rocksdb_options_set_disable_auto_compactions(options, 1);
}

static size_t CountFiles(Fixture* f, const rocksdb_column_family_metadata_options_t* options) {
  rocksdb_column_family_metadata_t* part =
      rocksdb_get_column_family_metadata_with_options(f->db, options);
  const size_t count = rocksdb_column_family_metadata_get_file_count(part);
  rocksdb_column_family_metadata_destroy(part);
  return count;
}

static void CheckPartsOfMetadata(Fixture* f) {
  size_t size = 99;
  rocksdb_column_family_metadata_options_t* options =
      rocksdb_column_family_metadata_options_create();
  CHECK(rocksdb_column_family_metadata_options_get_level(options) == -1);
  CHECK(rocksdb_column_family_metadata_options_get_start_key(options, &size) == NULL && size == 0);
  CHECK(CountFiles(f, options) == 2);
  rocksdb_column_family_metadata_options_set_start_key(options, "c", 1);
  CHECK(CountFiles(f, options) == 1);
  rocksdb_column_family_metadata_options_set_start_key(options, NULL, 0);
  rocksdb_column_family_metadata_options_set_end_key(options, "b", 1);
  CHECK(Equal(rocksdb_column_family_metadata_options_get_end_key(options, &size), 1, "b"));
  CHECK(CountFiles(f, options) == 1);
  rocksdb_column_family_metadata_options_set_level(options, 3);
  CHECK(CountFiles(f, options) == 0);
  rocksdb_column_family_metadata_options_destroy(options);
}

static void CheckLogFiles(Fixture* f) {
  char* error = NULL;
  rocksdb_wal_files_t* files = rocksdb_get_sorted_wal_files(f->db, &error);
  CHECK_OK(error);
  const size_t count = rocksdb_wal_files_count(files);
  CHECK(count > 0 && rocksdb_wal_files_get_wal_file(files, count) == NULL);
  const rocksdb_wal_file_t* last = rocksdb_wal_files_get_wal_file(files, count - 1);
  rocksdb_wal_file_t* current = rocksdb_get_current_wal_file(f->db, &error);
  CHECK_OK(error);
  CHECK(rocksdb_wal_file_log_number(current) == rocksdb_wal_file_log_number(last));
  CHECK(rocksdb_wal_file_type(current) == rocksdb_wal_file_type_alive_log);
  CHECK(strstr(rocksdb_wal_file_path_name(current), ".log") != NULL);
  rocksdb_wal_file_destroy(current);
  rocksdb_wal_files_destroy(files);
}

static void CheckUpdates(Fixture* f) {
  char* error = NULL;
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_put(f->db, write, "told", 4, "1", 1, &error);
  CHECK_OK(error);
  rocksdb_writeoptions_destroy(write);
  const uint64_t last = rocksdb_get_latest_sequence_number(f->db);
  rocksdb_wal_iterator_t* updates = rocksdb_get_updates_since(f->db, last, NULL, &error);
  CHECK_OK(error);
  CHECK(rocksdb_wal_iter_valid(updates));
  uint64_t sequence = 0;
  rocksdb_writebatch_t* batch = rocksdb_wal_iter_get_batch(updates, &sequence);
  CHECK(sequence == last && rocksdb_writebatch_count(batch) == 1);
  rocksdb_writebatch_destroy(batch);
  rocksdb_wal_iter_next(updates);
  CHECK(!rocksdb_wal_iter_valid(updates));
  rocksdb_wal_iter_status(updates, &error);
  CHECK_OK(error);
  rocksdb_wal_iter_destroy(updates);
  CHECK(rocksdb_get_updates_since(f->db, last + 1, NULL, &error) == NULL);
  CHECK_ERROR(error, "NotFound");
}

static int g_families_told;

static void NoteFamilies(void* state, const uint32_t* ids, const uint64_t* logs, size_t count,
                         const char* const* names, const size_t* sizes, const uint32_t* named,
                         size_t name_count) {
  (void)state;
  CHECK(count == 1 && ids[0] == 0 && logs[0] > 0);
  CHECK(name_count == 1 && named[0] == 0 && sizes[0] == 7);
  CHECK(memcmp(names[0], "default", 7) == 0);
  g_families_told++;
}

// Leaves batches of two updates out, and replaces those of three.
static int LeaveOutPairs(void* state, unsigned long long log, const char* file, size_t file_size,
                         const rocksdb_writebatch_t* batch, rocksdb_writebatch_t* new_batch,
                         unsigned char* changed) {
  (void)state;
  CHECK(log > 0 && file_size > 4 && memcmp(file + file_size - 4, ".log", 4) == 0);
  const int count = rocksdb_writebatch_count((rocksdb_writebatch_t*)batch);
  if (count == 2) return rocksdb_wal_filter_ignore_current_record;
  if (count == 3) {
    rocksdb_writebatch_put(new_batch, "other", 5, "1", 1);
    *changed = 1;
  }
  return rocksdb_wal_filter_continue_processing;
}

static void CheckLogFilter(Fixture* f) {
  Reopen(f);  // Nothing is in a log that is not in tables.
  rocksdb_walfilter_t* filter =
      rocksdb_walfilter_create(NULL, NULL, NoteFamilies, LeaveOutPairs, NULL);
  rocksdb_options_set_wal_filter(f->options, filter);
  char* error = NULL;
  for (int size = 1; size <= 3; size++) {
    rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
    for (int i = 0; i < size; i++) {
      const char key[3] = {'f', (char)('0' + size), (char)('0' + i)};
      rocksdb_writebatch_put(batch, key, sizeof(key), "1", 1);
    }
    rocksdb_write(f->db, f->write, batch, &error);
    CHECK_OK(error);
    rocksdb_writebatch_destroy(batch);
  }
  Reopen(f);
  CHECK(g_families_told == 1);
  CHECK(Has(f, "f10", "1") && Has(f, "f20", NULL) && Has(f, "f30", NULL) && Has(f, "other", "1"));
  rocksdb_options_clear_wal_filter(f->options);
  Reopen(f);
  CHECK(Has(f, "f10", "1") && Has(f, "f20", NULL) && Has(f, "other", "1"));
  rocksdb_walfilter_destroy(filter);
}

static void CheckChangeStream(Fixture* f) {
  char* error = NULL;
  rocksdb_change_stream_options_t* options = rocksdb_change_stream_options_create();
  CHECK(rocksdb_change_stream_options_get_create_if_missing(options) == 1);
  CHECK(rocksdb_change_stream_open(f->db, options, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_change_stream_options_set_name(options, "consumer", 8);
  rocksdb_change_stream_t* stream = rocksdb_change_stream_open(f->db, options, &error);
  CHECK_OK(error);
  CHECK(rocksdb_change_stream_open(f->db, options, &error) == NULL);
  CHECK_ERROR(error, "Resource busy");
  const uint64_t next = rocksdb_change_stream_position(stream);
  CHECK(next == rocksdb_get_latest_sequence_number(f->db) + 1);
  CHECK(rocksdb_change_stream_next(stream, &error) == rocksdb_change_nothing);
  CHECK(rocksdb_change_stream_get_batch(stream) == NULL);

  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_writeoptions_disable_WAL(write, 1);
  rocksdb_put(f->db, write, "untold", 6, "1", 1, &error);
  rocksdb_writeoptions_disable_WAL(write, 0);
  rocksdb_put(f->db, write, "told", 4, "2", 1, &error);
  CHECK_OK(error);
  rocksdb_writeoptions_destroy(write);

  CHECK(rocksdb_change_stream_next(stream, &error) == rocksdb_change_gap_not_logged);
  CHECK(rocksdb_change_stream_first(stream) == next && rocksdb_change_stream_last(stream) == next);
  size_t count = 0;
  size_t size = 0;
  CHECK(rocksdb_change_stream_families(stream, &count) == 1 && count == 1);
  CHECK(strcmp(rocksdb_change_stream_family_name(stream, 0, &size), "default") == 0 && size == 7);
  CHECK(rocksdb_change_stream_family_name(stream, 1, &size) == NULL && size == 0);
  CHECK(rocksdb_change_stream_wait_next(stream, 1000000, &error) == rocksdb_change_batch);
  CHECK(rocksdb_change_stream_first(stream) == next + 1);
  rocksdb_writebatch_t* batch = rocksdb_change_stream_get_batch(stream);
  CHECK(rocksdb_writebatch_count(batch) == 1);
  rocksdb_writebatch_destroy(batch);
  CHECK_OK(error);
  rocksdb_change_stream_acknowledge(stream, next + 2, 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_change_stream_acknowledge(stream, next + 1, 1, &error);
  CHECK_OK(error);
  CHECK(rocksdb_change_stream_position(stream) == next + 2);
  rocksdb_change_stream_drop(f->db, "consumer", 8, &error);
  CHECK_ERROR(error, "Resource busy");
  rocksdb_change_stream_destroy(stream);
  rocksdb_change_stream_drop(f->db, "consumer", 8, &error);
  CHECK_OK(error);
  rocksdb_change_stream_drop(f->db, "consumer", 8, &error);
  CHECK_ERROR(error, "NotFound");
  rocksdb_change_stream_options_destroy(options);
}

static void CheckChosenFiles(Fixture* f) {
  char* error = NULL;
  const rocksdb_livefiles_t* live = rocksdb_livefiles(f->db);
  const char* names[] = {rocksdb_livefiles_name(live, 0), rocksdb_livefiles_name(live, 1)};
  rocksdb_compaction_options_t* options = rocksdb_compaction_options_create();
  rocksdb_compactionjobinfo_t* info = rocksdb_compactionjobinfo_create();
  CHECK(rocksdb_compaction_options_get_compression(options) == -1 ||
        rocksdb_compaction_options_get_compression(options) == 255);
  char** outputs = NULL;
  size_t num_outputs = 0;
  rocksdb_compaction_options_set_output_temperature_override(options, 1);
  rocksdb_compact_files(f->db, options, names, 2, 1, -1, &outputs, &num_outputs, info, &error);
  CHECK_ERROR(error, "Invalid argument: CompactFiles: output_temperature_override: is no Temp");
  rocksdb_compaction_options_set_output_temperature_override(options, 12);
  rocksdb_compact_files(f->db, options, names, 2, 1, -1, &outputs, &num_outputs, info, &error);
  CHECK_OK(error);
  CHECK(num_outputs >= 1 && outputs != NULL && outputs[0] != NULL);
  CHECK(rocksdb_compactionjobinfo_input_files_count(info) == 2);
  CHECK(rocksdb_compactionjobinfo_output_level(info) == 1);
  rocksdb_compact_files_output_file_names_destroy(outputs, num_outputs);
  unsigned char* canceled = rocksdb_compaction_options_canceled_create();
  rocksdb_compaction_options_canceled_set(canceled, 1);
  rocksdb_compaction_options_set_canceled(options, canceled);
  rocksdb_compact_files(f->db, options, names, 2, 1, -1, NULL, NULL, NULL, &error);
  CHECK(error != NULL);
  rocksdb_free(error);
  rocksdb_compaction_options_canceled_destroy(canceled);
  rocksdb_compactionjobinfo_destroy(info);
  rocksdb_compaction_options_destroy(options);
  rocksdb_livefiles_destroy(live);
}

// Lets no table be read that has four entries or more.
static unsigned char SmallTables(void* state, const rocksdb_table_properties_t* table) {
  ++*(int*)state;
  return rocksdb_table_properties_num_entries(table) < 4;
}

static void Forget(void* state) {
  *(int*)state = -1;
}

static void CheckTableFilter(Fixture* f) {
  int asked = 0;
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  CHECK(rocksdb_readoptions_has_table_filter(read) == 0);
  rocksdb_readoptions_set_table_filter(read, &asked, Forget, SmallTables);
  CHECK(rocksdb_readoptions_has_table_filter(read) == 1);
  rocksdb_iterator_t* iterator = rocksdb_create_iterator(f->db, read);
  rocksdb_iter_seek_to_first(iterator);
  CHECK(!rocksdb_iter_valid(iterator) && asked > 0);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_clear_table_filter(read);
  CHECK(asked == -1);
  rocksdb_readoptions_destroy(read);
}

void TestFiles(void) {
  Fixture f;
  Open(&f, "files", NoCompactions);
  MakeTwoTables(&f);
  CheckPartsOfMetadata(&f);
  CheckLogFiles(&f);
  CheckChosenFiles(&f);
  CheckTableFilter(&f);
  CheckUpdates(&f);
  CheckLogFilter(&f);
  CheckChangeStream(&f);
  Close(&f);
}

// ---- Handles that are given ----

static int g_operators;

static void CountOperators(void* state) {
  (void)state;
  ++g_operators;
}

static char* Last(void* state, const char* key, size_t key_length, const char* existing_value,
                  size_t existing_value_length, const char* const* operands,
                  const size_t* operands_length, int num_operands, unsigned char* success,
                  size_t* new_value_length) {
  (void)state, (void)key, (void)key_length, (void)existing_value, (void)existing_value_length;
  const size_t size = operands_length[num_operands - 1];
  char* value = malloc(size + 1);
  memcpy(value, operands[num_operands - 1], size);
  *success = 1;
  *new_value_length = size;
  return value;
}

static const char* OperatorName(void* state) {
  (void)state;
  return "test.Last";
}

static int OrderBytes(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  const int order = memcmp(a, b, alen < blen ? alen : blen);
  return order != 0 ? order : (alen > blen) - (alen < blen);
}

static void GiveAll(rocksdb_options_t* options) {
  rocksdb_mergeoperator_t* merge =
      rocksdb_mergeoperator_create(NULL, CountOperators, Last, NULL, NULL, OperatorName);
  rocksdb_options_t* other = rocksdb_options_create();
  rocksdb_options_set_merge_operator(options, merge);
  rocksdb_options_set_merge_operator(other, merge);  // One operator, two families.
  rocksdb_options_destroy(other);
  rocksdb_mergeoperator_destroy(merge);
  rocksdb_slicetransform_t* prefix = rocksdb_slicetransform_create_fixed_prefix(1);
  rocksdb_options_set_prefix_extractor(options, prefix);
  rocksdb_slicetransform_destroy(prefix);
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_filterpolicy_t* filter = rocksdb_filterpolicy_create_bloom(10);
  rocksdb_block_based_options_set_filter_policy(table, filter);
  rocksdb_options_set_block_based_table_factory(options, table);
  rocksdb_filterpolicy_destroy(filter);
  rocksdb_block_based_options_destroy(table);
  rocksdb_comparator_t* comparator =
      rocksdb_comparator_create(NULL, CountOperators, OrderBytes, OperatorName);
  rocksdb_options_set_comparator(options, comparator);
  rocksdb_comparator_destroy(comparator);
}

void TestGivenHandles(void) {
  Fixture f;
  char* error = NULL;
  g_operators = 0;
  Open(&f, "given", GiveAll);
  rocksdb_merge(f.db, f.write, "k", 1, "v", 1, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "k", "v"));
  Flush(&f);
  CHECK(g_operators == 0);
  Close(&f);
  CHECK(g_operators == 2);
}

// ---- What opening says no to ----

static void CheckNoOpen(rocksdb_options_t* options, const char* name) {
  char* error = NULL;
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK(error != NULL && strstr(error, "rocksdb_open: ") != NULL);
  CHECK_ERROR(error, name);
}

// Null alone clears an option; null for a handle that could not be made does not pass.
static void CheckHandlesThatCouldNotBeMade(rocksdb_options_t* options) {
  rocksdb_options_set_merge_operator(
      options, rocksdb_mergeoperator_create(NULL, NULL, NULL, NULL, NULL, NULL));
  CheckNoOpen(options, "rocksdb_options_set_merge_operator");
  rocksdb_options_set_merge_operator(options, NULL);
  rocksdb_options_set_prefix_extractor(options,
                                       rocksdb_slicetransform_create(NULL, NULL, NULL, NULL, NULL));
  CheckNoOpen(options, "rocksdb_options_set_prefix_extractor");
  rocksdb_options_set_prefix_extractor(options, NULL);
  rocksdb_options_set_compaction_filter(options,
                                        rocksdb_compactionfilter_create(NULL, NULL, NULL, NULL));
  CheckNoOpen(options, "rocksdb_options_set_compaction_filter");
  rocksdb_options_set_compaction_filter(options, NULL);
  rocksdb_options_set_compaction_filter_factory(
      options, rocksdb_compactionfilterfactory_create(NULL, NULL, NULL, NULL));
  CheckNoOpen(options, "rocksdb_options_set_compaction_filter_factory");
  rocksdb_options_set_compaction_filter_factory(options, NULL);
  rocksdb_options_set_ratelimiter(options, rocksdb_ratelimiter_create(0, 0, 0));
  CheckNoOpen(options, "rocksdb_options_set_ratelimiter");
  rocksdb_options_set_ratelimiter(options, NULL);
}

void TestLackingOptions(void) {
  size_t size = 0;
  rocksdb_options_t* options = rocksdb_options_create();
  CHECK(rocksdb_options_get_max_manifest_space_amp_pct(options) == 500);
  rocksdb_options_set_max_manifest_space_amp_pct(options, 7);  // Only tunes a missing feature.
  CHECK(rocksdb_options_get_max_manifest_space_amp_pct(options) == 7);
  rocksdb_options_set_preclude_last_level_data_seconds(options, 60);
  rocksdb_options_t* copy = rocksdb_options_create_copy(options);
  CHECK(rocksdb_options_get_preclude_last_level_data_seconds(copy) == 60);
  CheckNoOpen(copy, "preclude_last_level_data_seconds");
  rocksdb_options_destroy(copy);
  rocksdb_options_set_preclude_last_level_data_seconds(options, 0);
  rocksdb_options_checksum_handoff_file_types_add(options, 2);
  CHECK(rocksdb_options_checksum_handoff_file_types_contains(options, 2) == 1);
  CHECK(rocksdb_options_checksum_handoff_file_types_count(options) == 1);
  CheckNoOpen(options, "checksum_handoff_file_types");
  rocksdb_options_checksum_handoff_file_types_remove(options, 2);
  rocksdb_options_set_daily_offpeak_time_utc(options, "01:00-02:00");
  CHECK(Equal(rocksdb_options_get_daily_offpeak_time_utc(options, &size), 11, "01:00-02:00"));
  CheckNoOpen(options, "daily_offpeak_time_utc");
  rocksdb_options_set_daily_offpeak_time_utc(options, "");
  CheckHandlesThatCouldNotBeMade(options);
  GiveAll(options);
  rocksdb_cuckoo_table_options_t* cuckoo = rocksdb_cuckoo_options_create();
  rocksdb_options_set_cuckoo_table_factory(options, cuckoo);
  rocksdb_cuckoo_options_destroy(cuckoo);
  CheckNoOpen(options, "rocksdb_options_set_cuckoo_table_factory");
  rocksdb_block_based_table_options_t* tables = rocksdb_block_based_options_create();
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_block_based_options_destroy(tables);
  // A further good one does not mend the missing one.
  rocksdb_options_add_eventlistener(options, NULL);
  rocksdb_eventlistener_t* listener = rocksdb_eventlistener_create(
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  rocksdb_options_add_eventlistener(options, listener);
  rocksdb_eventlistener_destroy(listener);
  CheckNoOpen(options, "rocksdb_options_add_eventlistener");
  rocksdb_options_destroy(options);
  // All bits of a number are kept, and one service may be given to several.
  options = rocksdb_options_create();
  rocksdb_options_set_preclude_last_level_data_seconds(options, UINT64_MAX - 1);
  CHECK(rocksdb_options_get_preclude_last_level_data_seconds(options) == UINT64_MAX - 1);
  rocksdb_options_t* second = rocksdb_options_create();
  rocksdb_compactionservice_t* service =
      rocksdb_compactionservice_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  rocksdb_options_set_compaction_service(options, service);
  rocksdb_options_set_compaction_service(second, service);
  rocksdb_options_destroy(options);
  CheckNoOpen(second, "compaction_service");
  rocksdb_options_destroy(second);
}

// ---- Where RocksDB is lenient ----

void TestLeniency(void) {
  Fixture f;
  char* error = NULL;
  size_t size = 99;
  Open(&f, "leniency", NULL);
  // Ten bytes of protection are as good as eight.
  rocksdb_writebatch_t* protected_batch = rocksdb_writebatch_create_with_params(0, 0, 10, 0);
  rocksdb_writebatch_put(protected_batch, "c", 1, "3", 1);
  CHECK(rocksdb_writebatch_count(protected_batch) == 1);
  rocksdb_write(f.db, f.write, protected_batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(protected_batch);
  // An absent key is known to be so, and has an empty value for clients that look at it.
  char* value = NULL;
  unsigned char value_found = 0;
  CHECK(!rocksdb_key_may_exist(f.db, f.read, "absent", 6, &value, &size, NULL, 0, &value_found));
  CHECK(value_found == 1 && value != NULL && size == 0);
  rocksdb_free(value);
  Close(&f);
}
