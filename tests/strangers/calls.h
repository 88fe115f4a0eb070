// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the public calls that are given a column family handle, a snapshot, an iterator, a
// transaction or a batch: one row each, in a form in which each of these objects can belong to
// another database.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"

namespace varve::testing {

// Objects that a row is played with. Every family of every database has "own" = "v".
struct Scene {
  DB* db = nullptr;                               // that is asked
  TransactionDB* locking = nullptr;               // db, if it is one
  OptimisticTransactionDB* optimistic = nullptr;  // db, if it is one
  ColumnFamilyHandle* own = nullptr;              // a living family of `db`
  ColumnFamilyHandle* family = nullptr;           // argument of the call
  const Snapshot* snapshot = nullptr;             // argument of the call; may be null
  Transaction* txn = nullptr;                     // belongs to `db`, with "own" written in `own`
  Transaction* old_txn = nullptr;                 // argument of BeginTransaction
  WriteBatchWithIndex* batch = nullptr;           // with "own" in `own`

  ReadOptions Reads() const {
    ReadOptions options;
    options.snapshot = snapshot;
    return options;
  }
  // The stranger comes second: the call must not have changed the first family by then.
  std::vector<ColumnFamilyHandle*> Both() const { return {own, family}; }
};

struct Call {
  // Signature in the form of SignaturesOf (signatures.h).
  const char* signature;
  // Plays the call. A call without a status counts as InvalidArgument if it has no answer or does
  // nothing.
  Status (*play)(const Scene& s);
  // Expected answers for a dropped family of this database, and for a closed database. "" means
  // that the case is not played.
  const char* dropped = "InvalidArgument";
  const char* closed = "ShutdownInProgress";
};

std::span<const Call> DbCalls();
// Returns the calls of Transaction, and those that begin transactions.
std::span<const Call> TransactionCalls();
// Returns the calls of batches that are read together with a database.
std::span<const Call> BatchCalls();

// Returns OK, or InvalidArgument if there was no answer.
inline Status Answered(bool answered) {
  return answered ? Status::OK() : Status::InvalidArgument("no answer");
}
// Returns the first status that is not OK.
inline Status Worst(const std::vector<Status>& statuses) {
  for (const Status& s : statuses) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}
// Returns the status of a new iterator after moves. Deletes it.
Status StatusOf(Iterator* made);

}  // namespace varve::testing
