// SPDX-License-Identifier: Apache-2.0
// Goal: every group of functions of the C API does its work when called from C.
// Method: small databases below the directory that the first argument names, which must not exist
// yet; each check that fails is printed, and their number decides the exit status.

#include <sys/stat.h>

#include "check.h"

int g_failures = 0;

static const char* g_directory;

void Open(Fixture* fixture, const char* name, void (*prepare)(rocksdb_options_t*)) {
  char* error = NULL;
  snprintf(fixture->path, sizeof(fixture->path), "%s/%s", g_directory, name);
  fixture->options = rocksdb_options_create();
  fixture->read = rocksdb_readoptions_create();
  fixture->write = rocksdb_writeoptions_create();
  rocksdb_options_set_create_if_missing(fixture->options, 1);
  rocksdb_options_set_compression(fixture->options, rocksdb_no_compression);
  if (prepare != NULL) prepare(fixture->options);
  fixture->db = rocksdb_open(fixture->options, fixture->path, &error);
  if (error != NULL) {
    fprintf(stderr, "cannot open %s: %s\n", fixture->path, error);
    exit(2);
  }
}

void Reopen(Fixture* fixture) {
  char* error = NULL;
  rocksdb_close(fixture->db);
  fixture->db = rocksdb_open(fixture->options, fixture->path, &error);
  if (error != NULL) {
    fprintf(stderr, "cannot reopen %s: %s\n", fixture->path, error);
    exit(2);
  }
}

void Close(Fixture* fixture) {
  char* error = NULL;
  rocksdb_close(fixture->db);
  rocksdb_destroy_db(fixture->options, fixture->path, &error);
  CHECK_OK(error);
  rocksdb_writeoptions_destroy(fixture->write);
  rocksdb_readoptions_destroy(fixture->read);
  rocksdb_options_destroy(fixture->options);
}

void PutText(Fixture* fixture, const char* key, const char* value) {
  char* error = NULL;
  rocksdb_put(fixture->db, fixture->write, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

bool Has(Fixture* fixture, const char* key, const char* value) {
  char* error = NULL;
  size_t size = 99;
  char* found = rocksdb_get(fixture->db, fixture->read, key, strlen(key), &size, &error);
  CHECK_OK(error);
  if (value == NULL) {
    const bool missing = found == NULL && size == 0;
    rocksdb_free(found);
    return missing;
  }
  return TakeEqual(found, size, value);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: c_api_test <new directory>\n");
    return 2;
  }
  g_directory = argv[1];
  mkdir(g_directory, 0755);
  void (*const tests[])(void) = {
      TestBackups,        TestDatabase,       TestColumnFamilies,
      TestWrites,         TestReads,          TestIterators,
      TestSnapshots,      TestBatches,        TestMaintenance,
      TestMetadata,       TestMetrics,        TestOptionFields,
      TestOptionObjects,  TestTableOptions,   TestCallOptions,
      TestCaches,         TestComparator,     TestCompactionFilters,
      TestPrefixes,       TestEnvironments,   TestRefusals,
      TestNulls,          TestMergeOperators, TestMergeOperands,
      TestTimestamps,     TestTimestampMarks, TestListeners,
      TestFiles,          TestGivenHandles,   TestLackingOptions,
      TestIndexedBatches, TestEntities,       TestEntitiesOfTransactions,
      TestTransactions,   TestLeniency,       TestNullObjects,
      TestTableFiles,     TestCheckpoints,    TestLifetimes,
  };
  for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) tests[i]();
  if (g_failures == 0) printf("c_api_test: ok\n");
  return g_failures == 0 ? 0 : 1;
}
