// SPDX-License-Identifier: Apache-2.0
// Tests table files that a program writes.

#include "check.h"

// A comparator with timestamps of four digits, the newest first.
enum { kDigitsOfTime = 4 };

static int CompareText(const char* a, size_t a_size, const char* b, size_t b_size) {
  const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
  return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int CompareDigits(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  (void)state;
  return CompareText(a, a_size, b, b_size);
}

static int CompareWithoutDigits(void* state, const char* a, size_t a_size, unsigned char a_has_ts,
                                const char* b, size_t b_size, unsigned char b_has_ts) {
  (void)state;
  return CompareText(a, a_has_ts ? a_size - kDigitsOfTime : a_size, b,
                     b_has_ts ? b_size - kDigitsOfTime : b_size);
}

static int CompareWithDigits(void* state, const char* a, size_t a_size, const char* b,
                             size_t b_size) {
  const int order = CompareWithoutDigits(state, a, a_size, 1, b, b_size, 1);
  return order != 0 ? order
                    : memcmp(b + b_size - kDigitsOfTime, a + a_size - kDigitsOfTime, kDigitsOfTime);
}

static const char* DigitsName(void* state) {
  (void)state;
  return "test.digits";
}

static void WriteTableFile(rocksdb_sstfilewriter_t* writer, const char* path) {
  char* error = NULL;
  uint64_t size = 1;
  rocksdb_sstfilewriter_file_size(writer, &size);
  CHECK(size == 0);
  rocksdb_sstfilewriter_put(writer, "a", 1, "1", 1, &error);
  CHECK_ERROR(error, "no file is open");
  rocksdb_sstfilewriter_open(writer, path, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "1", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "1", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_sstfilewriter_add(writer, "b", 1, "2", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete(writer, "c", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_merge(writer, "d", 1, "3", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete_range(writer, "e", 1, "g", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete_range(writer, "g", 1, "e", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_file_size(writer, &size);
  CHECK(size > 100);
}

static void WriteTimestamps(const char* path) {
  char* error = NULL;
  rocksdb_envoptions_t* env = rocksdb_envoptions_create();
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_comparator_t* comparator =
      rocksdb_comparator_with_ts_create(NULL, NULL, CompareWithDigits, CompareDigits,
                                        CompareWithoutDigits, DigitsName, kDigitsOfTime);
  rocksdb_sstfilewriter_t* writer =
      rocksdb_sstfilewriter_create_with_comparator(env, options, comparator);
  // The writer keeps its comparator.
  rocksdb_comparator_destroy(comparator);
  rocksdb_options_destroy(options);
  rocksdb_envoptions_destroy(env);
  rocksdb_sstfilewriter_open(writer, path, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "1", 1, &error);
  CHECK_ERROR(error, "timestamp");
  rocksdb_sstfilewriter_put_with_ts(writer, "a", 1, "0003", kDigitsOfTime, "1", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete_with_ts(writer, "b", 1, "0003", kDigitsOfTime, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_destroy(writer);
}

static void CheckRefusedFiles(const char* path) {
  char* error = NULL;
  rocksdb_sstfilewriter_t* writer = rocksdb_sstfilewriter_create(NULL, NULL);
  rocksdb_sstfilewriter_open(writer, NULL, &error);
  CHECK_ERROR(error, "name");
  rocksdb_sstfilewriter_open(writer, path, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_put(writer, NULL, 3, "1", 1, &error);
  CHECK_ERROR(error, "key");
  rocksdb_sstfilewriter_put(writer, "a", 1, NULL, 3, &error);
  CHECK_ERROR(error, "value");
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_ERROR(error, "nothing was added");
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_sstfilewriter_destroy(NULL);
}

void TestTableFiles(void) {
  Fixture f;
  char path[600];
  Open(&f, "table_files", NULL);
  snprintf(path, sizeof(path), "%s.sst", f.path);
  rocksdb_envoptions_t* env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* writer = rocksdb_sstfilewriter_create(env, f.options);
  WriteTableFile(writer, path);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
  WriteTimestamps(path);
  CheckRefusedFiles(path);
  CHECK(remove(path) != 0);
  Close(&f);
}
