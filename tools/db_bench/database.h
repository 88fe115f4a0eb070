// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the database under test, opened for transactions if the flags say so, and destroys and
// reopens it between benchmarks.

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

// Thread safety: any thread may call the const methods while no other method runs. Every failure
// ends the program.
class Database {
 public:
  Database(std::string path, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Open();
  void Close();
  // Deletes all files. Requires that the database is closed.
  void Destroy();

  const std::string& path() const { return path_; }
  const Options& options() const { return options_; }
  DB* db() const { return db_.get(); }
  // Returns the column family of a key's number; never null.
  ColumnFamilyHandle* family(uint64_t number) const {
    return families_.size() == 1 ? families_[0] : families_[number % families_.size()];
  }
  const std::vector<ColumnFamilyHandle*>& families() const { return families_; }

  // True with --transaction_db or --optimistic_transaction_db; db() is then that database.
  bool has_transactions() const { return transactions_ != nullptr || optimistic_ != nullptr; }
  // Requires has_transactions(). Reuses `old` unless it is null.
  std::unique_ptr<Transaction> Begin(const WriteOptions& options,
                                     std::unique_ptr<Transaction> old) const;

 private:
  // Opens all families and stores their handles in families_.
  Status OpenFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors);
  Status OpenTransactions(const std::vector<ColumnFamilyDescriptor>& descriptors);

  const std::string path_;
  const Options options_;
  std::unique_ptr<DB> db_;
  TransactionDB* transactions_ = nullptr;  // db_, or null, as the next
  OptimisticTransactionDB* optimistic_ = nullptr;
  // Handles that must be given back to db_.
  std::vector<ColumnFamilyHandle*> families_;
};

}  // namespace varve::bench
