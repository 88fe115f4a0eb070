// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the harness of the C API's test, which is C like the programs it stands for.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varve/c.h"

// Checks that did not hold, over all files.
extern int g_failures;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++g_failures;                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

// Fails, and frees the text, if there is an error.
#define CHECK_OK(error)                                                   \
  do {                                                                    \
    if ((error) != NULL) {                                                \
      ++g_failures;                                                       \
      fprintf(stderr, "%s:%d: error: %s\n", __FILE__, __LINE__, (error)); \
      rocksdb_free(error);                                                \
      (error) = NULL;                                                     \
    }                                                                     \
  } while (0)

// Fails unless there is an error with `part` in it; frees it.
#define CHECK_ERROR(error, part)                                                       \
  do {                                                                                 \
    if ((error) == NULL || strstr((error), (part)) == NULL) {                          \
      ++g_failures;                                                                    \
      fprintf(stderr, "%s:%d: expected \"%s\", got: %s\n", __FILE__, __LINE__, (part), \
              (error) == NULL ? "no error" : (error));                                 \
    }                                                                                  \
    rocksdb_free(error);                                                               \
    (error) = NULL;                                                                    \
  } while (0)

// True if the n bytes are those of the text; frees them.
static inline bool TakeEqual(char* bytes, size_t n, const char* text) {
  const bool equal = bytes != NULL && n == strlen(text) && memcmp(bytes, text, n) == 0;
  rocksdb_free(bytes);
  return equal;
}

static inline bool Equal(const char* bytes, size_t n, const char* text) {
  return bytes != NULL && n == strlen(text) && memcmp(bytes, text, n) == 0;
}

// A database with default options in a fresh directory `name` below that of the test.
typedef struct {
  char path[512];
  rocksdb_options_t* options;
  rocksdb_readoptions_t* read;
  rocksdb_writeoptions_t* write;
  rocksdb_t* db;
} Fixture;

// `prepare`, if any, changes the options before the database is opened.
void Open(Fixture* fixture, const char* name, void (*prepare)(rocksdb_options_t*));
void Reopen(Fixture* fixture);
// Closes, and removes the directory.
void Close(Fixture* fixture);

void PutText(Fixture* fixture, const char* key, const char* value);
// True if the key has this value; a null value means that it must be missing.
bool Has(Fixture* fixture, const char* key, const char* value);

void TestDatabase(void);
void TestColumnFamilies(void);
void TestBackups(void);
void TestWrites(void);
void TestReads(void);
void TestIterators(void);
void TestSnapshots(void);
void TestBatches(void);
void TestMaintenance(void);
void TestMetadata(void);
void TestMetrics(void);
void TestOptionFields(void);
void TestOptionObjects(void);
void TestTableOptions(void);
void TestCallOptions(void);
void TestCaches(void);
void TestComparator(void);
void TestMergeOperators(void);
void TestMergeOperands(void);
void TestCompactionFilters(void);
void TestPrefixes(void);
void TestEnvironments(void);
void TestRefusals(void);
void TestTimestampMarks(void);
void TestNulls(void);
void TestNullObjects(void);
void TestTimestamps(void);
void TestListeners(void);
void TestFiles(void);
void TestGivenHandles(void);
void TestLackingOptions(void);
void TestIndexedBatches(void);
void TestEntities(void);
void TestEntitiesOfTransactions(void);
void TestTransactions(void);
void TestLeniency(void);
void TestTableFiles(void);
void TestCheckpoints(void);
void TestLifetimes(void);
