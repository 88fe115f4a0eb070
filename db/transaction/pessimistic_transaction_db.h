// SPDX-License-Identifier: Apache-2.0
#pragma once

// PessimisticTransactionDB is a database whose writes lock their keys, within transactions and
// without.
//
// Reads pass through to the database below. A write without a transaction is a small transaction of
// its own: it locks its key, or the keys of its batch in one global order (batch_locks.h), writes,
// and unlocks. So it waits for transactions that hold the keys, and can neither overwrite what they
// have read for update nor deadlock with another such write.
//
// Opening takes three steps, so that a failure leaves nothing half owned: NewRegistry makes the
// shared state, AdoptPrepared makes transactions of what was prepared before a crash, with their
// locks, and only then the constructor wraps the database.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "db/transaction/lock_table.h"
#include "db/transaction/pessimistic_transaction.h"
#include "db/transaction/transaction_host.h"

namespace varve {

// Returns OK, or an error that names the unsupported option.
Status CheckTransactionDBOptions(const TransactionDBOptions& options, const DBOptions& db_options);

class PessimisticTransactionDB final : public TransactionDB {
 public:
  // Makes the registry. Must be called before the database is wrapped, so that a failure does not
  // take ownership of it.
  static std::unique_ptr<TransactionRegistry> NewRegistry(const TransactionDBOptions& options);
  // Makes a transaction, with its locks, of each prepared one that has no Transaction object, and
  // lists it in the registry. Must also be called before the database is wrapped.
  static Status AdoptPrepared(DB* db, TransactionHost* host, const TransactionDBOptions& options,
                              TransactionRegistry* registry);
  // Takes ownership of `db`. The host is the database at its root.
  PessimisticTransactionDB(DB* db, TransactionHost* host, const TransactionDBOptions& options,
                           std::unique_ptr<TransactionRegistry> registry) noexcept;
  ~PessimisticTransactionDB() override;

  // Returns a new transaction, or `old_txn` begun again; null if memory is out, or `old_txn`
  // belongs to another database.
  Transaction* BeginTransaction(const WriteOptions& write_options,
                                const TransactionOptions& txn_options,
                                Transaction* old_txn) override;
  // Returns the transaction with this name, which its creator owns; null: there is none.
  Transaction* GetTransactionByName(const TransactionName& name) override;
  // Lists prepared transactions, of this opening and recovered ones.
  void GetAllPreparedTransactions(std::vector<Transaction*>* trans) override;
  std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() override {
    return registry_->locks.KeysLocked();
  }
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override {
    return registry_->locks.deadlocks().NewestFirst();
  }
  void SetDeadlockInfoBufferSize(uint32_t target_size) override {
    registry_->locks.deadlocks().Resize(target_size);
  }

  std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp ts) override;
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const override {
    return registry_->snapshots.Find(ts);
  }
  Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const override {
    return GetTimestampedSnapshots(0, kMaxTxnTimestamp, snapshots);
  }
  Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const override;
  void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) override {
    registry_->snapshots.DropOlderThan(ts);
  }

  using TransactionDB::Delete;
  using TransactionDB::DeleteRange;
  using TransactionDB::PutEntity;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const WriteOptions& options, const Slice& key,
                   const AttributeGroups& groups) override;
  using TransactionDB::Merge;
  using TransactionDB::Put;
  using TransactionDB::SingleDelete;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& ts, const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                const Slice& ts) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& ts, const Slice& value) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end, const Slice& ts) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    return Write(options, TransactionDBWriteOptimizations(), updates);
  }
  Status Write(const WriteOptions& options, const TransactionDBWriteOptimizations& optimizations,
               WriteBatch* updates) override;
  // Locks the keys like Write. The callback is called while they are locked.
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;

 private:
  using WriteLocked = std::function<Status()>;

  // Return the status of `write`, which is called while the key, or all keys and ranges of the
  // batch, are locked exclusively; or the error of a lock.
  template <typename WriteIt>
  Status WithKey(ColumnFamilyHandle* family, const Slice& key, WriteIt write);
  Status WithBatch(WriteBatch* updates, const WriteLocked& write);
  // Returns how writes without a transaction wait for locks: for default_lock_timeout, without a
  // search for deadlocks.
  LockPatience PlainPatience() const;

  // The innermost database beneath all wrappers; borrowed, lives as long as db_.
  TransactionHost* const host_;
  // Timeout in milliseconds of transactions that set none of their own; negative: unlimited.
  const int64_t transaction_lock_timeout_;
  // Timeout in milliseconds of writes without a transaction; negative: unlimited.
  const int64_t default_lock_timeout_;
  // True if the user promises that writes without a transaction never conflict.
  const bool skip_concurrency_control_;
  // Owned; all transactions of this database must be destroyed before.
  const std::unique_ptr<TransactionRegistry> registry_;
};

}  // namespace varve
