// SPDX-License-Identifier: Apache-2.0
// librocksdb.so.7.8: the library for programs that were linked with RocksDB 7.8. Three functions
// had other arguments then: this library defines them so and comes before librocksdb.so, which it
// needs and which has all the others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;
typedef struct rocksdb_options_t rocksdb_options_t;

typedef void (*Destructor)(void*);
typedef char* (*Transform)(void*, const char*, size_t, size_t*);
typedef unsigned char (*InDomain)(void*, const char*, size_t);
typedef const char* (*Name)(void*);

#define VARVE_C_API __attribute__((visibility("default")))

// Declared as in librocksdb.so.
extern int rocksdb_property_int(rocksdb_t* db, const char* name, uint64_t* value);

VARVE_C_API rocksdb_slicetransform_t* rocksdb_slicetransform_create(void* state,
                                                                    Destructor destructor,
                                                                    Transform transform,
                                                                    InDomain in_domain,
                                                                    InDomain in_range, Name name);
VARVE_C_API void rocksdb_enable_file_deletions(rocksdb_t* db, unsigned char force, char** errptr);
VARVE_C_API void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options,
                                                         uint32_t user_key_len,
                                                         int bloom_bits_per_key,
                                                         double hash_table_ratio,
                                                         size_t index_sparseness);

// in_range is never called, there as here.
rocksdb_slicetransform_t* rocksdb_slicetransform_create(void* state, Destructor destructor,
                                                        Transform transform, InDomain in_domain,
                                                        InDomain in_range, Name name) {
  typedef rocksdb_slicetransform_t* (*Create)(void*, Destructor, Transform, InDomain, Name);
  (void)in_range;
  const Create create = (Create)dlsym(RTLD_NEXT, "rocksdb_slicetransform_create");
  return create == NULL ? NULL : create(state, destructor, transform, in_domain, name);
}

// force: enables deletions however often they were disabled.
void rocksdb_enable_file_deletions(rocksdb_t* db, unsigned char force, char** errptr) {
  typedef void (*Enable)(rocksdb_t*, char**);
  const Enable enable = (Enable)dlsym(RTLD_NEXT, "rocksdb_enable_file_deletions");
  if (enable == NULL) return;
  uint64_t enabled = 1;
  do {
    char* const before = errptr == NULL ? NULL : *errptr;
    enable(db, errptr);
    if (!force || db == NULL || (errptr != NULL && *errptr != before)) return;
    if (rocksdb_property_int(db, "rocksdb.is-file-deletions-enabled", &enabled) != 0) return;
  } while (enabled == 0);
}

// The arguments that came later have their defaults, also for a program of RocksDB 8 that gives
// them.
void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t user_key_len,
                                             int bloom_bits_per_key, double hash_table_ratio,
                                             size_t index_sparseness) {
  typedef void (*Set)(rocksdb_options_t*, uint32_t, int, double, size_t, size_t, char,
                      unsigned char, unsigned char);
  const Set set = (Set)dlsym(RTLD_NEXT, "rocksdb_options_set_plain_table_factory");
  if (set == NULL) return;
  set(options, user_key_len, bloom_bits_per_key, hash_table_ratio, index_sparseness, 0, 0, 0, 0);
}
