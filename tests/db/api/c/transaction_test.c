// SPDX-License-Identifier: Apache-2.0
// Tests transactions that lock, and transactions that are checked when they commit.

#include "check.h"

typedef struct {
  rocksdb_options_t* options;
  rocksdb_writeoptions_t* write;
  rocksdb_readoptions_t* read;
} Settings;

static Settings MakeSettings(void) {
  const Settings s = {rocksdb_options_create(), rocksdb_writeoptions_create(),
                      rocksdb_readoptions_create()};
  rocksdb_options_set_create_if_missing(s.options, 1);
  rocksdb_options_set_create_missing_column_families(s.options, 1);
  return s;
}

static void FreeSettings(const Settings* s) {
  rocksdb_readoptions_destroy(s->read);
  rocksdb_writeoptions_destroy(s->write);
  rocksdb_options_destroy(s->options);
}

static void Put(rocksdb_transaction_t* txn, const char* key, const char* value) {
  char* error = NULL;
  rocksdb_transaction_put(txn, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

static bool Sees(rocksdb_transaction_t* txn, const Settings* s, const char* key,
                 const char* value) {
  char* error = NULL;
  size_t size = 99;
  char* const copy = rocksdb_transaction_get(txn, s->read, key, strlen(key), &size, &error);
  CHECK_OK(error);
  return value == NULL ? copy == NULL && size == 0 : TakeEqual(copy, size, value);
}

static bool Holds(rocksdb_transactiondb_t* db, const Settings* s, const char* key,
                  const char* value) {
  char* error = NULL;
  size_t size = 99;
  char* const copy = rocksdb_transactiondb_get(db, s->read, key, strlen(key), &size, &error);
  CHECK_OK(error);
  return value == NULL ? copy == NULL && size == 0 : TakeEqual(copy, size, value);
}

static void TellStory(rocksdb_transactiondb_t* db, const Settings* s) {
  char* error = NULL;
  rocksdb_transaction_options_t* const options = rocksdb_transaction_options_create();
  rocksdb_transaction_options_set_lock_timeout(options, 0);
  rocksdb_transactiondb_put(db, s->write, "old", 3, "1", 1, &error);
  CHECK_OK(error);
  rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, s->write, options, NULL);
  rocksdb_transaction_t* const other = rocksdb_transaction_begin(db, s->write, options, NULL);
  Put(txn, "a", "1");
  CHECK(Sees(txn, s, "a", "1"));
  CHECK(Sees(txn, s, "old", "1"));
  CHECK(Sees(other, s, "a", NULL));
  rocksdb_transaction_put(other, "a", 1, "2", 1, &error);
  CHECK_ERROR(error, "timed out");
  rocksdb_transaction_set_name(txn, "name", 4, &error);
  CHECK_OK(error);
  rocksdb_transaction_set_name(other, "name", 4, &error);
  CHECK_ERROR(error, "SetName");
  size_t size = 0;
  char* const name = rocksdb_transaction_get_name(txn, &size);
  CHECK(TakeEqual(name, size, "name"));
  rocksdb_transaction_set_savepoint(txn);
  Put(txn, "a", "3");
  rocksdb_transaction_delete(txn, "old", 3, &error);
  CHECK_OK(error);
  rocksdb_transaction_rollback_to_savepoint(txn, &error);
  CHECK_OK(error);
  const char* const keys[] = {"a", "old", "none"};
  const size_t sizes[] = {1, 3, 4};
  char* values[3];
  size_t value_sizes[3];
  char* errors[3];
  rocksdb_transaction_multi_get_for_update(txn, s->read, 3, keys, sizes, values, value_sizes,
                                           errors);
  CHECK(TakeEqual(values[0], value_sizes[0], "1"));
  CHECK(TakeEqual(values[1], value_sizes[1], "1"));
  CHECK(values[2] == NULL && errors[2] == NULL);
  rocksdb_iterator_t* const it = rocksdb_transaction_create_iterator(txn, s->read);
  int count = 0;
  for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it)) ++count;
  CHECK(count == 2);
  rocksdb_iter_destroy(it);
  rocksdb_transaction_prepare(other, &error);
  CHECK_ERROR(error, "no name");
  rocksdb_transaction_prepare(txn, &error);
  CHECK_OK(error);
  CHECK(Holds(db, s, "a", NULL));
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  CHECK(Holds(db, s, "a", "1"));
  Put(other, "a", "2");
  rocksdb_transaction_rollback(other, &error);
  CHECK_OK(error);
  CHECK(Holds(db, s, "a", "1"));
  CHECK(rocksdb_transaction_begin(db, s->write, options, other) == other);
  const rocksdb_snapshot_t* const snapshot = rocksdb_transaction_get_snapshot(other);
  rocksdb_free((void*)snapshot);
  rocksdb_transaction_destroy(other);
  rocksdb_transaction_destroy(txn);
  rocksdb_transaction_options_destroy(options);
}

// A policy is a mere note: any number is given back.
static void TestPolicies(void) {
  rocksdb_optimistictransactiondb_options_t* const options =
      rocksdb_optimistictransactiondb_options_create();
  CHECK(rocksdb_optimistictransactiondb_options_get_validate_policy(options) == 1);
  rocksdb_optimistictransactiondb_options_set_validate_policy(options, 7);
  CHECK(rocksdb_optimistictransactiondb_options_get_validate_policy(options) == 7);
  rocksdb_optimistictransactiondb_options_destroy(options);
}

static void TestPessimistic(const Settings* s) {
  char* error = NULL;
  rocksdb_transactiondb_options_t* const options = rocksdb_transactiondb_options_create();
  const char* const names[] = {"default", "f"};
  const rocksdb_options_t* const family_options[] = {s->options, s->options};
  rocksdb_column_family_handle_t* families[2] = {NULL, NULL};
  rocksdb_transactiondb_options_set_write_policy(options,
                                                 rocksdb_txndb_write_policy_write_unprepared);
  rocksdb_destroy_db(s->options, "pessimistic", &error);
  CHECK_OK(error);
  CHECK(rocksdb_transactiondb_open(s->options, options, "pessimistic", &error) == NULL);
  CHECK_ERROR(error, "write_policy");
  rocksdb_transactiondb_options_set_write_policy(options,
                                                 rocksdb_txndb_write_policy_write_prepared);
  rocksdb_transactiondb_t* const db = rocksdb_transactiondb_open_column_families(
      s->options, options, "pessimistic", 2, names, family_options, families, &error);
  CHECK_OK(error);
  TellStory(db, s);
  rocksdb_transactiondb_put_cf(db, s->write, families[1], "k", 1, "f's", 3, &error);
  CHECK_OK(error);
  rocksdb_t* const base = rocksdb_transactiondb_get_base_db(db);
  size_t size = 0;
  char* const value = rocksdb_get_cf(base, s->read, families[1], "k", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "f's"));
  rocksdb_transactiondb_close_base_db(base);
  // The crate `rocksdb` drops families in this way.
  rocksdb_drop_column_family((rocksdb_t*)db, families[1], &error);
  CHECK_OK(error);
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(families[i]);
  rocksdb_transactiondb_close(db);
  rocksdb_transactiondb_options_destroy(options);
}

// Transactions are prepared, left, found again in another opening, and decided.
static void TestTwoPhases(const Settings* s) {
  char* error = NULL;
  rocksdb_transactiondb_options_t* const options = rocksdb_transactiondb_options_create();
  rocksdb_transaction_options_t* const of_txn = rocksdb_transaction_options_create();
  rocksdb_destroy_db(s->options, "two_phases", &error);
  CHECK_OK(error);
  rocksdb_transactiondb_t* db =
      rocksdb_transactiondb_open(s->options, options, "two_phases", &error);
  CHECK_OK(error);
  size_t count = 99;
  CHECK(rocksdb_transactiondb_get_prepared_transactions(db, &count) == NULL && count == 0);
  for (int i = 0; i < 2; ++i) {
    rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, s->write, of_txn, NULL);
    rocksdb_transaction_set_name(txn, i == 0 ? "x1" : "x2", 2, &error);
    CHECK_OK(error);
    Put(txn, i == 0 ? "a" : "b", "1");
    rocksdb_transaction_prepare(txn, &error);
    CHECK_OK(error);
    rocksdb_transaction_destroy(txn);
  }
  rocksdb_transactiondb_close(db);
  CHECK(rocksdb_open(s->options, "two_phases", &error) == NULL);
  CHECK_ERROR(error, "x1");
  db = rocksdb_transactiondb_open(s->options, options, "two_phases", &error);
  CHECK_OK(error);
  rocksdb_transaction_t** const found = rocksdb_transactiondb_get_prepared_transactions(db, &count);
  CHECK(found != NULL && count == 2);
  for (size_t i = 0; i < count; ++i) {
    size_t size = 0;
    char* const name = rocksdb_transaction_get_name(found[i], &size);
    CHECK(size == 2);
    if (name[1] == '1') {
      rocksdb_transaction_commit(found[i], &error);
    } else {
      rocksdb_transaction_rollback(found[i], &error);
    }
    CHECK_OK(error);
    rocksdb_free(name);
    rocksdb_transaction_destroy(found[i]);
  }
  rocksdb_free(found);
  CHECK(Holds(db, s, "a", "1"));
  CHECK(Holds(db, s, "b", NULL));
  rocksdb_transactiondb_close(db);
  rocksdb_transaction_options_destroy(of_txn);
  rocksdb_transactiondb_options_destroy(options);
}

static void TestOptimistic(const Settings* s) {
  char* error = NULL;
  rocksdb_destroy_db(s->options, "optimistic", &error);
  CHECK_OK(error);
  rocksdb_optimistictransactiondb_t* const db =
      rocksdb_optimistictransactiondb_open(s->options, "optimistic", &error);
  CHECK_OK(error);
  rocksdb_optimistictransaction_options_t* const options =
      rocksdb_optimistictransaction_options_create();
  rocksdb_transaction_t* const txn =
      rocksdb_optimistictransaction_begin(db, s->write, options, NULL);
  rocksdb_t* const base = rocksdb_optimistictransactiondb_get_base_db(db);
  Put(txn, "a", "1");
  rocksdb_put(base, s->write, "a", 1, "2", 1, &error);
  CHECK_OK(error);
  rocksdb_transaction_commit(txn, &error);
  CHECK_ERROR(error, "busy");
  rocksdb_transaction_rollback(txn, &error);
  CHECK_OK(error);
  CHECK(rocksdb_optimistictransaction_begin(db, s->write, options, txn) == txn);
  Put(txn, "a", "3");
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  size_t size = 0;
  char* const value = rocksdb_get(base, s->read, "a", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "3"));
  rocksdb_optimistictransactiondb_close_base_db(base);
  rocksdb_transaction_destroy(txn);
  rocksdb_optimistictransaction_options_destroy(options);
  rocksdb_optimistictransactiondb_close(db);
}

// ---- The batch of a transaction ----

static void TestOwnBatch(const Settings* s) {
  char* error = NULL;
  rocksdb_transactiondb_options_t* const options = rocksdb_transactiondb_options_create();
  rocksdb_transaction_options_t* const of_txn = rocksdb_transaction_options_create();
  rocksdb_destroy_db(s->options, "own_batch", &error);
  CHECK_OK(error);
  rocksdb_transactiondb_t* const db =
      rocksdb_transactiondb_open(s->options, options, "own_batch", &error);
  CHECK_OK(error);
  rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, s->write, of_txn, NULL);
  Put(txn, "a", "1");
  rocksdb_writebatch_wi_t* const own = rocksdb_transaction_get_writebatch_wi(txn);
  CHECK(rocksdb_writebatch_wi_count(own) == 1);
  rocksdb_writebatch_wi_put(own, "b", 1, "2", 1);
  CHECK(Sees(txn, s, "b", "2"));
  rocksdb_transaction_rebuild_from_writebatch_wi(txn, own, &error);
  CHECK_ERROR(error, "own");
  rocksdb_writebatch_wi_t* const other = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(other, "c", 1, "3", 1);
  rocksdb_transaction_rebuild_from_writebatch_wi(txn, other, &error);
  CHECK_OK(error);
  rocksdb_writebatch_wi_destroy(other);
  CHECK(rocksdb_writebatch_wi_count(own) == 3);
  rocksdb_writebatch_wi_put_cf(own, NULL, "d", 1, "4", 1);
  rocksdb_free(own);
  rocksdb_transaction_commit(txn, &error);
  CHECK_ERROR(error, "family");
  CHECK(rocksdb_transaction_begin(db, s->write, of_txn, txn) == txn);
  Put(txn, "a", "5");
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  CHECK(Holds(db, s, "a", "5"));
  CHECK(Holds(db, s, "c", NULL));
  // A rollback also removes the failure of a rolled-back update.
  CHECK(rocksdb_transaction_begin(db, s->write, of_txn, txn) == txn);
  rocksdb_writebatch_wi_t* const again = rocksdb_transaction_get_writebatch_wi(txn);
  rocksdb_writebatch_wi_put_cf(again, NULL, "d", 1, "4", 1);
  rocksdb_transaction_rollback(txn, &error);
  CHECK_OK(error);
  Put(txn, "a", "6");
  rocksdb_transaction_set_savepoint(txn);
  rocksdb_writebatch_wi_put_cf(again, NULL, "d", 1, "4", 1);
  rocksdb_transaction_rollback_to_savepoint(txn, &error);
  CHECK_OK(error);
  rocksdb_free(again);
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  CHECK(Holds(db, s, "a", "6"));
  rocksdb_transaction_destroy(txn);
  rocksdb_transactiondb_close(db);
  rocksdb_destroy_db(s->options, "own_batch", &error);
  CHECK_OK(error);
  rocksdb_transaction_options_destroy(of_txn);
  rocksdb_transactiondb_options_destroy(options);
}

// ---- Timestamps: eight bytes, the lowest first, after keys of one ----

static uint64_t NumberOf(const char* bytes) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | (unsigned char)bytes[i];
  return number;
}

static void StampOf(uint64_t number, char* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = (char)(number >> (8 * i) & 0xff);
}

static int CompareStamps(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state, (void)alen, (void)blen;
  const uint64_t first = NumberOf(a);
  const uint64_t second = NumberOf(b);
  return first == second ? 0 : first < second ? -1 : 1;
}

static int CompareBare(void* state, const char* a, size_t alen, unsigned char a_has_ts,
                       const char* b, size_t blen, unsigned char b_has_ts) {
  (void)state;
  const size_t first = alen - (a_has_ts ? 8 : 0);
  const size_t second = blen - (b_has_ts ? 8 : 0);
  const int order = memcmp(a, b, first < second ? first : second);
  return order != 0 ? order : first == second ? 0 : first < second ? -1 : 1;
}

static int CompareStamped(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  const int order = CompareBare(state, a, alen, 1, b, blen, 1);
  return order != 0 ? order : -CompareStamps(state, a + alen - 8, 8, b + blen - 8, 8);
}

static const char* StampedName(void* state) {
  (void)state;
  return "transaction_test.stamped";
}

static void KeepState(void* state) {
  (void)state;
}

static void TestTransactionTimestamps(const Settings* s) {
  char* error = NULL;
  rocksdb_comparator_t* const order = rocksdb_comparator_with_ts_create(
      NULL, KeepState, CompareStamped, CompareStamps, CompareBare, StampedName, 8);
  rocksdb_options_t* const stamped = rocksdb_options_create_copy(s->options);
  rocksdb_options_set_comparator(stamped, order);
  rocksdb_transactiondb_options_t* const options = rocksdb_transactiondb_options_create();
  rocksdb_transaction_options_t* const of_txn = rocksdb_transaction_options_create();
  rocksdb_destroy_db(stamped, "stamped", &error);
  CHECK_OK(error);
  rocksdb_transactiondb_t* const db =
      rocksdb_transactiondb_open(stamped, options, "stamped", &error);
  CHECK_OK(error);
  rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, s->write, of_txn, NULL);
  Put(txn, "a", "1");
  rocksdb_transaction_commit(txn, &error);
  CHECK_ERROR(error, "SetCommitTimestamp");
  rocksdb_transaction_set_read_timestamp_for_validation(txn, 5);
  rocksdb_transaction_set_commit_timestamp(txn, 5);
  rocksdb_transaction_commit(txn, &error);
  CHECK_ERROR(error, "SetCommitTimestamp");
  rocksdb_transaction_set_commit_timestamp(txn, 7);
  rocksdb_transaction_commit(txn, &error);
  CHECK_OK(error);
  for (uint64_t at = 6; at < 8; ++at) {
    char bytes[8];
    StampOf(at, bytes);
    rocksdb_readoptions_set_timestamp(s->read, bytes, sizeof bytes);
    CHECK(Holds(db, s, "a", at < 7 ? NULL : "1"));
  }
  rocksdb_readoptions_set_timestamp(s->read, NULL, 0);
  rocksdb_transaction_destroy(txn);
  rocksdb_transactiondb_close(db);
  rocksdb_destroy_db(stamped, "stamped", &error);
  CHECK_OK(error);
  rocksdb_transaction_options_destroy(of_txn);
  rocksdb_transactiondb_options_destroy(options);
  rocksdb_options_destroy(stamped);
  rocksdb_comparator_destroy(order);
}

void TestTransactions(void) {
  const Settings s = MakeSettings();
  TestPessimistic(&s);
  TestTwoPhases(&s);
  TestOptimistic(&s);
  TestPolicies();
  TestOwnBatch(&s);
  TestTransactionTimestamps(&s);
  const char* const left[] = {"pessimistic", "two_phases", "optimistic"};
  for (int i = 0; i < 3; ++i) {
    char* error = NULL;
    rocksdb_destroy_db(s.options, left[i], &error);
    CHECK_OK(error);
  }
  FreeSettings(&s);
}
