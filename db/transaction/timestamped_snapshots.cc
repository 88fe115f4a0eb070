// SPDX-License-Identifier: Apache-2.0

// The snapshots are kept by the timestamps that the program gave them, which ascend like their
// sequence numbers. Create holds the mutex from the check of the newest one until the new one is in
// the map, so two threads cannot store states in the wrong order. Snapshots are released without
// the mutex, as a release takes locks of the database.

#include "db/transaction/timestamped_snapshots.h"

#include "varve/db.h"

#include "db/transaction/transaction_host.h"
#include "util/base/assert.h"

namespace varve {

Status TimestampedSnapshots::Create(TransactionHost* host, DB* db, TxnTimestamp timestamp,
                                    Shared* snapshot) {
  if (timestamp == kMaxTxnTimestamp) {
    return Status::InvalidArgument(
        "CreateTimestampedSnapshot: the largest timestamp stands for none");
  }
  Shared taken;  // Released without the mutex, unless stored.
  MutexLock lock(&mu_);
  const auto newest = snapshots_.empty() ? snapshots_.end() : std::prev(snapshots_.end());
  if (newest != snapshots_.end() && newest->first > timestamp) {
    return Status::InvalidArgument(
        "CreateTimestampedSnapshot: there is one with a later timestamp");
  }
  taken = Shared(host->TimestampedSnapshot(timestamp),
                 [db](const Snapshot* released) { db->ReleaseSnapshot(released); });
  if (taken == nullptr) {
    return Status::Aborted("CreateTimestampedSnapshot: the database gave no snapshot");
  }
  if (newest != snapshots_.end() && newest->first == timestamp) {
    if (newest->second->GetSequenceNumber() != taken->GetSequenceNumber()) {
      return Status::InvalidArgument(
          "CreateTimestampedSnapshot: there is one with this timestamp, of an earlier state");
    }
    *snapshot = newest->second;
    return Status::OK();
  }
  VARVE_ASSERT(newest == snapshots_.end() ||
               newest->second->GetSequenceNumber() <= taken->GetSequenceNumber());
  snapshots_.emplace_hint(snapshots_.end(), timestamp, taken);
  *snapshot = std::move(taken);
  return Status::OK();
}

TimestampedSnapshots::Shared TimestampedSnapshots::Find(TxnTimestamp timestamp) const {
  MutexLock lock(&mu_);
  if (snapshots_.empty()) return nullptr;
  if (timestamp == kMaxTxnTimestamp) return snapshots_.rbegin()->second;
  const auto found = snapshots_.find(timestamp);
  return found == snapshots_.end() ? nullptr : found->second;
}

std::vector<TimestampedSnapshots::Shared> TimestampedSnapshots::Between(TxnTimestamp begin,
                                                                        TxnTimestamp end) const {
  std::vector<Shared> result;
  MutexLock lock(&mu_);
  for (auto it = snapshots_.lower_bound(begin); it != snapshots_.end() && it->first < end; ++it) {
    result.push_back(it->second);
  }
  return result;
}

void TimestampedSnapshots::DropOlderThan(TxnTimestamp timestamp) {
  std::map<TxnTimestamp, Shared> dropped;  // Released without the mutex.
  MutexLock lock(&mu_);
  while (!snapshots_.empty() && snapshots_.begin()->first < timestamp) {
    dropped.insert(snapshots_.extract(snapshots_.begin()));
  }
}

}  // namespace varve
