// SPDX-License-Identifier: Apache-2.0
// Tests opening, column families, writes, reads, iterators, snapshots and batches.

#include "check.h"

static void CheckRepair(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "repair", NULL);
  PutText(&f, "k", "v");
  rocksdb_close(f.db);
  char current[600];
  snprintf(current, sizeof(current), "%s/CURRENT", f.path);
  CHECK(remove(current) == 0);
  CHECK(rocksdb_open(f.options, f.path, &error) == NULL);
  CHECK_ERROR(error, "CURRENT");
  rocksdb_repair_db(f.options, f.path, &error);
  CHECK_OK(error);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "k", "v"));
  Close(&f);
}

void TestDatabase(void) {
  CheckRepair();
  Fixture f;
  char* error = NULL;
  Open(&f, "database", NULL);
  PutText(&f, "k", "v");
  Reopen(&f);
  CHECK(Has(&f, "k", "v"));

  size_t size = 0;
  char* identity = rocksdb_get_db_identity(f.db, &size);
  CHECK(identity != NULL && size > 0);
  rocksdb_free(identity);
  CHECK(rocksdb_get_latest_sequence_number(f.db) > 0);
  CHECK(rocksdb_open(f.options, f.path, &error) == NULL);  // The lock is held.
  CHECK_ERROR(error, "IO error");

  rocksdb_close(f.db);
  f.db = rocksdb_open_for_read_only(f.options, f.path, 0, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "k", "v"));
  rocksdb_put(f.db, f.write, "k", 1, "w", 1, &error);
  CHECK_ERROR(error, "Not implemented");
  rocksdb_close(f.db);

  rocksdb_options_set_error_if_exists(f.options, 1);
  CHECK(rocksdb_open(f.options, f.path, &error) == NULL);
  CHECK(error != NULL);
  // A second failure replaces the text of the first.
  CHECK(rocksdb_open(f.options, f.path, &error) == NULL);
  CHECK_ERROR(error, "exists");
  rocksdb_options_set_error_if_exists(f.options, 0);

  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  Close(&f);
  rocksdb_options_set_create_if_missing((f.options = rocksdb_options_create()), 0);
  CHECK(rocksdb_open(f.options, f.path, &error) == NULL);
  CHECK_ERROR(error, "");
  rocksdb_options_destroy(f.options);
}

static void CheckFamilies(Fixture* f, const char* const* names, int count) {
  char* error = NULL;
  size_t n = 0;
  char** list = rocksdb_list_column_families(f->options, f->path, &n, &error);
  CHECK_OK(error);
  CHECK(n == (size_t)count);
  for (int i = 0; list != NULL && i < count; ++i) CHECK(strcmp(list[i], names[i]) == 0);
  rocksdb_list_column_families_destroy(list, n);
}

void TestColumnFamilies(void) {
  Fixture f;
  char* error = NULL;
  size_t size = 0;
  Open(&f, "families", NULL);
  rocksdb_column_family_handle_t* one =
      rocksdb_create_column_family(f.db, f.options, "one", &error);
  CHECK_OK(error);
  CHECK(rocksdb_create_column_family(f.db, f.options, "one", &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(rocksdb_column_family_handle_get_id(one) == 1);
  CHECK(TakeEqual(rocksdb_column_family_handle_get_name(one, &size), 3, "one") && size == 3);

  const char* more[] = {"two", "three"};
  size_t created = 0;
  rocksdb_column_family_handle_t** list =
      rocksdb_create_column_families(f.db, f.options, 2, more, &created, &error);
  CHECK_OK(error);
  CHECK(list != NULL && created == 2);
  rocksdb_drop_column_family(f.db, list[1], &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(list[0]);
  rocksdb_column_family_handle_destroy(list[1]);
  rocksdb_create_column_families_destroy(list);

  rocksdb_put_cf(f.db, f.write, one, "k", 1, "in one", 6, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "k", NULL));
  rocksdb_column_family_handle_t* other = rocksdb_get_default_column_family_handle(f.db);
  rocksdb_put_cf(f.db, f.write, other, "d", 1, "in default", 10, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "d", "in default"));
  rocksdb_column_family_handle_destroy(other);
  rocksdb_column_family_handle_destroy(one);
  rocksdb_close(f.db);

  const char* names[] = {"default", "one", "two"};
  CheckFamilies(&f, names, 3);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK(f.db == NULL);
  CHECK_ERROR(error, "olumn famil");

  const rocksdb_options_t* options[] = {f.options, f.options, f.options};
  rocksdb_column_family_handle_t* handles[3] = {NULL, NULL, NULL};
  f.db = rocksdb_open_column_families(f.options, f.path, 3, names, options, handles, &error);
  CHECK_OK(error);
  char* value = rocksdb_get_cf(f.db, f.read, handles[1], "k", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "in one"));
  for (int i = 0; i < 3; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(f.db);

  f.db = rocksdb_open_for_read_only_column_families(f.options, f.path, 2, names, options, handles,
                                                    0, &error);
  CHECK_OK(error);
  value = rocksdb_get_cf(f.db, f.read, handles[1], "k", 1, &size, &error);
  CHECK(TakeEqual(value, size, "in one"));
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  Close(&f);
}

void TestWrites(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "writes", NULL);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  PutText(&f, "a", "1");
  PutText(&f, "b", "2");
  PutText(&f, "c", "3");
  PutText(&f, "d", "4");
  PutText(&f, "e", "5");
  rocksdb_delete(f.db, f.write, "a", 1, &error);
  CHECK_OK(error);
  rocksdb_delete(f.db, f.write, "absent", 6, &error);
  CHECK_OK(error);
  rocksdb_delete_cf(f.db, f.write, family, "b", 1, &error);
  CHECK_OK(error);
  rocksdb_singledelete(f.db, f.write, "c", 1, &error);
  CHECK_OK(error);
  rocksdb_singledelete_cf(f.db, f.write, family, "d", 1, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "a", NULL) && Has(&f, "b", NULL) && Has(&f, "c", NULL) && Has(&f, "d", NULL));
  CHECK(Has(&f, "e", "5"));
  PutText(&f, "f", "6");
  rocksdb_delete_range_cf(f.db, f.write, family, "e", 1, "f", 1, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "e", NULL) && Has(&f, "f", "6"));
  rocksdb_delete_range_cf(f.db, f.write, family, "z", 1, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");

  rocksdb_put(f.db, f.write, "", 0, "", 0, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "", ""));
  rocksdb_put_cf(f.db, f.write, family, "nul\0key", 7, "nul\0value", 9, &error);
  CHECK_OK(error);
  size_t size = 0;
  char* value = rocksdb_get(f.db, f.read, "nul\0key", 7, &size, &error);
  CHECK(value != NULL && size == 9 && memcmp(value, "nul\0value", 9) == 0);
  rocksdb_free(value);

  // The comparator has no timestamps, so each of these is an error.
  rocksdb_put_with_ts(f.db, f.write, "k", 1, "t", 1, "v", 1, &error);
  CHECK_ERROR(error, "");
  rocksdb_put_cf_with_ts(f.db, f.write, family, "k", 1, "t", 1, "v", 1, &error);
  CHECK_ERROR(error, "");
  rocksdb_delete_with_ts(f.db, f.write, "k", 1, "t", 1, &error);
  CHECK_ERROR(error, "");
  rocksdb_delete_cf_with_ts(f.db, f.write, family, "k", 1, "t", 1, &error);
  CHECK_ERROR(error, "");
  rocksdb_singledelete_with_ts(f.db, f.write, "k", 1, "t", 1, &error);
  CHECK_ERROR(error, "");
  rocksdb_singledelete_cf_with_ts(f.db, f.write, family, "k", 1, "t", 1, &error);
  CHECK_ERROR(error, "");
  CHECK(Has(&f, "k", NULL));
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

static void CheckBatchedReads(Fixture* f, rocksdb_column_family_handle_t* family) {
  const char* keys[] = {"a", "missing", "c"};
  const size_t sizes[] = {1, 7, 1};
  const char* expected[] = {"1", NULL, "3"};
  char* values[3];
  size_t value_sizes[3];
  char* errors[3];
  rocksdb_multi_get(f->db, f->read, 3, keys, sizes, values, value_sizes, errors);
  for (int i = 0; i < 3; ++i) {
    CHECK(errors[i] == NULL);
    CHECK(expected[i] == NULL ? values[i] == NULL
                              : TakeEqual(values[i], value_sizes[i], expected[i]));
  }
  const rocksdb_column_family_handle_t* families[] = {family, family, family};
  rocksdb_multi_get_cf(f->db, f->read, families, 3, keys, sizes, values, value_sizes, errors);
  for (int i = 0; i < 3; ++i) {
    CHECK(errors[i] == NULL);
    CHECK(expected[i] == NULL ? values[i] == NULL
                              : TakeEqual(values[i], value_sizes[i], expected[i]));
  }
  const rocksdb_slice_t slices[] = {{"a", 1}, {"missing", 7}, {"c", 1}};
  for (int form = 0; form < 2; ++form) {
    rocksdb_pinnableslice_t* pinned[3];
    if (form == 0) {
      rocksdb_batched_multi_get_cf(f->db, f->read, family, 3, keys, sizes, pinned, errors, false);
    } else {
      rocksdb_batched_multi_get_cf_slice(f->db, f->read, family, 3, slices, pinned, errors, false);
    }
    for (int i = 0; i < 3; ++i) {
      size_t size = 0;
      CHECK(errors[i] == NULL);
      CHECK((expected[i] == NULL) == (pinned[i] == NULL));
      if (pinned[i] == NULL) continue;
      const char* bytes = rocksdb_pinnableslice_value(pinned[i], &size);
      CHECK(Equal(bytes, size, expected[i]));
      rocksdb_pinnableslice_destroy(pinned[i]);
    }
  }
}

// Results of many reads at once, given back in another order than they came, some of them after the
// next read, some after the database. Every third key is there.
static void TestManyPinnedResults(void) {
  enum { kMost = 200 };
  static char texts[kMost][8];
  static const char* keys[kMost];
  static size_t sizes[kMost];
  static rocksdb_pinnableslice_t* kept[kMost];
  static rocksdb_pinnableslice_t* pinned[kMost];
  static char* errors[kMost];
  Fixture f;
  Open(&f, "many_pinned", NULL);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  for (int i = 0; i < kMost; ++i) {
    sizes[i] = (size_t)snprintf(texts[i], sizeof(texts[i]), "k%03d", i);
    keys[i] = texts[i];
    kept[i] = NULL;
    if (i % 3 == 0) PutText(&f, texts[i], texts[i]);
  }
  const size_t counts[] = {1, 2, 63, 64, 65, kMost, 64, 1};
  for (size_t round = 0; round < sizeof(counts) / sizeof(counts[0]); ++round) {
    const size_t n = counts[round];
    rocksdb_batched_multi_get_cf(f.db, f.read, family, n, keys, sizes, pinned, errors, true);
    for (size_t i = 0; i < kMost; ++i) rocksdb_pinnableslice_destroy(kept[i]);
    for (size_t i = 0; i < kMost; ++i) kept[i] = NULL;
    for (size_t i = n; i-- > 0;) {
      size_t size = 0;
      CHECK(errors[i] == NULL);
      CHECK((i % 3 == 0) == (pinned[i] != NULL));
      if (pinned[i] == NULL) continue;
      const char* bytes = rocksdb_pinnableslice_value(pinned[i], &size);
      CHECK(Equal(bytes, size, texts[i]));
      if (i % 2 == 0) {
        kept[i] = pinned[i];
      } else {
        rocksdb_pinnableslice_destroy(pinned[i]);
      }
    }
  }
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
  for (size_t i = 0; i < kMost; ++i) rocksdb_pinnableslice_destroy(kept[i]);
}

static void CheckPinnedReads(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_pinnableslice_t* pinned = rocksdb_get_pinned(f->db, f->read, "a", 1, &error);
  CHECK_OK(error);
  CHECK(Equal(rocksdb_pinnableslice_value(pinned, &size), 1, "1") && size == 1);
  rocksdb_pinnableslice_destroy(pinned);
  pinned = rocksdb_get_pinned_cf(f->db, f->read, family, "c", 1, &error);
  CHECK_OK(error);
  CHECK(Equal(rocksdb_pinnableslice_value(pinned, &size), 1, "3") && size == 1);
  rocksdb_pinnableslice_destroy(pinned);
  CHECK(rocksdb_get_pinned(f->db, f->read, "missing", 7, &error) == NULL && error == NULL);

  rocksdb_pinnable_handle_t* handle = rocksdb_get_pinned_v2(f->db, f->read, "a", 1, &error);
  CHECK_OK(error);
  CHECK(Equal(rocksdb_pinnable_handle_get_value(handle, &size), 1, "1") && size == 1);
  rocksdb_pinnable_handle_destroy(handle);
  handle = rocksdb_get_pinned_cf_v2(f->db, f->read, family, "c", 1, &error);
  CHECK(Equal(rocksdb_pinnable_handle_get_value(handle, &size), 1, "3") && size == 1);
  rocksdb_pinnable_handle_destroy(handle);
  CHECK(rocksdb_get_pinned_v2(f->db, f->read, "missing", 7, &error) == NULL && error == NULL);
}

static void CheckBufferReads(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  char buffer[4] = "";
  size_t size = 0;
  unsigned char found = 0;
  CHECK(rocksdb_get_into_buffer(f->db, f->read, "long", 4, buffer, 4, &size, &found, &error) == 1);
  CHECK(found == 1 && Equal(buffer, size, "four"));
  CHECK(rocksdb_get_into_buffer_cf(f->db, f->read, family, "long", 4, buffer, 3, &size, &found,
                                   &error) == 0);
  CHECK(found == 1 && size == 4 && error == NULL);
  CHECK(rocksdb_get_into_buffer(f->db, f->read, "none", 4, buffer, 4, &size, &found, &error) == 0);
  CHECK(found == 0 && error == NULL);
}

void TestReads(void) {
  TestManyPinnedResults();
  Fixture f;
  char* error = NULL;
  Open(&f, "reads", NULL);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  PutText(&f, "a", "1");
  PutText(&f, "c", "3");
  PutText(&f, "long", "four");
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  for (int flushed = 0; flushed < 2; ++flushed) {
    CheckBatchedReads(&f, family);
    CheckPinnedReads(&f, family);
    CheckBufferReads(&f, family);
    rocksdb_flush(f.db, flush, &error);
    CHECK_OK(error);
  }
  rocksdb_flushoptions_destroy(flush);

  PutText(&f, "fresh", "memtable");
  char* value = NULL;
  size_t size = 0;
  unsigned char value_found = 9;
  CHECK(rocksdb_key_may_exist(f.db, f.read, "fresh", 5, &value, &size, NULL, 0, &value_found) == 1);
  CHECK(value_found == 1 && TakeEqual(value, size, "memtable"));
  CHECK(rocksdb_key_may_exist_cf(f.db, f.read, family, "fresh", 5, NULL, NULL, NULL, 0, NULL) == 1);

  char* ts = NULL;
  size_t ts_size = 0;
  value = rocksdb_get_with_ts(f.db, f.read, "a", 1, &size, &ts, &ts_size, &error);
  CHECK(error != NULL || TakeEqual(value, size, "1"));
  rocksdb_free(ts);
  rocksdb_free(error);
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

static void Walk(rocksdb_iterator_t* iter, const char* expected) {
  char seen[16] = "";
  size_t size = 0;
  size_t n = 0;
  for (; rocksdb_iter_valid(iter) && n < sizeof(seen) - 1; rocksdb_iter_next(iter)) {
    seen[n++] = rocksdb_iter_key(iter, &size)[0];
    CHECK(size == 1);
  }
  CHECK(strcmp(seen, expected) == 0);
  char* error = NULL;
  rocksdb_iter_get_error(iter, &error);
  CHECK_OK(error);
}

void TestIterators(void) {
  Fixture f;
  char* error = NULL;
  size_t size = 0;
  Open(&f, "iterators", NULL);
  const char* keys = "bdfh";
  for (int i = 0; i < 4; ++i) {
    rocksdb_put(f.db, f.write, &keys[i], 1, &keys[i], 1, &error);
    CHECK_OK(error);
  }
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f.db, f.read);
  CHECK(rocksdb_iter_valid(iter) == 0);
  rocksdb_iter_seek_to_first(iter);
  Walk(iter, "bdfh");
  rocksdb_iter_seek(iter, "c", 1);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 1, "d") && size == 1);
  CHECK(Equal(rocksdb_iter_value(iter, &size), 1, "d") && size == 1);
  const rocksdb_slice_t key = rocksdb_iter_key_slice(iter);
  const rocksdb_slice_t value = rocksdb_iter_value_slice(iter);
  CHECK(Equal(key.data, key.size, "d") && Equal(value.data, value.size, "d"));
  rocksdb_iter_prev(iter);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 1, "b"));
  rocksdb_iter_seek_to_last(iter);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 1, "h"));
  rocksdb_iter_seek_for_prev(iter, "e", 1);
  CHECK(Equal(rocksdb_iter_key(iter, &size), 1, "d"));
  PutText(&f, "a", "a");
  rocksdb_iter_seek_to_first(iter);
  Walk(iter, "bdfh");  // The state at its making.
  rocksdb_iter_refresh(iter, &error);
  CHECK_OK(error);
  rocksdb_iter_seek_to_first(iter);
  Walk(iter, "abdfh");
  rocksdb_iter_destroy(iter);

  // Bounds are copied; the options may go before the iterator.
  rocksdb_readoptions_t* bounded = rocksdb_readoptions_create();
  char bound[1] = {'d'};
  rocksdb_readoptions_set_iterate_lower_bound(bounded, bound, 1);
  rocksdb_readoptions_set_iterate_upper_bound(bounded, "h", 1);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  iter = rocksdb_create_iterator_cf(f.db, bounded, family);
  bound[0] = 'z';
  rocksdb_readoptions_destroy(bounded);
  rocksdb_iter_seek_to_first(iter);
  Walk(iter, "df");
  rocksdb_iter_destroy(iter);

  rocksdb_column_family_handle_t* families[] = {family, family};
  rocksdb_iterator_t* both[2] = {NULL, NULL};
  rocksdb_create_iterators(f.db, f.read, families, both, 2, &error);
  CHECK_OK(error);
  for (int i = 0; i < 2; ++i) {
    rocksdb_iter_seek_to_first(both[i]);
    Walk(both[i], "abdfh");
    rocksdb_iter_destroy(both[i]);
  }
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

void TestSnapshots(void) {
  Fixture f;
  Open(&f, "snapshots", NULL);
  PutText(&f, "k", "old");
  const rocksdb_snapshot_t* snapshot = rocksdb_create_snapshot(f.db);
  CHECK(rocksdb_snapshot_get_sequence_number(snapshot) == rocksdb_get_latest_sequence_number(f.db));
  PutText(&f, "k", "new");
  rocksdb_readoptions_set_snapshot(f.read, snapshot);
  CHECK(Has(&f, "k", "old"));
  rocksdb_readoptions_set_snapshot(f.read, NULL);
  CHECK(Has(&f, "k", "new"));
  rocksdb_release_snapshot(f.db, snapshot);
  Close(&f);
}

// Records the callbacks of an iteration as text.
static char g_log[256];

static void Note(const char* what, uint32_t family, const char* k, size_t klen, const char* v,
                 size_t vlen) {
  const size_t used = strlen(g_log);
  snprintf(g_log + used, sizeof(g_log) - used, "%s%u:%.*s=%.*s;", what, family, (int)klen, k,
           (int)vlen, v);
}
static void OnPut(void* state, const char* k, size_t klen, const char* v, size_t vlen) {
  CHECK(state == g_log);
  Note("put", 0, k, klen, v, vlen);
}
static void OnDelete(void* state, const char* k, size_t klen) {
  CHECK(state == g_log);
  Note("del", 0, k, klen, "", 0);
}
static void OnLogData(void* state, const char* blob, size_t len) {
  CHECK(state == g_log);
  Note("log", 0, blob, len, "", 0);
}
static void OnPutFamily(void* state, uint32_t id, const char* k, size_t klen, const char* v,
                        size_t vlen) {
  CHECK(state == g_log);
  Note("put", id, k, klen, v, vlen);
}
static void OnDeleteFamily(void* state, uint32_t id, const char* k, size_t klen) {
  CHECK(state == g_log);
  Note("del", id, k, klen, "", 0);
}
static void OnMergeFamily(void* state, uint32_t id, const char* k, size_t klen, const char* v,
                          size_t vlen) {
  CHECK(state == g_log);
  Note("merge", id, k, klen, v, vlen);
}

static void CheckIteration(rocksdb_column_family_handle_t* one) {
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_put_log_data(batch, "blob", 4);
  rocksdb_writebatch_delete(batch, "b", 1);
  g_log[0] = '\0';
  rocksdb_writebatch_iterate(batch, g_log, OnPut, OnDelete);
  CHECK(strcmp(g_log, "put0:a=1;del0:b=;") == 0);
  g_log[0] = '\0';
  rocksdb_writebatch_iterate_ld(batch, g_log, OnPut, OnDelete, OnLogData);
  CHECK(strcmp(g_log, "put0:a=1;log0:blob=;del0:b=;") == 0);
  rocksdb_writebatch_put_cf(batch, one, "c", 1, "3", 1);
  rocksdb_writebatch_merge_cf(batch, one, "m", 1, "4", 1);
  rocksdb_writebatch_delete_cf(batch, one, "d", 1);
  g_log[0] = '\0';
  rocksdb_writebatch_iterate_cf(batch, g_log, OnPutFamily, OnDeleteFamily, OnMergeFamily);
  CHECK(strcmp(g_log, "put0:a=1;del0:b=;put1:c=3;merge1:m=4;del1:d=;") == 0);
  g_log[0] = '\0';
  rocksdb_writebatch_iterate_cf_ld(batch, g_log, OnPutFamily, OnDeleteFamily, OnMergeFamily,
                                   OnLogData);
  CHECK(strcmp(g_log, "put0:a=1;log0:blob=;del0:b=;put1:c=3;merge1:m=4;del1:d=;") == 0);
  rocksdb_writebatch_destroy(batch);
}

static void CheckPieces(Fixture* f, rocksdb_column_family_handle_t* one) {
  char* error = NULL;
  size_t size = 0;
  const char* key[] = {"ke", "y"};
  const size_t key_sizes[] = {2, 1};
  const char* value[] = {"va", "l", "ue"};
  const size_t value_sizes[] = {2, 1, 2};
  const char* limit[] = {"ke", "z"};
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_putv(batch, 2, key, key_sizes, 3, value, value_sizes);
  rocksdb_writebatch_putv_cf(batch, one, 2, key, key_sizes, 3, value, value_sizes);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CHECK(Has(f, "key", "value"));
  char* found = rocksdb_get_cf(f->db, f->read, one, "key", 3, &size, &error);
  CHECK(TakeEqual(found, size, "value"));
  rocksdb_writebatch_clear(batch);
  rocksdb_writebatch_deletev(batch, 2, key, key_sizes);
  rocksdb_writebatch_delete_rangev_cf(batch, one, 2, key, key_sizes, limit, key_sizes);
  CHECK(rocksdb_writebatch_count(batch) == 2);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CHECK(Has(f, "key", NULL));
  CHECK(rocksdb_get_cf(f->db, f->read, one, "key", 3, &size, &error) == NULL);
  rocksdb_writebatch_clear(batch);
  rocksdb_writebatch_deletev_cf(batch, one, 2, key, key_sizes);
  rocksdb_writebatch_delete_rangev(batch, 2, key, key_sizes, limit, key_sizes);
  rocksdb_writebatch_mergev(batch, 2, key, key_sizes, 3, value, value_sizes);
  rocksdb_writebatch_mergev_cf(batch, one, 2, key, key_sizes, 3, value, value_sizes);
  CHECK(rocksdb_writebatch_count(batch) == 4);
  rocksdb_writebatch_destroy(batch);
}

// A rollback also removes the failure of a rolled-back update.
static void CheckRolledBackFailures(Fixture* f) {
  char* error = NULL;
  char large[200];
  memset(large, 'v', sizeof(large));
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(0, 64, 0, 0);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "small", 5, "1", 1);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "large", 5, large, sizeof(large));
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "Memory limit");
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CHECK(Has(f, "small", "1"));
  // A save point that is popped leaves it to the one before.
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "large", 5, large, sizeof(large));
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "Memory limit");
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(batch);
}

static void CheckSavePoints(Fixture* f) {
  char* error = NULL;
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create_with_params(64, 0, 8, 0);
  rocksdb_writebatch_put(batch, "kept", 4, "1", 1);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "gone", 4, "2", 1);
  rocksdb_writebatch_verify_checksum(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CHECK(Has(f, "kept", "1") && Has(f, "gone", NULL));
  rocksdb_writebatch_destroy(batch);
}

void TestBatches(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "batches", NULL);
  rocksdb_column_family_handle_t* one =
      rocksdb_create_column_family(f.db, f.options, "one", &error);
  CHECK_OK(error);
  CheckIteration(one);
  CheckPieces(&f, one);
  CheckRolledBackFailures(&f);
  CheckSavePoints(&f);

  PutText(&f, "s", "1");
  PutText(&f, "r", "1");
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "x", 1, "1", 1);
  rocksdb_writebatch_singledelete(batch, "s", 1);
  rocksdb_writebatch_singledelete_cf(batch, one, "absent", 6);
  rocksdb_writebatch_delete_range(batch, "r", 1, "s", 1);
  rocksdb_writebatch_delete_range_cf(batch, one, "a", 1, "b", 1);
  size_t size = 0;
  const char* bytes = rocksdb_writebatch_data(batch, &size);
  rocksdb_writebatch_t* copy = rocksdb_writebatch_create_from(bytes, size);
  rocksdb_writebatch_destroy(batch);
  CHECK(rocksdb_writebatch_count(copy) == 5);
  rocksdb_write(f.db, f.write, copy, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "x", "1") && Has(&f, "s", NULL) && Has(&f, "r", NULL));
  rocksdb_writebatch_destroy(copy);

  copy = rocksdb_writebatch_create_from("too short", 9);
  rocksdb_write(f.db, f.write, copy, &error);
  CHECK_ERROR(error, "Corruption");
  rocksdb_writebatch_destroy(copy);
  rocksdb_column_family_handle_destroy(one);
  Close(&f);
}
