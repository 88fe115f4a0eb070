// SPDX-License-Identifier: Apache-2.0
// Tests databases whose entries have a lifetime.

#include "check.h"

static void PutIn(Fixture* f, rocksdb_column_family_handle_t* family, const char* key) {
  char* error = NULL;
  rocksdb_put_cf(f->db, f->write, family, key, strlen(key), "v", 1, &error);
  CHECK_OK(error);
}

static bool HasIn(Fixture* f, rocksdb_column_family_handle_t* family, const char* key) {
  char* error = NULL;
  size_t size = 0;
  char* value = rocksdb_get_cf(f->db, f->read, family, key, strlen(key), &size, &error);
  CHECK_OK(error);
  const bool right = value != NULL && size == 1 && value[0] == 'v';
  rocksdb_free(value);
  return right;
}

static void CheckTtlFamilies(Fixture* f) {
  char* error = NULL;
  const char* const names[] = {"default", "other"};
  const rocksdb_options_t* const options[] = {f->options, f->options};
  const int ttls[] = {100, 200};
  rocksdb_column_family_handle_t* handles[2] = {NULL, NULL};
  f->db = rocksdb_open_column_families_with_ttl(f->options, f->path, 2, names, options, handles,
                                                ttls, &error);
  CHECK_OK(error);
  CHECK(rocksdb_get_ttl_cf(f->db, handles[0], &error) == 100);
  CHECK(rocksdb_get_ttl_cf(f->db, handles[1], &error) == 200);
  CHECK_OK(error);
  PutIn(f, handles[0], "k");
  CHECK(HasIn(f, handles[0], "k"));
  rocksdb_put_with_ttl_cf(f->db, f->write, handles[1], "own", 3, "v", 1, 1000, &error);
  CHECK_OK(error);
  CHECK(HasIn(f, handles[1], "own"));
  rocksdb_put_with_ttl_cf(f->db, f->write, handles[1], "own", 3, "v", 1, 0, &error);
  CHECK_ERROR(error, "PutWithTtl");
  rocksdb_set_ttl_cf(f->db, handles[1], -1, &error);
  CHECK_OK(error);
  CHECK(rocksdb_get_ttl_cf(f->db, handles[1], &error) == -1);
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(f->db);
}

void TestLifetimes(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "ttl", NULL);
  rocksdb_column_family_handle_t* none =
      rocksdb_create_column_family_with_ttl(f.db, f.options, "none", 5, &error);
  CHECK(none == NULL);
  CHECK_ERROR(error, "not opened with a TTL");
  rocksdb_close(f.db);
  f.db = rocksdb_open_with_ttl(f.options, f.path, 100, &error);
  CHECK_OK(error);
  PutText(&f, "k", "v");
  CHECK(Has(&f, "k", "v"));
  rocksdb_column_family_handle_t* other =
      rocksdb_create_column_family_with_ttl(f.db, f.options, "other", 5, &error);
  CHECK_OK(error);
  PutIn(&f, other, "k");
  CHECK(HasIn(&f, other, "k"));
  CHECK(rocksdb_get_ttl_cf(f.db, other, &error) == 5);
  rocksdb_column_family_handle_destroy(other);
  rocksdb_close(f.db);
  CheckTtlFamilies(&f);
  f.db = rocksdb_open_with_ttl(f.options, f.path, 100, &error);
  CHECK(f.db == NULL);
  CHECK_ERROR(error, "other");
  Close(&f);
}
