/* SPDX-License-Identifier: Apache-2.0 */
/* A stranger's C program: argv[1] is a directory that does not exist yet. Declares what it calls
   itself, as a language binding does, so it needs no header of ours. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void* rocksdb_options_create(void);
void rocksdb_options_set_create_if_missing(void*, unsigned char);
void rocksdb_options_destroy(void*);
void* rocksdb_open(const void*, const char*, char**);
void rocksdb_close(void*);
void* rocksdb_writeoptions_create(void);
void rocksdb_writeoptions_destroy(void*);
void* rocksdb_readoptions_create(void);
void rocksdb_readoptions_destroy(void*);
void rocksdb_put(void*, const void*, const char*, size_t, const char*, size_t, char**);
char* rocksdb_get(void*, const void*, const char*, size_t, size_t*, char**);
void rocksdb_free(void*);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  char* error = NULL;
  void* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  void* db = rocksdb_open(options, argv[1], &error);
  if (error != NULL) return 3;
  void* write = rocksdb_writeoptions_create();
  rocksdb_put(db, write, "key", 3, "value", 5, &error);
  if (error != NULL) return 4;
  void* read = rocksdb_readoptions_create();
  size_t length = 0;
  char* value = rocksdb_get(db, read, "key", 3, &length, &error);
  if (error != NULL || value == NULL) return 5;
  const int same = length == 5 && memcmp(value, "value", 5) == 0;
  rocksdb_free(value);
  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  return same ? 0 : 6;
}
