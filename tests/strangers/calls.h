// SPDX-License-Identifier: Apache-2.0
#pragma once

// The public calls that are given a column family handle, a snapshot, an iterator, a transaction or
// a batch: one row each, in a form in which each of these objects can be somebody else's.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"

namespace varve::testing {

// What a row is played with. Every family of every database has "own" = "v".
struct Scene {
  DB* db = nullptr;                               // that is asked
  TransactionDB* locking = nullptr;               // the same, if it is one
  OptimisticTransactionDB* optimistic = nullptr;  // the same
  ColumnFamilyHandle* own = nullptr;              // a living family of `db`
  ColumnFamilyHandle* family = nullptr;           // what the call is given
  const Snapshot* snapshot = nullptr;             // what the call is given; may be null
  Transaction* txn = nullptr;                     // of `db`, with "own" written in `own`
  Transaction* old_txn = nullptr;                 // what BeginTransaction is given
  WriteBatchWithIndex* batch = nullptr;           // with "own" in `own`

  ReadOptions Reads() const {
    ReadOptions options;
    options.snapshot = snapshot;
    return options;
  }
  // The stranger comes second: nothing may have been done to the first by then.
  std::vector<ColumnFamilyHandle*> Both() const { return {own, family}; }
};

struct Call {
  // As SignaturesOf gives it (signatures.h).
  const char* signature;
  // A call without a status is InvalidArgument where it has no answer, or has done nothing.
  Status (*play)(const Scene& s);
  // What is said of a family of this database that is dropped, and when the database is closed. "":
  // that is not played.
  const char* dropped = "InvalidArgument";
  const char* closed = "ShutdownInProgress";
};

std::span<const Call> DbCalls();
// Of Transaction, and of what begins them.
std::span<const Call> TransactionCalls();
// Of batches that are read together with a database.
std::span<const Call> BatchCalls();

// OK, or InvalidArgument: there was no answer.
inline Status Answered(bool answered) {
  return answered ? Status::OK() : Status::InvalidArgument("no answer");
}
// The first that is not OK.
inline Status Worst(const std::vector<Status>& statuses) {
  for (const Status& s : statuses) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}
// What an iterator that was made tells, having been moved.
Status StatusOf(Iterator* made);

}  // namespace varve::testing
