// SPDX-License-Identifier: Apache-2.0

// Opens the database in the way that the flags name.
//
// A transaction database hands out a pointer of its own type, of which db_ takes the ownership;
// transactions_ and optimistic_ only remember the type. At most one of them is set, as
// CheckTransactionFlags refuses both flags together.

#include "tools/db_bench/database.h"

#include <array>
#include <cstdio>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/stats.h"

namespace varve::bench {

namespace {

std::string FamilyName(int index) {
  if (index == 0) return "default";
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "column_family_name_%06d", index);
  return name.data();
}

}  // namespace

Database::Database(std::string path, const Options& options)
    : path_(std::move(path)), options_(options) {}

Database::~Database() {
  Close();
}

void Database::Open() {
  const uint64_t start = NowMicros();
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < FLAGS_num_column_families; ++i) {
    descriptors.emplace_back(FamilyName(i), ColumnFamilyOptions(options_));
  }
  const bool in_transactions = FLAGS_transaction_db || FLAGS_optimistic_transaction_db;
  const Status s = in_transactions ? OpenTransactions(descriptors) : OpenFamilies(descriptors);
  if (!s.ok()) Fail("open error", s);
  if (FLAGS_report_open_timing) {
    std::printf("OpenDb:     %.3f milliseconds\n", static_cast<double>(NowMicros() - start) / 1e3);
  }
}

Status Database::OpenFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors) {
  return FLAGS_readonly ? DB::OpenForReadOnly(options_, path_, descriptors, &families_, &db_)
                        : DB::Open(options_, path_, descriptors, &families_, &db_);
}

Status Database::OpenTransactions(const std::vector<ColumnFamilyDescriptor>& descriptors) {
  Status s;
  if (FLAGS_transaction_db) {
    TransactionDBOptions of_transactions;
    // Unordered writes support one policy only.
    const bool prepared = FLAGS_txn_write_policy == 1 || options_.unordered_write;
    if (prepared) of_transactions.write_policy = WRITE_PREPARED;
    s = TransactionDB::Open(options_, of_transactions, path_, descriptors, &families_,
                            &transactions_);
    db_.reset(transactions_);
  } else {
    s = OptimisticTransactionDB::Open(options_, path_, descriptors, &families_, &optimistic_);
    db_.reset(optimistic_);
  }
  return s;
}

// The library reinitialises `old` in place and returns the same object, which is cheaper than a new
// one. The ownership therefore goes through release() and comes back in the result.
std::unique_ptr<Transaction> Database::Begin(const WriteOptions& options,
                                             std::unique_ptr<Transaction> old) const {
  if (transactions_ != nullptr) {
    TransactionOptions of_transaction;
    of_transaction.lock_timeout = static_cast<int64_t>(FLAGS_transaction_lock_timeout);
    of_transaction.set_snapshot = FLAGS_transaction_set_snapshot;
    return std::unique_ptr<Transaction>(
        transactions_->BeginTransaction(options, of_transaction, old.release()));
  }
  OptimisticTransactionOptions of_transaction;
  of_transaction.set_snapshot = FLAGS_transaction_set_snapshot;
  return std::unique_ptr<Transaction>(
      optimistic_->BeginTransaction(options, of_transaction, old.release()));
}

// Handles go back before the database is closed, since they keep their families alive. The raw
// pointers are cleared last, with the object that they point to.
void Database::Close() {
  if (db_ == nullptr) return;
  for (ColumnFamilyHandle* handle : families_) {
    const Status s = db_->DestroyColumnFamilyHandle(handle);
    if (!s.ok()) Fail("giving a column family back", s);
  }
  families_.clear();
  const Status s = db_->Close();
  if (!s.ok()) Fail("close error", s);
  db_.reset();
  transactions_ = nullptr;
  optimistic_ = nullptr;
}

void Database::Destroy() {
  const Status s = DestroyDB(path_, options_);
  if (!s.ok()) Fail("destroying " + path_, s);
}

}  // namespace varve::bench
