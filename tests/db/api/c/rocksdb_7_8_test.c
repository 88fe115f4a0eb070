// SPDX-License-Identifier: Apache-2.0
// Goal: programs that were compiled with RocksDB 7.8's header find their functions as they were.
// Method: the declarations of that header, of which two differ from 11's, and librocksdb.so.7.8.
// Usage: rocksdb_7_8_test <directory>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;

extern rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length),
    unsigned char (*in_range)(void*, const char* key, size_t length), const char* (*name)(void*));
extern void rocksdb_enable_file_deletions(rocksdb_t* db, unsigned char force, char** errptr);
extern void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr);
extern int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value);
extern rocksdb_options_t* rocksdb_options_create(void);
extern void rocksdb_options_destroy(rocksdb_options_t* options);
extern void rocksdb_options_set_create_if_missing(rocksdb_options_t* options, unsigned char v);
extern void rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(rocksdb_options_t* options,
                                                                        unsigned char v);
extern void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options,
                                                 rocksdb_slicetransform_t* transform);
extern void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name, char** errptr);
extern rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr);
extern void rocksdb_close(rocksdb_t* db);
extern rocksdb_readoptions_t* rocksdb_readoptions_create(void);
extern void rocksdb_readoptions_destroy(rocksdb_readoptions_t* options);
extern void rocksdb_readoptions_set_prefix_same_as_start(rocksdb_readoptions_t* options,
                                                         unsigned char v);
extern rocksdb_writeoptions_t* rocksdb_writeoptions_create(void);
extern void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t* options);
extern void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                        size_t keylen, const char* val, size_t vallen, char** errptr);
extern rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db,
                                                   const rocksdb_readoptions_t* options);
extern void rocksdb_iter_destroy(rocksdb_iterator_t* iterator);
extern void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key, size_t keylen);
extern unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator);
extern void rocksdb_iter_next(rocksdb_iterator_t* iterator);

static int g_failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++g_failures;                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

static char* FirstByte(void* state, const char* key, size_t length, size_t* dst_length) {
  (void)state;
  *dst_length = length < 1 ? length : 1;
  return (char*)key;
}

static unsigned char HasOne(void* state, const char* key, size_t length) {
  (void)state;
  (void)key;
  return length >= 1;
}

static const char* Name(void* state) {
  (void)state;
  return "first byte";
}

// Opens a database with three keys of two prefixes.
static rocksdb_t* Open(rocksdb_options_t* options, const char* path) {
  char* error = NULL;
  rocksdb_destroy_db(options, path, &error);
  free(error);
  error = NULL;
  rocksdb_t* db = rocksdb_open(options, path, &error);
  if (error != NULL) {
    fprintf(stderr, "open: %s\n", error);
    exit(1);
  }
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  const char* keys[] = {"a1", "a2", "b1"};
  for (int i = 0; i < 3; ++i) rocksdb_put(db, write, keys[i], 2, "v", 1, &error);
  rocksdb_writeoptions_destroy(write);
  CHECK(error == NULL);
  return db;
}

// in_range is null in some clients, answers 0 in others.
static void TestPrefixes(const char* path, unsigned char (*in_range)(void*, const char*, size_t)) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(options, 1);
  rocksdb_slicetransform_t* transform =
      rocksdb_slicetransform_create(NULL, NULL, FirstByte, HasOne, in_range, Name);
  CHECK(transform != NULL);
  rocksdb_options_set_prefix_extractor(options, transform);
  rocksdb_t* db = Open(options, path);
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_prefix_same_as_start(read, 1);
  rocksdb_iterator_t* iterator = rocksdb_create_iterator(db, read);
  int found = 0;
  for (rocksdb_iter_seek(iterator, "a", 1); rocksdb_iter_valid(iterator);
       rocksdb_iter_next(iterator)) {
    ++found;
  }
  CHECK(found == 2);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_destroy(read);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static uint64_t Enabled(rocksdb_t* db) {
  uint64_t value = 2;
  CHECK(rocksdb_property_int(db, "rocksdb.is-file-deletions-enabled", &value) == 0);
  return value;
}

static void TestFileDeletions(const char* path) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_t* db = Open(options, path);
  char* error = NULL;
  for (int i = 0; i < 3; ++i) rocksdb_disable_file_deletions(db, &error);
  rocksdb_enable_file_deletions(db, 0, &error);
  CHECK(Enabled(db) == 0);
  rocksdb_enable_file_deletions(db, 1, &error);
  CHECK(Enabled(db) == 1);
  CHECK(error == NULL);
  rocksdb_enable_file_deletions(NULL, 1, &error);
  CHECK(error != NULL);
  free(error);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  TestPrefixes(argv[1], NULL);
  TestPrefixes(argv[1], HasOne);
  TestFileDeletions(argv[1]);
  return g_failures == 0 ? 0 : 1;
}
