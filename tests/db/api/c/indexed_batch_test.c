// SPDX-License-Identifier: Apache-2.0
// Tests write batches with an index: filled, read alone and over a database, iterated over, rolled
// back, written.

#include "check.h"

static void UseAppend(rocksdb_options_t* options) {
  char* error = NULL;
  rocksdb_options_set_merge_operator_from_string(options, "stringappend", &error);
  CHECK_OK(error);
}

// True if the batch over the database has this value, in all three forms; null: it has none.
static bool Reads(const Fixture* f, rocksdb_writebatch_wi_t* batch,
                  rocksdb_column_family_handle_t* family, const char* key, const char* value) {
  char* error = NULL;
  size_t size = 99;
  const size_t length = strlen(key);
  char* const copy = family == NULL
                         ? rocksdb_writebatch_wi_get_from_batch_and_db(batch, f->db, f->read, key,
                                                                       length, &size, &error)
                         : rocksdb_writebatch_wi_get_from_batch_and_db_cf(
                               batch, f->db, f->read, family, key, length, &size, &error);
  CHECK_OK(error);
  rocksdb_pinnableslice_t* const pinned =
      family == NULL ? rocksdb_writebatch_wi_get_pinned_from_batch_and_db(batch, f->db, f->read,
                                                                          key, length, &error)
                     : rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
                           batch, f->db, f->read, family, key, length, &error);
  CHECK_OK(error);
  size_t pinned_size = 0;
  const char* const bytes = rocksdb_pinnableslice_value(pinned, &pinned_size);
  bool same = value == NULL ? pinned == NULL : Equal(bytes, pinned_size, value);
  rocksdb_pinnableslice_destroy(pinned);
  if (value == NULL) return same && copy == NULL && size == 0;
  same = TakeEqual(copy, size, value) && same;
  return same;
}

// Like the function above, for the batch alone.
static bool HasAlone(const Fixture* f, rocksdb_writebatch_wi_t* batch, const char* key,
                     const char* value) {
  char* error = NULL;
  size_t size = 99;
  char* const copy =
      rocksdb_writebatch_wi_get_from_batch(batch, f->options, key, strlen(key), &size, &error);
  CHECK_OK(error);
  return value == NULL ? copy == NULL && size == 0 : TakeEqual(copy, size, value);
}

// Compares "a=1 b=2 " with what the iterator shows, both ways; takes it.
static void CheckWalk(rocksdb_iterator_t* it, const char* expected) {
  char text[200] = "";
  char reversed[200] = "";
  char* error = NULL;
  for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
    const rocksdb_slice_t key = rocksdb_iter_key_slice(it);
    const rocksdb_slice_t value = rocksdb_iter_value_slice(it);
    const size_t n = strlen(text);
    snprintf(text + n, sizeof(text) - n, "%.*s=%.*s ", (int)key.size, key.data, (int)value.size,
             value.data);
  }
  for (rocksdb_iter_seek_to_last(it); rocksdb_iter_valid(it); rocksdb_iter_prev(it)) {
    const rocksdb_slice_t key = rocksdb_iter_key_slice(it);
    const rocksdb_slice_t value = rocksdb_iter_value_slice(it);
    char before[200];
    memcpy(before, reversed, sizeof(before));
    const int n = snprintf(reversed, sizeof(reversed), "%.*s=%.*s ", (int)key.size, key.data,
                           (int)value.size, value.data);
    snprintf(reversed + n, sizeof(reversed) - (size_t)n, "%.*s", 150, before);
  }
  rocksdb_iter_get_error(it, &error);
  CHECK_OK(error);
  CHECK(strcmp(text, expected) == 0);
  CHECK(strcmp(reversed, expected) == 0);
  rocksdb_iter_destroy(it);
}

static void CheckFilling(Fixture* f) {
  const char* const keys[] = {"pie", "ces"};
  const size_t key_sizes[] = {3, 3};
  const char* const ends[] = {"pie", "zzz"};
  const char* const values[] = {"va", "lue"};
  const size_t value_sizes[] = {2, 3};
  char* error = NULL;
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(f->db);
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 0);
  rocksdb_writebatch_wi_putv(batch, 2, keys, key_sizes, 2, values, value_sizes);
  CHECK(HasAlone(f, batch, "pieces", "value"));
  rocksdb_writebatch_wi_mergev_cf(batch, family, 2, keys, key_sizes, 1, values, value_sizes);
  CHECK(Reads(f, batch, NULL, "pieces", "value,va"));
  rocksdb_writebatch_wi_deletev(batch, 2, keys, key_sizes);
  CHECK(HasAlone(f, batch, "pieces", NULL));
  rocksdb_writebatch_wi_mergev(batch, 2, keys, key_sizes, 1, values, value_sizes);
  CHECK(Reads(f, batch, family, "pieces", "va"));
  rocksdb_writebatch_wi_putv_cf(batch, family, 2, keys, key_sizes, 1, values, value_sizes);
  rocksdb_writebatch_wi_deletev_cf(batch, family, 2, keys, key_sizes);
  rocksdb_writebatch_wi_put_cf(batch, family, "pieces", 6, "1", 1);
  CHECK(HasAlone(f, batch, "pieces", "1"));
  rocksdb_writebatch_wi_singledelete(batch, "pieces", 6);
  CHECK(HasAlone(f, batch, "pieces", NULL));
  rocksdb_writebatch_wi_put(batch, "pieces", 6, "2", 1);
  rocksdb_writebatch_wi_singledelete_cf(batch, family, "pieces", 6);
  rocksdb_writebatch_wi_put(batch, "pieces", 6, "3", 1);
  rocksdb_writebatch_wi_delete_cf(batch, family, "pieces", 6);
  CHECK(HasAlone(f, batch, "pieces", NULL));
  rocksdb_writebatch_wi_put(batch, "piecesX", 7, "4", 1);
  CHECK(HasAlone(f, batch, "piecesX", "4"));
  rocksdb_writebatch_wi_delete_rangev(batch, 2, keys, key_sizes, ends, key_sizes);
  CHECK(HasAlone(f, batch, "piecesX", NULL));
  rocksdb_writebatch_wi_put(batch, "piecesX", 7, "5", 1);
  rocksdb_writebatch_wi_delete_rangev_cf(batch, family, 2, keys, key_sizes, ends, key_sizes);
  CHECK(HasAlone(f, batch, "piecesX", NULL));
  rocksdb_writebatch_wi_put_log_data(batch, "blob", 4);
  CHECK(rocksdb_writebatch_wi_count(batch) == 16);
  size_t size = 0;
  CHECK(rocksdb_writebatch_wi_data(batch, &size) != NULL && size > 12);
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CHECK(Has(f, "pieces", NULL) && Has(f, "piecesX", NULL));
  rocksdb_writebatch_wi_clear(batch);
  CHECK(rocksdb_writebatch_wi_count(batch) == 0);
  CHECK(Reads(f, batch, NULL, "pieces", NULL));
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
}

// A rollback also removes the failure of a rolled-back update.
static void CheckIndexedFailures(Fixture* f) {
  char* error = NULL;
  rocksdb_writebatch_wi_t* const batch =
      rocksdb_writebatch_wi_create_with_params(NULL, 0, 1, 64, 0);
  char large[200];
  memset(large, 'v', sizeof(large));
  rocksdb_writebatch_wi_put(batch, "small", 5, "1", 1);
  rocksdb_writebatch_wi_set_save_point(batch);
  rocksdb_writebatch_wi_put(batch, "large", 5, large, sizeof(large));
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "Memory limit");
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_OK(error);
  // A failure before the save point stays.
  rocksdb_writebatch_wi_put(batch, "large", 5, large, sizeof(large));
  rocksdb_writebatch_wi_set_save_point(batch);
  rocksdb_writebatch_wi_put(batch, "large", 5, large, sizeof(large));
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "Memory limit");
  rocksdb_writebatch_wi_clear(batch);
  rocksdb_writebatch_wi_delete(batch, "small", 5);
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_wi_destroy(batch);
}

static void CheckReading(Fixture* f) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(f->db);
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
  PutText(f, "a", "db");
  PutText(f, "b", "db");
  PutText(f, "c", "db");
  PutText(f, "d", "db");
  rocksdb_writebatch_wi_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_wi_delete_range(batch, "b", 1, "c", 1);
  rocksdb_writebatch_wi_merge(batch, "c", 1, "2", 1);
  rocksdb_writebatch_wi_set_save_point(batch);
  rocksdb_writebatch_wi_delete_range_cf(batch, family, "a", 1, "z", 1);
  rocksdb_writebatch_wi_merge_cf(batch, family, "e", 1, "3", 1);
  CHECK(Reads(f, batch, NULL, "a", NULL) && Reads(f, batch, family, "e", "3"));
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
  CHECK(Reads(f, batch, NULL, "a", "1") && Reads(f, batch, family, "b", NULL));
  CHECK(Reads(f, batch, NULL, "c", "db,2") && Reads(f, batch, family, "d", "db"));
  CHECK(HasAlone(f, batch, "d", NULL));
  // A merge needs a family for its operator, and a base for a result.
  CHECK(rocksdb_writebatch_wi_get_from_batch_cf(batch, f->options, family, "c", 1, &size, &error) ==
        NULL);
  CHECK_ERROR(error, "Merge in progress");
  CheckWalk(rocksdb_writebatch_wi_create_iterator_with_base_cf(
                batch, rocksdb_create_iterator(f->db, f->read), family),
            "a=1 c=db,2 d=db ");
  // The bounds of the base go with the base; those of the other, which may go first, with it.
  rocksdb_readoptions_t* const bounded = rocksdb_readoptions_create();
  rocksdb_readoptions_set_iterate_lower_bound(bounded, "b", 1);
  rocksdb_readoptions_set_iterate_upper_bound(bounded, "d", 1);
  rocksdb_iterator_t* const within = rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
      batch, rocksdb_create_iterator(f->db, bounded), family, bounded);
  rocksdb_readoptions_destroy(bounded);
  CheckWalk(within, "c=db,2 ");
  rocksdb_writebatch_wi_delete(batch, "c", 1);
  CheckWalk(rocksdb_writebatch_wi_create_iterator_with_base(
                batch, rocksdb_create_iterator(f->db, f->read)),
            "a=1 d=db ");
  CheckWalk(rocksdb_writebatch_wi_create_iterator_with_base_readopts(
                batch, rocksdb_create_iterator(f->db, f->read), f->read),
            "a=1 d=db ");
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_OK(error);
  CheckWalk(rocksdb_create_iterator(f->db, f->read), "a=1 d=db ");
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
}

// Bad arguments, and a batch that has become too large.
static void CheckMistakes(Fixture* f) {
  char* error = NULL;
  size_t size = 99;
  rocksdb_writebatch_wi_t* const batch =
      rocksdb_writebatch_wi_create_with_params(NULL, 0, 1, /*max_bytes=*/64, 8);
  CHECK(rocksdb_writebatch_wi_get_from_batch(NULL, f->options, "a", 1, &size, &error) == NULL);
  CHECK_ERROR(error, "rocksdb_writebatch_wi_get_from_batch: null argument: batch");
  CHECK(size == 0);
  CHECK(rocksdb_writebatch_wi_get_from_batch_and_db_cf(batch, f->db, f->read, NULL, "a", 1, &size,
                                                       &error) == NULL);
  CHECK_ERROR(error, "get_from_batch_and_db_cf: null argument: family");
  rocksdb_iterator_t* it = rocksdb_writebatch_wi_create_iterator_with_base(
      NULL, rocksdb_create_iterator(f->db, f->read));
  rocksdb_iter_seek_to_first(it);
  CHECK(!rocksdb_iter_valid(it));
  rocksdb_iter_get_error(it, &error);
  CHECK_ERROR(error, "batch");
  rocksdb_iter_destroy(it);
  it = rocksdb_writebatch_wi_create_iterator_with_base(batch, NULL);
  rocksdb_iter_get_error(it, &error);
  CHECK_ERROR(error, "without a base");
  rocksdb_iter_destroy(it);
  rocksdb_writebatch_wi_put(batch, "fits", 4, "1", 1);
  rocksdb_writebatch_wi_put(batch, "fits not", 8,
                            "0123456789012345678901234567890123456789012345678901234567890", 61);
  CHECK(HasAlone(f, batch, "fits", "1") && HasAlone(f, batch, "fits not", NULL));
  rocksdb_write_writebatch_wi(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "max_bytes");
  rocksdb_writebatch_wi_destroy(batch);
}

void TestIndexedBatches(void) {
  Fixture f;
  Open(&f, "indexed_batches", UseAppend);
  CheckFilling(&f);
  CheckIndexedFailures(&f);
  CheckReading(&f);
  CheckMistakes(&f);
  Close(&f);
}
