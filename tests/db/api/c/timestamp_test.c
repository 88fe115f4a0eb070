// SPDX-License-Identifier: Apache-2.0
// Tests user timestamps: writes, batches, reads, iterators, and refusals.

#include "check.h"

// Keys end with a timestamp of 8 digits, so that the order of the bytes is that of the numbers.
enum { kDigits = 8 };

static int CompareBytes(const char* a, size_t alen, const char* b, size_t blen) {
  const int order = memcmp(a, b, alen < blen ? alen : blen);
  return order != 0 ? order : (alen > blen) - (alen < blen);
}

static int CompareTs(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  return CompareBytes(a, alen, b, blen);
}

static int CompareWithoutTs(void* state, const char* a, size_t alen, unsigned char a_has_ts,
                            const char* b, size_t blen, unsigned char b_has_ts) {
  (void)state;
  return CompareBytes(a, a_has_ts ? alen - kDigits : alen, b, b_has_ts ? blen - kDigits : blen);
}

static int Compare(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  const int order = CompareWithoutTs(state, a, alen, 1, b, blen, 1);
  return order != 0 ? order
                    : CompareBytes(b + blen - kDigits, kDigits, a + alen - kDigits, kDigits);
}

static const char* Name(void* state) {
  (void)state;
  return "test.digits";
}

static rocksdb_comparator_t* g_comparator;

static void UseTimestamps(rocksdb_options_t* options) {
  rocksdb_options_set_comparator(options, g_comparator);
}

static size_t TimestampSize(void* state, uint32_t family) {
  (void)family;
  return *(const size_t*)state;
}

// Reads from now on are as of `ts`.
static void ReadAt(Fixture* f, const char* ts) {
  rocksdb_readoptions_set_timestamp(f->read, ts, kDigits);
}

// True if the key has that value, written at `ts`; for a null value: if it is missing.
static bool HasAt(Fixture* f, const char* key, const char* value, const char* ts) {
  char* error = NULL;
  char* found_ts = NULL;
  size_t size = 0;
  size_t ts_size = 0;
  char* found =
      rocksdb_get_with_ts(f->db, f->read, key, strlen(key), &size, &found_ts, &ts_size, &error);
  CHECK_OK(error);
  if (value == NULL) return found == NULL && found_ts == NULL;
  const bool ts_equal = TakeEqual(found_ts, ts_size, ts);
  return TakeEqual(found, size, value) && ts_equal;
}

static void CheckWrites(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  rocksdb_put_with_ts(f->db, f->write, "a", 1, "00000001", kDigits, "one", 3, &error);
  CHECK_OK(error);
  rocksdb_put_cf_with_ts(f->db, f->write, family, "a", 1, "00000003", kDigits, "three", 5, &error);
  CHECK_OK(error);
  rocksdb_delete_with_ts(f->db, f->write, "a", 1, "00000005", kDigits, &error);
  CHECK_OK(error);
  rocksdb_put_with_ts(f->db, f->write, "b", 1, "00000002", kDigits, "two", 3, &error);
  CHECK_OK(error);
  rocksdb_delete_cf_with_ts(f->db, f->write, family, "b", 1, "00000004", kDigits, &error);
  CHECK_OK(error);
  for (int i = 0; i < 2; ++i) {
    const char* key = i == 0 ? "s" : "t";
    rocksdb_put_with_ts(f->db, f->write, key, 1, "00000001", kDigits, "v", 1, &error);
    CHECK_OK(error);
    if (i == 0) {
      rocksdb_singledelete_with_ts(f->db, f->write, key, 1, "00000002", kDigits, &error);
    } else {
      rocksdb_singledelete_cf_with_ts(f->db, f->write, family, key, 1, "00000002", kDigits, &error);
    }
    CHECK_OK(error);
  }
}

static void CheckReads(Fixture* f) {
  ReadAt(f, "00000000");
  CHECK(HasAt(f, "a", NULL, NULL));
  ReadAt(f, "00000002");
  CHECK(HasAt(f, "a", "one", "00000001"));
  CHECK(HasAt(f, "b", "two", "00000002"));
  CHECK(HasAt(f, "s", NULL, NULL) && HasAt(f, "t", NULL, NULL));
  ReadAt(f, "00000004");
  CHECK(HasAt(f, "a", "three", "00000003"));
  CHECK(HasAt(f, "b", NULL, NULL));
  ReadAt(f, "00000009");
  CHECK(HasAt(f, "a", NULL, NULL));
}

static void CheckBatch(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_cf_with_ts(batch, family, "w", 1, "00000006", kDigits, "6", 1);
  rocksdb_writebatch_delete_cf_with_ts(batch, family, "x", 1, "00000006", kDigits);
  rocksdb_writebatch_singledelete_cf_with_ts(batch, family, "y", 1, "00000006", kDigits);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  ReadAt(f, "00000006");
  CHECK(HasAt(f, "w", "6", "00000006"));

  rocksdb_writebatch_clear(batch);
  rocksdb_writebatch_put_cf(batch, family, "w", 1, "7", 1);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "Invalid argument");
  size_t size = 4;
  rocksdb_writebatch_update_timestamps(batch, "00000007", kDigits, &size, TimestampSize, &error);
  CHECK_ERROR(error, "Invalid argument");
  size = kDigits;
  rocksdb_writebatch_update_timestamps(batch, "00000007", kDigits, &size, TimestampSize, &error);
  CHECK_OK(error);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  ReadAt(f, "00000008");
  CHECK(HasAt(f, "w", "7", "00000007"));
  rocksdb_writebatch_destroy(batch);
}

static void CheckMultiGet(Fixture* f, rocksdb_column_family_handle_t* family) {
  const char* const keys[] = {"a", "none", "b"};
  const size_t sizes[] = {1, 4, 1};
  const rocksdb_column_family_handle_t* const families[] = {family, family, family};
  ReadAt(f, "00000002");
  for (int i = 0; i < 2; ++i) {
    char* values[3];
    char* timestamps[3];
    char* errors[3];
    size_t value_sizes[3];
    size_t timestamp_sizes[3];
    if (i == 0) {
      rocksdb_multi_get_with_ts(f->db, f->read, 3, keys, sizes, values, value_sizes, timestamps,
                                timestamp_sizes, errors);
    } else {
      rocksdb_multi_get_cf_with_ts(f->db, f->read, families, 3, keys, sizes, values, value_sizes,
                                   timestamps, timestamp_sizes, errors);
    }
    CHECK(errors[0] == NULL && errors[1] == NULL && errors[2] == NULL);
    CHECK(TakeEqual(values[0], value_sizes[0], "one"));
    CHECK(TakeEqual(timestamps[0], timestamp_sizes[0], "00000001"));
    CHECK(values[1] == NULL && value_sizes[1] == 0);
    CHECK(timestamps[1] == NULL && timestamp_sizes[1] == 0);
    CHECK(TakeEqual(values[2], value_sizes[2], "two"));
    CHECK(TakeEqual(timestamps[2], timestamp_sizes[2], "00000002"));
  }
}

// Walks all entries; `expected` is a list of keys with their timestamps' last digits.
static void CheckTimedWalk(Fixture* f, const char* expected) {
  char seen[64] = "";
  size_t n = 0;
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f->db, f->read);
  for (rocksdb_iter_seek_to_first(iter); rocksdb_iter_valid(iter); rocksdb_iter_next(iter)) {
    size_t size = 0;
    const char* ts = rocksdb_iter_timestamp(iter, &size);
    const rocksdb_slice_t slice = rocksdb_iter_timestamp_slice(iter);
    CHECK(size == kDigits && slice.size == kDigits && memcmp(ts, slice.data, kDigits) == 0);
    if (n + 3 >= sizeof(seen)) break;
    seen[n++] = rocksdb_iter_key(iter, &size)[0];
    seen[n++] = ts[kDigits - 1];
    seen[n++] = ' ';
  }
  char* error = NULL;
  rocksdb_iter_get_error(iter, &error);
  CHECK_OK(error);
  rocksdb_iter_destroy(iter);
  if (strcmp(seen, expected) != 0) fprintf(stderr, "walked: %s\n", seen);
  CHECK(strcmp(seen, expected) == 0);
}

static void CheckRefusals(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  size_t size = 0;
  rocksdb_put(f->db, f->write, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "default");
  rocksdb_put_with_ts(f->db, f->write, "k", 1, "0001", 4, "v", 1, &error);
  CHECK_ERROR(error, "of 4 bytes");
  rocksdb_delete_range_cf(f->db, f->write, family, "a", 1, "z", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_readoptions_set_timestamp(f->read, NULL, 0);
  CHECK(rocksdb_get(f->db, f->read, "a", 1, &size, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(rocksdb_comparator_with_ts_create(NULL, NULL, Compare, NULL, CompareWithoutTs, Name,
                                          kDigits) == NULL);
  CHECK(rocksdb_comparator_with_ts_create(NULL, NULL, Compare, CompareTs, NULL, Name, kDigits) ==
        NULL);
}

void TestTimestamps(void) {
  g_comparator = rocksdb_comparator_with_ts_create(NULL, NULL, Compare, CompareTs, CompareWithoutTs,
                                                   Name, kDigits);
  CHECK(g_comparator != NULL);
  Fixture f;
  Open(&f, "timestamps", UseTimestamps);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  CheckWrites(&f, family);
  CheckReads(&f);
  CheckMultiGet(&f, family);
  ReadAt(&f, "00000002");
  CheckTimedWalk(&f, "a1 b2 ");
  rocksdb_readoptions_set_iter_start_ts(f.read, "00000002", kDigits);
  ReadAt(&f, "00000005");
  CheckTimedWalk(&f, "a5 a3 b4 b2 s2 t2 ");
  rocksdb_readoptions_set_iter_start_ts(f.read, NULL, 0);
  CheckBatch(&f, family);
  CheckRefusals(&f, family);
  rocksdb_column_family_handle_destroy(family);
  Reopen(&f);
  CheckReads(&f);
  Close(&f);
  rocksdb_comparator_destroy(g_comparator);
}
