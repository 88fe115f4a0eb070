// SPDX-License-Identifier: Apache-2.0
// Tests that unsupported functions report it, and that null handles are errors, not crashes.

#include "check.h"

// Databases without a merge operator.
static void CheckMerging(Fixture* f) {
  char* error = NULL;
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f->db);
  rocksdb_merge(f->db, f->write, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "merge_operator");
  rocksdb_merge_cf(f->db, f->write, family, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "merge_operator");
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_merge(batch, "k", 1, "v", 1);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "merge_operator");
  rocksdb_writebatch_destroy(batch);
  rocksdb_merge_operands_t* operands = rocksdb_merge_operands_create();
  // Reading stored operands needs no operator.
  CHECK(!rocksdb_get_merge_operands(f->db, f->read, "k", 1, NULL, operands, NULL, &error));
  CHECK_OK(error);
  rocksdb_merge_operands_destroy(operands);
  rocksdb_column_family_handle_destroy(family);
}

static void CheckRefusedOptions(Fixture* f) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create_copy(f->options);
  rocksdb_options_set_compaction_style(options, 1 << 20);
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK_ERROR(error, "compaction_style");
  rocksdb_options_set_compaction_style(options, rocksdb_level_compaction);
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_options_set_row_cache(options, cache);
  rocksdb_cache_destroy(cache);
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK_ERROR(error, "row_cache");
  rocksdb_options_destroy(options);
}

// Each batch is written, and must report what it was given.
static void CheckNullPieces(Fixture* f) {
  char* error = NULL;
  const char* const key[] = {"k"};
  const char* const none[] = {NULL};
  const size_t sizes[] = {1};
  for (int i = 0; i < 8; ++i) {
    rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
    switch (i) {
      case 0:
        rocksdb_writebatch_putv(batch, 1, NULL, sizes, 1, key, sizes);
        break;
      case 1:
        rocksdb_writebatch_putv(batch, 1, key, NULL, 1, key, sizes);
        break;
      case 2:
        rocksdb_writebatch_putv(batch, 1, key, sizes, 1, NULL, NULL);
        break;
      case 3:
        rocksdb_writebatch_putv(batch, 1, none, sizes, 1, key, sizes);
        break;
      case 4:
        rocksdb_writebatch_mergev(batch, 1, NULL, NULL, 1, key, sizes);
        break;
      case 5:
        rocksdb_writebatch_deletev(batch, 1, NULL, NULL);
        break;
      case 6:
        rocksdb_writebatch_delete_rangev(batch, 1, key, sizes, NULL, NULL);
        break;
      default:
        rocksdb_writebatch_putv(batch, 1, key, sizes, 0, NULL, NULL);
    }
    rocksdb_write(f->db, f->write, batch, &error);
    if (i < 7) {
      CHECK_ERROR(error, "Invalid argument");
    } else {
      CHECK_OK(error);
    }
    rocksdb_writebatch_destroy(batch);
  }
  rocksdb_writebatch_wi_t* indexed = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_putv(indexed, 1, NULL, NULL, 1, key, sizes);
  rocksdb_write_writebatch_wi(f->db, f->write, indexed, &error);
  CHECK_ERROR(error, "null argument");
  rocksdb_writebatch_wi_destroy(indexed);
}

static void CheckNullPaths(Fixture* f) {
  char* error = NULL;
  rocksdb_options_t* options = rocksdb_options_create_copy(f->options);
  const rocksdb_dbpath_t* paths[] = {NULL};
  rocksdb_options_set_db_paths(options, paths, 1);
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK_ERROR(error, "rocksdb_options_set_db_paths");
  rocksdb_options_set_db_paths(options, NULL, 0);
  rocksdb_options_set_cf_paths(options, NULL, 1);
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK_ERROR(error, "rocksdb_options_set_cf_paths");
  rocksdb_options_set_cf_paths(options, paths, 0);
  CHECK(rocksdb_open(options, "/no/such/place", &error) == NULL);
  CHECK(error != NULL && strstr(error, "paths") == NULL);
  rocksdb_free(error);
  rocksdb_options_destroy(options);
}

static void CheckNullOptions(void) {
  size_t size = 9;
  CHECK(rocksdb_options_get_db_log_dir(NULL, &size) == NULL && size == 0);
  size = 9;
  CHECK(rocksdb_options_get_wal_dir(NULL, &size) == NULL && size == 0);
  size = 9;
  CHECK(rocksdb_options_get_db_host_id(NULL, &size) == NULL && size == 0);
}

void TestRefusals(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "refusals", NULL);
  CheckMerging(&f);
  CheckRefusedOptions(&f);
  CheckNullPieces(&f);
  CheckNullPaths(&f);
  CheckNullOptions();
  rocksdb_try_catch_up_with_primary(f.db, &error);
  CHECK_ERROR(error, "Not implemented");
  rocksdb_repair_db(f.options, "/no/such/place", &error);
  CHECK_ERROR(error, "");
  rocksdb_verify_file_checksums(f.db, &error);
  CHECK_ERROR(error, "file_checksum_gen_factory");
  rocksdb_verify_file_checksums_with_options(f.db, f.read, &error);
  CHECK_ERROR(error, "file_checksum_gen_factory");
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  rocksdb_increase_full_history_ts_low(f.db, family, "t", 1, &error);
  CHECK_ERROR(error, "timestamps of 0 bytes, full_history_ts_low has 1");
  size_t size = 0;
  CHECK(rocksdb_get_full_history_ts_low(f.db, family, &size, &error) == NULL);
  CHECK_ERROR(error, "has no timestamps");
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

static void CheckNullWrites(Fixture* f) {
  char* error = NULL;
  rocksdb_put(NULL, f->write, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "null");
  rocksdb_put(f->db, NULL, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "null");
  rocksdb_put_cf(f->db, f->write, NULL, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "null");
  rocksdb_write(f->db, f->write, NULL, &error);
  CHECK_ERROR(error, "null");
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_cf(batch, NULL, "k", 1, "v", 1);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "null");
  rocksdb_writebatch_clear(batch);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(batch);
  batch = rocksdb_writebatch_create_with_params(0, 20, 0, 0);
  rocksdb_writebatch_put(batch, "too large", 9, "for the limit", 13);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_ERROR(error, "limit");
  rocksdb_writebatch_destroy(batch);
  rocksdb_writebatch_put(NULL, "k", 1, "v", 1);
  rocksdb_put(NULL, NULL, "k", 1, "v", 1, NULL);  // The error is dropped.
}

static void CheckNullReads(Fixture* f) {
  char* error = NULL;
  size_t size = 9;
  CHECK(rocksdb_get(NULL, f->read, "k", 1, &size, &error) == NULL && size == 0);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_get_cf(f->db, f->read, NULL, "k", 1, &size, &error) == NULL);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_get_pinned(f->db, NULL, "k", 1, &error) == NULL);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_pinnableslice_value(NULL, &size) == NULL && size == 0);
  rocksdb_merge_operands_t* operands = rocksdb_merge_operands_create();
  CHECK(!rocksdb_get_merge_operands(NULL, f->read, "k", 1, NULL, operands, NULL, &error));
  CHECK_ERROR(error, "null");
  CHECK(!rocksdb_get_merge_operands_cf(f->db, f->read, NULL, "k", 1, NULL, operands, NULL, &error));
  CHECK_ERROR(error, "null");
  CHECK(!rocksdb_get_merge_operands(f->db, f->read, "k", 1, NULL, NULL, NULL, &error));
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_merge_operands_count(NULL) == 0);
  CHECK(rocksdb_merge_operands_value(operands, 0, &size) == NULL && size == 0);
  rocksdb_merge_operands_destroy(operands);
  const char* keys[] = {"k"};
  const size_t sizes[] = {1};
  rocksdb_pinnableslice_t* values[1];
  char* errors[1];
  rocksdb_batched_multi_get_cf(f->db, f->read, NULL, 1, keys, sizes, values, errors, false);
  CHECK(values[0] == NULL);
  CHECK_ERROR(errors[0], "rocksdb_batched_multi_get_cf: null argument");
  rocksdb_iterator_t* iter = rocksdb_create_iterator(NULL, f->read);
  rocksdb_iter_seek_to_first(iter);
  CHECK(rocksdb_iter_valid(iter) == 0);
  rocksdb_iter_get_error(iter, &error);
  CHECK_ERROR(error, "null");
  rocksdb_iter_destroy(iter);
  CHECK(rocksdb_create_snapshot(NULL) == NULL);
  CHECK(rocksdb_property_value(NULL, "rocksdb.stats") == NULL);
  CHECK(rocksdb_livefiles_count(NULL) == 0);
  CHECK(rocksdb_livefiles_name(NULL, 0) == NULL);
}

static void DestroyNulls(void) {
  rocksdb_free(NULL);
  rocksdb_close(NULL);
  rocksdb_column_family_handle_destroy(NULL);
  rocksdb_options_destroy(NULL);
  rocksdb_readoptions_destroy(NULL);
  rocksdb_writeoptions_destroy(NULL);
  rocksdb_iter_destroy(NULL);
  rocksdb_writebatch_destroy(NULL);
  rocksdb_pinnableslice_destroy(NULL);
  rocksdb_release_snapshot(NULL, NULL);
  rocksdb_livefiles_destroy(NULL);
  rocksdb_cache_destroy(NULL);
  rocksdb_env_destroy(NULL);
  rocksdb_filterpolicy_destroy(NULL);
  rocksdb_comparator_destroy(NULL);
  rocksdb_mergeoperator_destroy(NULL);
  rocksdb_merge_operands_clear(NULL);
  rocksdb_merge_operands_destroy(NULL);
  rocksdb_get_merge_operands_options_destroy(NULL);
  rocksdb_cache_disown_data(NULL);
}

void TestNulls(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "nulls", NULL);
  CheckNullWrites(&f);
  CheckNullReads(&f);
  DestroyNulls();
  CHECK(rocksdb_open(NULL, f.path, &error) == NULL);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_open(f.options, NULL, &error) == NULL);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_open_column_families(f.options, "/no/such/place", 1, NULL, NULL, NULL, &error) ==
        NULL);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_create_column_family(f.db, f.options, NULL, &error) == NULL);
  CHECK_ERROR(error, "null");
  rocksdb_drop_column_family(f.db, NULL, &error);
  CHECK_ERROR(error, "null");
  rocksdb_set_options(f.db, 1, NULL, NULL, &error);
  CHECK_ERROR(error, "null");
  CHECK(rocksdb_comparator_create(NULL, NULL, NULL, NULL) == NULL);
  CHECK(rocksdb_mergeoperator_create(NULL, NULL, NULL, NULL, NULL, NULL) == NULL);
  Close(&f);
}
