// SPDX-License-Identifier: Apache-2.0
#pragma once

// TimestampedSnapshots keeps snapshots of a TransactionDB by the timestamps that users gave them.

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

// Timestamps are in the order of the states: a later one shows all that an earlier one does.
//
// Thread safety: any thread may call any method. The database must outlive the returned snapshots.
class TimestampedSnapshots {
 public:
  using Shared = std::shared_ptr<const Snapshot>;

  // Sets *snapshot to a new snapshot of the present state, or to the existing one with the same
  // timestamp and state. InvalidArgument: the newest one has a later timestamp, or the same one and
  // an earlier state; or the timestamp is kMaxTxnTimestamp. Aborted: the database gave no snapshot.
  Status Create(TransactionHost* host, DB* db, TxnTimestamp timestamp, Shared* snapshot);
  // Returns the snapshot with that timestamp, or nullptr. kMaxTxnTimestamp: returns the latest.
  [[nodiscard]] Shared Find(TxnTimestamp timestamp) const;
  // Returns the snapshots with timestamps in [begin, end), in ascending order.
  [[nodiscard]] std::vector<Shared> Between(TxnTimestamp begin, TxnTimestamp end) const;
  // Drops the references to snapshots with smaller timestamps; those that others hold stay valid.
  void DropOlderThan(TxnTimestamp timestamp);

 private:
  mutable Mutex mu_{kTimestampedSnapshotsRank};
  std::map<TxnTimestamp, Shared> snapshots_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
