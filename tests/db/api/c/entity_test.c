// SPDX-License-Identifier: Apache-2.0
// Tests entities through the C API: writes of every kind, reads of one key and of many, iterators.
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char* const kNames[] = {"b", "", "a"};
static const size_t kNameSizes[] = {1, 0, 1};
static const char* const kValues[] = {"2", "dd", "1"};
static const size_t kValueSizes[] = {1, 2, 1};

static bool IsText(const char* bytes, size_t size, const char* text) {
  return bytes != NULL && size == strlen(text) && memcmp(bytes, text, size) == 0;
}

// True if the columns are the first n of "" = dd, a = 1, b = 2. Destroys them.
static bool AreColumns(rocksdb_widecolumns_t* columns, size_t n) {
  static const char* const names[] = {"", "a", "b"};
  static const char* const values[] = {"dd", "1", "2"};
  bool same = columns != NULL && rocksdb_widecolumns_count(columns) == n;
  for (size_t i = 0; same && i < n; ++i) {
    size_t name_size = 99;
    size_t value_size = 99;
    const char* name = rocksdb_widecolumns_name(columns, i, &name_size);
    const char* value = rocksdb_widecolumns_value(columns, i, &value_size);
    same = IsText(name, name_size, names[i]) && IsText(value, value_size, values[i]);
  }
  size_t size = 99;
  same = same && rocksdb_widecolumns_name(columns, n, &size) == NULL && size == 0 &&
         rocksdb_widecolumns_value(columns, n, NULL) == NULL;
  rocksdb_widecolumns_destroy(columns);
  return same;
}

static void WriteInBatches(Fixture* f, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_entity_cf(batch, family, "batch", 5, 3, kNames, kNameSizes, kValues,
                                   kValueSizes, &error);
  CHECK_OK(error);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(batch);
  rocksdb_writebatch_wi_t* indexed = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put_entity_cf(indexed, family, "indexed", 7, 3, kNames, kNameSizes, kValues,
                                      kValueSizes, &error);
  CHECK_OK(error);
  rocksdb_write_writebatch_wi(f->db, f->write, indexed, &error);
  CHECK_OK(error);
  rocksdb_writebatch_wi_destroy(indexed);
}

static void CheckEntityRefusals(Fixture* f) {
  char* error = NULL;
  const char* twice[] = {"a", "a"};
  const size_t sizes[] = {1, 1};
  rocksdb_put_entity(f->db, f->write, "twice", 5, 2, twice, sizes, twice, sizes, &error);
  CHECK_ERROR(error, "two have the name");
  CHECK(rocksdb_get_entity(f->db, f->read, "twice", 5, &error) == NULL);
  CHECK_OK(error);
  rocksdb_put_entity(f->db, f->write, "null", 4, 1, NULL, NULL, NULL, NULL, &error);
  CHECK_ERROR(error, "names");
}

static void CheckMany(Fixture* f, rocksdb_column_family_handle_t* family) {
  const char* keys[] = {"batch", "none", "plain"};
  const size_t sizes[] = {5, 4, 5};
  rocksdb_widecolumns_t* columns[3];
  char* errors[3];
  rocksdb_multi_get_entity_cf(f->db, f->read, family, 3, keys, sizes, columns, errors, 1);
  CHECK(errors[0] == NULL && errors[1] == NULL && errors[2] == NULL);
  CHECK(AreColumns(columns[0], 3));
  CHECK(columns[1] == NULL);
  CHECK(AreColumns(columns[2], 1));
  rocksdb_multi_get_entity_cf(f->db, f->read, NULL, 3, keys, sizes, columns, errors, 1);
  for (int i = 0; i < 3; ++i) {
    CHECK(columns[i] == NULL);
    CHECK_ERROR(errors[i], "family");
  }
}

void TestEntities(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "entities", NULL);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f.db);
  PutText(&f, "plain", "dd");
  rocksdb_put_entity(f.db, f.write, "entity", 6, 3, kNames, kNameSizes, kValues, kValueSizes,
                     &error);
  CHECK_OK(error);
  rocksdb_put_entity_cf(f.db, f.write, family, "few", 3, 2, kNames + 1, kNameSizes + 1, kValues + 1,
                        kValueSizes + 1, &error);
  CHECK_OK(error);
  rocksdb_put_entity(f.db, f.write, "nothing", 7, 0, NULL, NULL, NULL, NULL, &error);
  CHECK_OK(error);
  WriteInBatches(&f, family);
  CheckEntityRefusals(&f);
  CHECK(Has(&f, "entity", "dd"));
  CHECK(AreColumns(rocksdb_get_entity(f.db, f.read, "entity", 6, &error), 3));
  CHECK(AreColumns(rocksdb_get_entity_cf(f.db, f.read, family, "few", 3, &error), 2));
  CHECK(AreColumns(rocksdb_get_entity(f.db, f.read, "nothing", 7, &error), 0));
  CHECK_OK(error);
  CheckMany(&f, family);

  // batch, entity, few, indexed, nothing, plain
  static const size_t counts[] = {3, 3, 2, 3, 0, 1};
  rocksdb_iterator_t* it = rocksdb_create_iterator(f.db, f.read);
  CHECK(rocksdb_iter_columns(it) == NULL);
  size_t i = 0;
  for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
    CHECK(i < 6 && AreColumns(rocksdb_iter_columns(it), counts[i]));
    ++i;
  }
  CHECK(i == 6);
  rocksdb_iter_destroy(it);
  rocksdb_column_family_handle_destroy(family);
  Close(&f);
}

void TestEntitiesOfTransactions(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "entities in transactions", NULL);
  rocksdb_close(f.db);
  rocksdb_transactiondb_options_t* db_options = rocksdb_transactiondb_options_create();
  rocksdb_transaction_options_t* options = rocksdb_transaction_options_create();
  rocksdb_transactiondb_t* db = rocksdb_transactiondb_open(f.options, db_options, f.path, &error);
  CHECK_OK(error);
  rocksdb_t* base = rocksdb_transactiondb_get_base_db(db);
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(base);
  rocksdb_transaction_t* txn = rocksdb_transaction_begin(db, f.write, options, NULL);
  rocksdb_transaction_put_entity_cf(txn, family, "k", 1, 3, kNames, kNameSizes, kValues,
                                    kValueSizes, &error);
  CHECK_OK(error);
  CHECK(AreColumns(rocksdb_transaction_get_entity_cf(txn, f.read, family, "k", 1, &error), 3));
  CHECK(rocksdb_get_entity(base, f.read, "k", 1, &error) == NULL);
  CHECK_OK(error);
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  CHECK(AreColumns(rocksdb_get_entity(base, f.read, "k", 1, &error), 3));
  CHECK_OK(error);
  rocksdb_transaction_destroy(txn);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_transactiondb_close_base_db(base);
  rocksdb_transactiondb_close(db);
  rocksdb_transaction_options_destroy(options);
  rocksdb_transactiondb_options_destroy(db_options);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  Close(&f);
}
