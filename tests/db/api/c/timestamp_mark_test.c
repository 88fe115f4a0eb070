// SPDX-License-Identifier: Apache-2.0
// Tests the mark below which the history of a column family need not be kept.

#include "check.h"

static int CompareMarkText(const char* a, size_t alen, const char* b, size_t blen) {
  const int order = memcmp(a, b, alen < blen ? alen : blen);
  if (order != 0) return order;
  return alen < blen ? -1 : alen > blen;
}

static int CompareMarkTimes(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  return CompareMarkText(a, alen, b, blen);
}

static int CompareMarkKeys(void* state, const char* a, size_t alen, unsigned char a_has_ts,
                           const char* b, size_t blen, unsigned char b_has_ts) {
  (void)state;
  return CompareMarkText(a, alen - (a_has_ts ? 4 : 0), b, blen - (b_has_ts ? 4 : 0));
}

static int CompareMarkAll(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  const int order = CompareMarkKeys(state, a, alen, 1, b, blen, 1);
  return order != 0 ? order : -CompareMarkText(a + alen - 4, 4, b + blen - 4, 4);
}

static const char* MarkOrderName(void* state) {
  (void)state;
  return "four bytes";
}

static void NothingToFree(void* state) {
  (void)state;
}

static void CheckMark(Fixture* f) {
  char* error = NULL;
  size_t size = 99;
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f->db);
  char* mark = rocksdb_get_full_history_ts_low(f->db, family, &size, &error);
  CHECK_OK(error);
  CHECK(size == 0);
  rocksdb_free(mark);
  rocksdb_increase_full_history_ts_low(f->db, family, "0005", 4, &error);
  CHECK_OK(error);
  rocksdb_increase_full_history_ts_low(f->db, family, "0004", 4, &error);
  CHECK_ERROR(error, "cannot decrease");
  rocksdb_increase_full_history_ts_low(f->db, family, "6", 1, &error);
  CHECK_ERROR(error, "timestamps of 4 bytes, full_history_ts_low has 1");
  rocksdb_increase_full_history_ts_low(f->db, NULL, "0006", 4, &error);
  CHECK_ERROR(error, "null");
  mark = rocksdb_get_full_history_ts_low(f->db, family, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(mark, size, "0005"));
  rocksdb_column_family_handle_destroy(family);
  Reopen(f);
  family = rocksdb_get_default_column_family_handle(f->db);
  mark = rocksdb_get_full_history_ts_low(f->db, family, NULL, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(mark, 4, "0005"));
  rocksdb_column_family_handle_destroy(family);
}

void TestTimestampMarks(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "timestamps", NULL);
  rocksdb_close(f.db);
  rocksdb_destroy_db(f.options, f.path, &error);
  CHECK_OK(error);
  rocksdb_comparator_t* order = rocksdb_comparator_with_ts_create(
      NULL, NothingToFree, CompareMarkAll, CompareMarkTimes, CompareMarkKeys, MarkOrderName, 4);
  rocksdb_options_set_comparator(f.options, order);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  CheckMark(&f);
  Close(&f);
  rocksdb_comparator_destroy(order);
}
