// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory that is opened for transactions.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "tests/harness/database.h"

namespace varve::testing {

class TransactionTest : public Database {
 protected:
  ~TransactionTest() override { CloseTransactions(); }

  Status TryOpenTransactions() { return TryOpenTransactions(transaction_options_); }
  Status TryOpenTransactions(const TransactionDBOptions& options) {
    const ColumnFamilyOptions other = other_options_.value_or(options_);
    std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", other}};
    TransactionDB* opened = nullptr;
    Status s = TransactionDB::Open(options_, options, kName, families, &handles_, &opened);
    txn_db_.reset(opened);
    return s;
  }
  void OpenTransactions() { OpenTransactions(transaction_options_); }
  void OpenTransactions(const TransactionDBOptions& options) {
    const Status s = TryOpenTransactions(options);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CloseTransactions() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    txn_db_.reset();
  }

  // Writes are unordered from the next opening on.
  void UseUnorderedWrites() {
    options_.unordered_write = true;
    transaction_options_.write_policy = WRITE_PREPARED;
  }

  std::unique_ptr<Transaction> Begin(const TransactionOptions& options = TransactionOptions()) {
    return std::unique_ptr<Transaction>(txn_db_->BeginTransaction(WriteOptions(), options));
  }
  static TransactionOptions Impatient() {
    TransactionOptions options;
    options.lock_timeout = 0;
    return options;
  }
  static TransactionOptions WithSnapshot() {
    TransactionOptions options = Impatient();
    options.set_snapshot = true;
    return options;
  }

  // Returns the value, "NOT_FOUND", or the error's text.
  static std::string Said(const Status& s, const std::string& value) {
    if (s.ok()) return value;
    return s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }
  std::string Committed(const std::string& key) {
    std::string value;
    const Status s = txn_db_->Get(ReadOptions(), key, &value);
    return Said(s, value);
  }
  static std::string Read(Transaction* txn, const std::string& key,
                          const ReadOptions& options = ReadOptions()) {
    std::string value;
    const Status s = txn->Get(options, key, &value);
    return Said(s, value);
  }
  static std::string ReadForUpdate(Transaction* txn, const std::string& key,
                                   bool exclusive = true) {
    std::string value;
    const Status s = txn->GetForUpdate(ReadOptions(), key, &value, exclusive);
    return Said(s, value);
  }
  static std::string ScanOf(Transaction* txn, const ReadOptions& options = ReadOptions()) {
    const std::unique_ptr<Iterator> it(txn->GetIterator(options));
    it->SeekToFirst();
    return Rest(it.get());
  }
  void PutPlain(const std::string& key, const std::string& value) {
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), key, value).ok());
  }
  ColumnFamilyHandle* Other() { return handles_[1]; }

  TransactionDBOptions transaction_options_;
  std::optional<ColumnFamilyOptions> other_options_;  // if not as the default family
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<TransactionDB> txn_db_;
};

}  // namespace varve::testing
