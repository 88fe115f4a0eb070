// SPDX-License-Identifier: Apache-2.0
#pragma once

// The database under test: opened, for transactions if the flags say so, thrown away and opened
// anew between benchmarks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

namespace varve {
class OptimisticTransactionDB;
class Transaction;
class TransactionDB;
}  // namespace varve

namespace varve::bench {

// Thread safety: the const methods from any thread while no other method runs.
// Every failure ends the program.
class Database {
 public:
  Database(std::string path, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Open();
  void Close();
  // Deletes all files. Must be closed.
  void Destroy();

  const std::string& path() const { return path_; }
  const Options& options() const { return options_; }
  DB* db() const { return db_.get(); }
  // The column family of a key's number; never null.
  ColumnFamilyHandle* family(uint64_t number) const {
    return families_.size() == 1 ? families_[0] : families_[number % families_.size()];
  }
  const std::vector<ColumnFamilyHandle*>& families() const { return families_; }

  // With --transaction_db or --optimistic_transaction_db; db() is then that database.
  bool has_transactions() const { return transactions_ != nullptr || optimistic_ != nullptr; }
  // Requires it. `old`, unless null, is used again.
  std::unique_ptr<Transaction> Begin(const WriteOptions& options,
                                     std::unique_ptr<Transaction> old) const;

 private:
  // All of them, in families_.
  Status OpenFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors);
  Status OpenTransactions(const std::vector<ColumnFamilyDescriptor>& descriptors);

  const std::string path_;
  const Options options_;
  std::unique_ptr<DB> db_;
  TransactionDB* transactions_ = nullptr;  // db_, or null, as the next
  OptimisticTransactionDB* optimistic_ = nullptr;
  // To be given back to db_.
  std::vector<ColumnFamilyHandle*> families_;
};

}  // namespace varve::bench
