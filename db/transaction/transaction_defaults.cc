// SPDX-License-Identifier: Apache-2.0

// Implements methods of public classes that their headers only declare: those that only some
// transactions override, and one of StackableDB.

#include "varve/utilities/transaction.h"
#include "varve/utilities/transaction_db.h"

namespace varve {

namespace {

Status NoTimestamps(const char* what) {
  return Status::NotSupported(what, "only TransactionDB's transactions have timestamps");
}

}  // namespace

Status StackableDB::GetStatsHistory(uint64_t start_time, uint64_t end_time,
                                    std::unique_ptr<StatsHistoryIterator>* stats_iterator) {
  return db_->GetStatsHistory(start_time, end_time, stats_iterator);
}

Status Transaction::CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier,
                                               TxnTimestamp ts,
                                               std::shared_ptr<const Snapshot>* snapshot) {
  if (ts != kMaxTxnTimestamp || snapshot != nullptr) {
    return NoTimestamps("CommitAndTryCreateSnapshot");
  }
  // Commit is the next operation, so it takes the snapshot and calls the notifier.
  if (notifier != nullptr) SetSnapshotOnNextOperation(std::move(notifier));
  return Commit();
}

Status Transaction::SetReadTimestampForValidation(TxnTimestamp /*ts*/) {
  return NoTimestamps("SetReadTimestampForValidation");
}

Status Transaction::SetCommitTimestamp(TxnTimestamp /*ts*/) {
  return NoTimestamps("SetCommitTimestamp");
}

}  // namespace varve
