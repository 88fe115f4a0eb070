// SPDX-License-Identifier: Apache-2.0

// Goal: the C API also checks which database its arguments belong to. Method: its functions of
// transactions, batches and databases get a handle of another database that has the same families,
// by turns; each reports InvalidArgument, and both databases and the transaction are as before.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "varve/c.h"

namespace varve::testing {
namespace {

// A database in memory with the families default and "a".
struct CHouse {
  CHouse() : env(rocksdb_create_mem_env()), options(rocksdb_options_create()) {
    rocksdb_options_set_env(options, env);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_create_missing_column_families(options, 1);
    const char* const names[] = {"default", "a"};
    const rocksdb_options_t* const each[] = {options, options};
    rocksdb_transactiondb_options_t* const txn_options = rocksdb_transactiondb_options_create();
    char* error = nullptr;
    db = rocksdb_transactiondb_open_column_families(options, txn_options, "/db", 2, names, each,
                                                    families, &error);
    EXPECT_EQ(error, nullptr) << error;
    rocksdb_transactiondb_options_destroy(txn_options);
    base = rocksdb_transactiondb_get_base_db(db);
  }
  ~CHouse() {
    for (rocksdb_column_family_handle_t* family : families) {
      rocksdb_column_family_handle_destroy(family);
    }
    rocksdb_transactiondb_close_base_db(base);
    rocksdb_transactiondb_close(db);
    rocksdb_options_destroy(options);
    rocksdb_env_destroy(env);
  }
  CHouse(const CHouse&) = delete;
  CHouse& operator=(const CHouse&) = delete;

  rocksdb_env_t* env;
  rocksdb_options_t* options;
  rocksdb_column_family_handle_t* families[2] = {};
  rocksdb_transactiondb_t* db = nullptr;
  rocksdb_t* base = nullptr;
};

class CStrangersTest : public ::testing::Test {
 protected:
  CStrangersTest()
      : write_(rocksdb_writeoptions_create()),
        read_(rocksdb_readoptions_create()),
        batch_(rocksdb_writebatch_wi_create(0, 1)) {
    rocksdb_transaction_options_t* const options = rocksdb_transaction_options_create();
    txn_ = rocksdb_transaction_begin(own_.db, write_, options, nullptr);
    rocksdb_transaction_options_destroy(options);
    char* error = nullptr;
    rocksdb_transaction_put_cf(txn_, own_.families[1], "own", 3, "mine", 4, &error);
    EXPECT_EQ(error, nullptr);
    rocksdb_writebatch_wi_put_cf(batch_, own_.families[1], "own", 3, "mine", 4);
  }
  ~CStrangersTest() override {
    rocksdb_writebatch_wi_destroy(batch_);
    rocksdb_transaction_destroy(txn_);
    rocksdb_readoptions_destroy(read_);
    rocksdb_writeoptions_destroy(write_);
  }
  // The error of an iterator, which goes.
  static void TakeError(rocksdb_iterator_t* it, char** error) {
    rocksdb_iter_seek_to_first(it);
    rocksdb_iter_get_error(it, error);
    rocksdb_iter_destroy(it);
  }

  CHouse own_;
  CHouse stranger_;
  rocksdb_writeoptions_t* write_;
  rocksdb_readoptions_t* read_;
  rocksdb_writebatch_wi_t* batch_;
  rocksdb_transaction_t* txn_ = nullptr;
};

using CCall = std::function<void(rocksdb_column_family_handle_t* family, char** error)>;

TEST_F(CStrangersTest, HandlesOfAnotherDatabaseAreRefused) {
  size_t length = 0;
  const std::vector<CCall> calls = {
      [&](auto* f, char** e) { rocksdb_transaction_put_cf(txn_, f, "w", 1, "1", 1, e); },
      [&](auto* f, char** e) { rocksdb_transaction_merge_cf(txn_, f, "w", 1, "1", 1, e); },
      [&](auto* f, char** e) { rocksdb_transaction_delete_cf(txn_, f, "own", 3, e); },
      [&](auto* f, char** e) { rocksdb_transaction_get_cf(txn_, read_, f, "own", 3, &length, e); },
      [&](auto* f, char** e) {
        rocksdb_transaction_get_for_update_cf(txn_, read_, f, "own", 3, &length, 1, e);
      },
      [&](auto* f, char** e) { rocksdb_transaction_get_pinned_cf(txn_, read_, f, "own", 3, e); },
      [&](auto* f, char** e) {
        TakeError(rocksdb_transaction_create_iterator_cf(txn_, read_, f), e);
      },
      [&](auto* f, char** e) {
        rocksdb_writebatch_wi_get_from_batch_and_db_cf(batch_, own_.base, read_, f, "own", 3,
                                                       &length, e);
      },
      [&](auto* f, char** e) {
        rocksdb_transactiondb_put_cf(own_.db, write_, f, "w", 1, "1", 1, e);
      },
      [&](auto* f, char** e) { rocksdb_transactiondb_delete_cf(own_.db, write_, f, "w", 1, e); },
      [&](auto* f, char** e) {
        rocksdb_transactiondb_get_cf(own_.db, read_, f, "w", 1, &length, e);
      },
      [&](auto* f, char** e) {
        TakeError(rocksdb_transactiondb_create_iterator_cf(own_.db, read_, f), e);
      },
      [&](auto* f, char** e) { rocksdb_put_cf(own_.base, write_, f, "w", 1, "1", 1, e); },
      [&](auto* f, char** e) { rocksdb_delete_range_cf(own_.base, write_, f, "a", 1, "z", 1, e); },
      [&](auto* f, char** e) { rocksdb_get_cf(own_.base, read_, f, "w", 1, &length, e); },
      [&](auto* f, char** e) { rocksdb_drop_column_family(own_.base, f, e); },
  };
  for (size_t i = 0; i < calls.size(); i++) {
    for (rocksdb_column_family_handle_t* family : stranger_.families) {
      char* error = nullptr;
      calls[i](family, &error);
      ASSERT_NE(error, nullptr) << "call " << i;
      EXPECT_EQ(std::string(error).substr(0, 17), "Invalid argument:") << "call " << i << error;
      rocksdb_free(error);
    }
  }
  char* error = nullptr;
  rocksdb_transaction_commit(txn_, &error);
  ASSERT_EQ(error, nullptr) << error;
  char* const value = rocksdb_get_cf(own_.base, read_, own_.families[1], "own", 3, &length, &error);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(std::string(value, length), "mine");
  rocksdb_free(value);
  for (rocksdb_column_family_handle_t* family : own_.families) {
    EXPECT_EQ(rocksdb_get_cf(own_.base, read_, family, "w", 1, &length, &error), nullptr);
  }
}

}  // namespace
}  // namespace varve::testing
