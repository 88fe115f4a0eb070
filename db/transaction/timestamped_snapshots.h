// SPDX-License-Identifier: Apache-2.0
#pragma once

// TimestampedSnapshots: snapshots that a TransactionDB keeps by the timestamps that users gave
// them.

#include <map>
#include <memory>
#include <vector>

#include "varve/snapshot.h"
#include "varve/status.h"
#include "varve/utilities/transaction.h"

#include "db/transaction/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

class DB;
class TransactionHost;

// The order of timestamps is that of the states: a later one shows all that an earlier one does.
//
// Thread safety: all methods from any thread. The database outlives what is handed out.
class TimestampedSnapshots {
 public:
  using Shared = std::shared_ptr<const Snapshot>;

  // Of the present state; the one that is there if that is of the same timestamp and state.
  // InvalidArgument: another one has this timestamp, or a later one.
  Status Create(TransactionHost* host, DB* db, TxnTimestamp timestamp, Shared* snapshot);
  // nullptr: none. kMaxTxnTimestamp: the latest.
  [[nodiscard]] Shared Find(TxnTimestamp timestamp) const;
  // In ascending order; `end` is exclusive.
  [[nodiscard]] std::vector<Shared> Between(TxnTimestamp begin, TxnTimestamp end) const;
  // Those that others hold stay theirs.
  void DropOlderThan(TxnTimestamp timestamp);

 private:
  mutable Mutex mu_{kTimestampedSnapshotsRank};
  std::map<TxnTimestamp, Shared> snapshots_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
