// SPDX-License-Identifier: Apache-2.0
// Tests merging: operators written in C, the built-in ones, and operands read as they were written.

#include "check.h"

// Counts what an operator was asked to do. The tests have one thread, but flushes have their own,
// so it is read only after the database is closed.
typedef struct {
  int made;
  int deleted;
  int destroyed;
} MergeCalls;

static void DestroyCalls(void* state) {
  ++((MergeCalls*)state)->destroyed;
}

static const char* JoinName(void* state) {
  (void)state;
  return "test.Join";
}

// Joins base, if any, and operands with commas. An operand "bad" makes it fail.
static char* Join(const char* base, size_t base_size, const char* const* operands,
                  const size_t* sizes, int count, unsigned char* success, size_t* size) {
  size_t total = base_size + 1;
  for (int i = 0; i < count; ++i) total += sizes[i] + 1;
  char* const joined = malloc(total);
  char* end = joined;
  if (base != NULL) {
    memcpy(end, base, base_size);
    end += base_size;
    *end++ = ',';
  }
  *success = 1;
  for (int i = 0; i < count; ++i) {
    if (Equal(operands[i], sizes[i], "bad")) *success = 0;
    memcpy(end, operands[i], sizes[i]);
    end += sizes[i];
    if (i + 1 < count) *end++ = ',';
  }
  *size = (size_t)(end - joined);
  return joined;
}

static char* FullJoin(void* state, const char* key, size_t key_length, const char* existing_value,
                      size_t existing_value_length, const char* const* operands_list,
                      const size_t* operands_list_length, int num_operands, unsigned char* success,
                      size_t* new_value_length) {
  (void)key;
  CHECK(key_length > 0);
  CHECK(num_operands > 0);
  ++((MergeCalls*)state)->made;
  return Join(existing_value, existing_value_length, operands_list, operands_list_length,
              num_operands, success, new_value_length);
}

static char* PartialJoin(void* state, const char* key, size_t key_length,
                         const char* const* operands_list, const size_t* operands_list_length,
                         int num_operands, unsigned char* success, size_t* new_value_length) {
  (void)key;
  CHECK(key_length > 0);
  CHECK(num_operands > 1);
  ++((MergeCalls*)state)->made;
  return Join(NULL, 0, operands_list, operands_list_length, num_operands, success,
              new_value_length);
}

static void DeleteJoined(void* state, const char* value, size_t value_length) {
  (void)value_length;
  ++((MergeCalls*)state)->deleted;
  free((void*)value);
}

// Says that it succeeded, and has no bytes: an empty value.
static char* FullNothing(void* state, const char* key, size_t key_length,
                         const char* existing_value, size_t existing_value_length,
                         const char* const* operands_list, const size_t* operands_list_length,
                         int num_operands, unsigned char* success, size_t* new_value_length) {
  (void)state, (void)key, (void)key_length, (void)existing_value, (void)existing_value_length;
  (void)operands_list, (void)operands_list_length, (void)num_operands;
  *success = 1;
  *new_value_length = 0;
  return NULL;
}

static MergeCalls g_calls;

static void UseJoin(rocksdb_options_t* options) {
  rocksdb_options_set_merge_operator(
      options, rocksdb_mergeoperator_create(&g_calls, DestroyCalls, FullJoin, PartialJoin,
                                            DeleteJoined, JoinName));
}

// free() is the deleter, nothing is combined, and nothing is destroyed.
static void UseJoinWithFree(rocksdb_options_t* options) {
  rocksdb_options_set_merge_operator(
      options, rocksdb_mergeoperator_create(&g_calls, NULL, FullJoin, NULL, NULL, JoinName));
}

static void UseNothing(rocksdb_options_t* options) {
  rocksdb_options_set_merge_operator(
      options, rocksdb_mergeoperator_create(NULL, NULL, FullNothing, NULL, NULL, JoinName));
}

static void MergeText(Fixture* f, const char* key, const char* operand) {
  char* error = NULL;
  rocksdb_merge(f->db, f->write, key, strlen(key), operand, strlen(operand), &error);
  CHECK_OK(error);
}

static void FlushAll(Fixture* f) {
  char* error = NULL;
  rocksdb_flushoptions_t* options = rocksdb_flushoptions_create();
  rocksdb_flush(f->db, options, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(options);
}

static void CheckFailureIsTheKeysOwn(Fixture* f) {
  char* error = NULL;
  size_t size = 0;
  MergeText(f, "failing", "a");
  MergeText(f, "failing", "bad");
  CHECK(rocksdb_get(f->db, f->read, "failing", 7, &size, &error) == NULL);
  CHECK_ERROR(error, "test.Join");
  CHECK(Has(f, "new", "a,b"));
  PutText(f, "failing", "mended");
  CHECK(Has(f, "failing", "mended"));
}

static void CheckScan(Fixture* f) {
  char* error = NULL;
  rocksdb_iterator_t* iter = rocksdb_create_iterator(f->db, f->read);
  rocksdb_iter_seek(iter, "new", 3);
  CHECK(rocksdb_iter_valid(iter));
  size_t size = 0;
  const char* value = rocksdb_iter_value(iter, &size);
  CHECK(Equal(value, size, "a,b"));
  rocksdb_iter_get_error(iter, &error);
  CHECK_OK(error);
  rocksdb_iter_destroy(iter);
}

static void CheckBatchAndFamily(Fixture* f) {
  char* error = NULL;
  rocksdb_column_family_handle_t* family =
      rocksdb_create_column_family(f->db, f->options, "other", &error);
  CHECK_OK(error);
  rocksdb_merge_cf(f->db, f->write, family, "k", 1, "in family", 9, &error);
  CHECK_OK(error);
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  rocksdb_writebatch_merge(batch, "batch", 5, "one", 3);
  rocksdb_writebatch_merge(batch, "batch", 5, "two", 3);
  rocksdb_writebatch_merge_cf(batch, family, "k", 1, "in batch", 8);
  rocksdb_write(f->db, f->write, batch, &error);
  CHECK_OK(error);
  rocksdb_writebatch_destroy(batch);
  CHECK(Has(f, "batch", "one,two"));
  size_t size = 0;
  char* value = rocksdb_get_cf(f->db, f->read, family, "k", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "in family,in batch"));
  rocksdb_drop_column_family(f->db, family, &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(family);
}

static void CheckJoining(Fixture* f) {
  PutText(f, "base", "0");
  PutText(f, "empty", "");
  MergeText(f, "base", "1");
  MergeText(f, "base", "2");
  MergeText(f, "empty", "1");
  MergeText(f, "new", "a");
  MergeText(f, "new", "b");
  for (int round = 0; round < 3; ++round) {
    CHECK(Has(f, "base", "0,1,2"));
    CHECK(Has(f, "empty", ",1"));
    CHECK(Has(f, "new", "a,b"));
    CheckScan(f);
    if (round == 0) FlushAll(f);
    if (round == 1) rocksdb_compact_range(f->db, NULL, 0, NULL, 0);
  }
  MergeText(f, "base", "3");
  CHECK(Has(f, "base", "0,1,2,3"));
}

void TestMergeOperators(void) {
  Fixture f;
  memset(&g_calls, 0, sizeof(g_calls));
  Open(&f, "merge", UseJoin);
  CheckJoining(&f);
  CheckFailureIsTheKeysOwn(&f);
  CheckBatchAndFamily(&f);
  Close(&f);
  CHECK(g_calls.made > 0);
  CHECK(g_calls.deleted == g_calls.made);
  CHECK(g_calls.destroyed == 1);
  rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_create(&g_calls, DestroyCalls, FullJoin,
                                                             PartialJoin, DeleteJoined, JoinName));
  CHECK(g_calls.destroyed == 2);

  Open(&f, "merge_with_free", UseJoinWithFree);
  CheckJoining(&f);
  Close(&f);
  CHECK(g_calls.destroyed == 2);

  Open(&f, "merge_nothing", UseNothing);
  MergeText(&f, "k", "v");
  CHECK(Has(&f, "k", ""));
  Close(&f);
}

static void UseAdding(rocksdb_options_t* options) {
  rocksdb_options_set_uint64add_merge_operator(options);
}

static void UseText(rocksdb_options_t* options) {
  char* error = NULL;
  rocksdb_options_set_merge_operator_from_string(options, "id=stringappend;delimiter=|", &error);
  CHECK_OK(error);
  rocksdb_options_set_merge_operator_from_string(options, "test.Join", &error);
  CHECK_ERROR(error, "test.Join");
  rocksdb_options_set_merge_operator_from_string(NULL, "max", &error);
  CHECK_ERROR(error, "null");
}

// Records the operands it was shown, and ends the search at "stop".
typedef struct {
  char seen[64];
} Seen;

static unsigned char GoOn(void* state, const char* operand, size_t size) {
  Seen* const seen = state;
  strncat(seen->seen, operand, size);
  strcat(seen->seen, ";");
  return !Equal(operand, size, "stop");
}

static bool OperandIs(const rocksdb_merge_operands_t* operands, size_t index, const char* text) {
  size_t size = 0;
  const char* value = rocksdb_merge_operands_value(operands, index, &size);
  return Equal(value, size, text);
}

static void CheckLimit(Fixture* f, rocksdb_merge_operands_t* operands) {
  char* error = NULL;
  int number = 0;
  rocksdb_get_merge_operands_options_t* options = rocksdb_get_merge_operands_options_create();
  CHECK(rocksdb_get_merge_operands_options_get_expected_max_number_of_operands(options) == 0);
  rocksdb_get_merge_operands_options_set_expected_max_number_of_operands(options, 3);
  CHECK(rocksdb_get_merge_operands_options_get_expected_max_number_of_operands(options) == 3);
  CHECK(!rocksdb_get_merge_operands(f->db, f->read, "k", 1, options, operands, &number, &error));
  CHECK_ERROR(error, "ncomplete");
  CHECK(number == 4);
  CHECK(rocksdb_merge_operands_count(operands) == 0);
  rocksdb_get_merge_operands_options_set_expected_max_number_of_operands(options, -1);
  CHECK(!rocksdb_get_merge_operands(f->db, f->read, "k", 1, options, operands, &number, &error));
  CHECK_ERROR(error, "Invalid argument");
  Seen seen = {""};
  rocksdb_get_merge_operands_options_set_expected_max_number_of_operands(options, 2);
  rocksdb_get_merge_operands_options_set_continue_cb(options, &seen, GoOn);
  CHECK(rocksdb_get_merge_operands(f->db, f->read, "k", 1, options, operands, &number, &error));
  CHECK_OK(error);
  CHECK(strcmp(seen.seen, "c;stop;") == 0);
  CHECK(number == 2);
  CHECK(OperandIs(operands, 0, "stop") && OperandIs(operands, 1, "c"));
  rocksdb_get_merge_operands_options_set_continue_cb(options, NULL, NULL);
  CHECK(!rocksdb_get_merge_operands(f->db, f->read, "k", 1, options, operands, &number, &error));
  CHECK_ERROR(error, "ncomplete");
  rocksdb_get_merge_operands_options_destroy(options);
}

// More than there are places at first, and large enough not to be copied.
static void CheckManyOperands(Fixture* f, rocksdb_merge_operands_t* operands) {
  enum { kCount = 300, kBytes = 1000 };
  char* error = NULL;
  char operand[kBytes];
  for (int i = 0; i < kCount; ++i) {
    memset(operand, 'a' + i % 26, kBytes);
    rocksdb_merge(f->db, f->write, "many", 4, operand, kBytes, &error);
    CHECK_OK(error);
  }
  for (int flushed = 0; flushed < 2; ++flushed) {
    int number = 0;
    CHECK(rocksdb_get_merge_operands(f->db, f->read, "many", 4, NULL, operands, &number, &error));
    CHECK_OK(error);
    CHECK(number == kCount);
    CHECK(rocksdb_merge_operands_count(operands) == kCount);
    if (!flushed) FlushAll(f);  // Values that were read stay.
    for (int i = 0; i < kCount; ++i) {
      size_t size = 0;
      const char* value = rocksdb_merge_operands_value(operands, (size_t)i, &size);
      CHECK(size == kBytes && value[0] == 'a' + i % 26 && value[kBytes - 1] == value[0]);
    }
    CHECK(rocksdb_merge_operands_value(operands, kCount, NULL) == NULL);
  }
  rocksdb_merge_operands_clear(operands);
  CHECK(rocksdb_merge_operands_count(operands) == 0);
}

static void UseAppendingApart(rocksdb_options_t* options) {
  char* error = NULL;
  rocksdb_options_set_merge_operator_from_string(options, "stringappendtest", &error);
  CHECK_OK(error);
}

void TestMergeOperands(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "operands", UseAppendingApart);
  PutText(&f, "k", "base");
  MergeText(&f, "k", "a");
  MergeText(&f, "k", "stop");
  MergeText(&f, "k", "c");
  rocksdb_merge_operands_t* operands = rocksdb_merge_operands_create();
  int number = 9;
  CHECK(rocksdb_get_merge_operands(f.db, f.read, "k", 1, NULL, operands, &number, &error));
  CHECK_OK(error);
  CHECK(number == 4);
  CHECK(OperandIs(operands, 0, "base") && OperandIs(operands, 1, "a"));
  CHECK(OperandIs(operands, 2, "stop") && OperandIs(operands, 3, "c"));
  CHECK(!rocksdb_get_merge_operands(f.db, f.read, "absent", 6, NULL, operands, NULL, &error));
  CHECK_OK(error);
  CHECK(rocksdb_merge_operands_count(operands) == 0);
  CheckLimit(&f, operands);
  CheckManyOperands(&f, operands);
  rocksdb_merge_operands_destroy(operands);
  Close(&f);

  Open(&f, "adding", UseAdding);
  for (int i = 0; i < 3; ++i) {
    const char two[8] = {2, 0, 0, 0, 0, 0, 0, 0};
    rocksdb_merge(f.db, f.write, "sum", 3, two, sizeof(two), &error);
    CHECK_OK(error);
  }
  size_t size = 0;
  char* sum = rocksdb_get(f.db, f.read, "sum", 3, &size, &error);
  CHECK(sum != NULL && size == 8 && sum[0] == 6 && sum[1] == 0);
  rocksdb_free(sum);
  Close(&f);

  Open(&f, "by_text", UseText);
  MergeText(&f, "k", "a");
  MergeText(&f, "k", "b");
  CHECK(Has(&f, "k", "a|b"));
  Close(&f);
}
