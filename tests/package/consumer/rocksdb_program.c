/* SPDX-License-Identifier: Apache-2.0 */
/* A program made for RocksDB 7 or later, whose header it uses: argv[1] is a database with the
   families default and "counts", argv[2] the number of this run, from 1 on. Each run expects what
   the runs before it left and adds its own. Exits with the line number of the first surprise, cut
   to a byte. */

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                 \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, TextOf(error)); \
      exit((__LINE__ & 127) + 64);                                                        \
    }                                                                                     \
  } while (0)

enum { kKeysPerRun = 2000 };

static char* error = NULL;

static const char* TextOf(const char* text) {
  return text == NULL ? "no error" : text;
}

static size_t KeyOf(char* key, int run, int i) {
  return (size_t)sprintf(key, "run%d-%06d", run, i);
}

static void WriteRun(rocksdb_t* db, rocksdb_column_family_handle_t* counts, int run) {
  rocksdb_writeoptions_t* options = rocksdb_writeoptions_create();
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  char key[32];
  for (int i = 0; i < kKeysPerRun; ++i) {
    const size_t size = KeyOf(key, run, i);
    rocksdb_writebatch_put(batch, key, size, key, size);
    if (i % 100 != 99) continue;
    rocksdb_write(db, options, batch, &error);
    EXPECT(error == NULL);
    rocksdb_writebatch_clear(batch);
  }
  rocksdb_writebatch_destroy(batch);
  const size_t size = KeyOf(key, run, 7);
  rocksdb_delete(db, options, key, size, &error);
  EXPECT(error == NULL);
  const char count[1] = {(char)('0' + run)};
  rocksdb_put_cf(db, options, counts, "runs", 4, count, 1, &error);
  EXPECT(error == NULL);
  rocksdb_writeoptions_destroy(options);
}

static void ReadRuns(rocksdb_t* db, rocksdb_column_family_handle_t* counts, int runs) {
  rocksdb_readoptions_t* options = rocksdb_readoptions_create();
  size_t size = 0;
  char* value = rocksdb_get_cf(db, options, counts, "runs", 4, &size, &error);
  EXPECT(error == NULL && value != NULL && size == 1 && value[0] == '0' + runs);
  rocksdb_free(value);
  rocksdb_iterator_t* iter = rocksdb_create_iterator(db, options);
  char key[32];
  rocksdb_iter_seek_to_first(iter);
  for (int run = 1; run <= runs; ++run) {
    for (int i = 0; i < kKeysPerRun; ++i) {
      if (i == 7) continue;
      EXPECT(rocksdb_iter_valid(iter));
      const size_t expected = KeyOf(key, run, i);
      const char* found = rocksdb_iter_key(iter, &size);
      EXPECT(size == expected && memcmp(found, key, size) == 0);
      found = rocksdb_iter_value(iter, &size);
      EXPECT(size == expected && memcmp(found, key, size) == 0);
      rocksdb_iter_next(iter);
    }
  }
  EXPECT(!rocksdb_iter_valid(iter));
  rocksdb_iter_get_error(iter, &error);
  EXPECT(error == NULL);
  rocksdb_iter_destroy(iter);
  const size_t deleted = KeyOf(key, runs, 7);
  value = rocksdb_get(db, options, key, deleted, &size, &error);
  EXPECT(error == NULL && value == NULL);
  rocksdb_pinnableslice_t* pinned = rocksdb_get_pinned(db, options, key, KeyOf(key, 1, 8), &error);
  EXPECT(error == NULL && pinned != NULL);
  EXPECT(memcmp(rocksdb_pinnableslice_value(pinned, &size), key, size) == 0);
  rocksdb_pinnableslice_destroy(pinned);
  rocksdb_readoptions_destroy(options);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int run = atoi(argv[2]);
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_create_missing_column_families(options, 1);
  rocksdb_options_set_compression(options, rocksdb_lz4_compression);
  rocksdb_options_set_write_buffer_size(options, 64 << 10);
  rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(8 << 20);
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_options_set_block_based_table_factory(options, table);
  const char* names[] = {"default", "counts"};
  const rocksdb_options_t* family_options[] = {options, options};
  rocksdb_column_family_handle_t* families[2];
  rocksdb_t* db =
      rocksdb_open_column_families(options, argv[1], 2, names, family_options, families, &error);
  EXPECT(error == NULL && db != NULL);
  if (run > 1) ReadRuns(db, families[1], run - 1);
  WriteRun(db, families[1], run);
  if (run % 2 == 0) rocksdb_compact_range(db, NULL, 0, NULL, 0);
  ReadRuns(db, families[1], run);
  rocksdb_column_family_handle_destroy(families[0]);
  rocksdb_column_family_handle_destroy(families[1]);
  rocksdb_close(db);
  rocksdb_block_based_options_destroy(table);
  rocksdb_cache_destroy(cache);
  rocksdb_options_destroy(options);
  return 0;
}
