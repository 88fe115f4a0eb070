// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the structs behind the handles of transactions.

#include <memory>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "db/api/c/c_types.h"
#include "util/base/assert.h"

// `db` owns the database that `rep` points at.
struct rocksdb_transactiondb_t {
  varve::TransactionDB* rep = nullptr;
  std::unique_ptr<rocksdb_t> db;
};

struct rocksdb_optimistictransactiondb_t {
  varve::OptimisticTransactionDB* rep = nullptr;
  std::unique_ptr<rocksdb_t> db;
};

struct rocksdb_transaction_t {
  std::unique_ptr<varve::Transaction> rep;
  // These keep errors of functions that cannot report them, for Commit and Prepare to return: of
  // updates through a handle of the transaction's batch, and of all others.
  varve::c::BatchFailure batch_failure;
  varve::Status failure;
};

struct rocksdb_transactiondb_options_t {
  varve::TransactionDBOptions rep;  // All but the policy, which may be any number.
  int write_policy = varve::WRITE_COMMITTED;
};

struct rocksdb_transaction_options_t {
  varve::TransactionOptions rep;
};

struct rocksdb_optimistictransaction_options_t {
  varve::OptimisticTransactionOptions rep;
};

struct rocksdb_optimistictransactiondb_options_t {
  varve::OptimisticTransactionDBOptions rep;
};

struct rocksdb_optimistictransactiondb_lock_buckets_t {
  std::shared_ptr<varve::OccLockBuckets> rep;
};

namespace varve::c {

// Returns the plain handle within; null for null, which its functions refuse.
template <typename TransactionalDb>
rocksdb_t* PlainDb(TransactionalDb* db) {
  VARVE_ASSERT(db == nullptr || db->db != nullptr);
  return db == nullptr ? nullptr : db->db.get();
}

}  // namespace varve::c
