// SPDX-License-Identifier: Apache-2.0

// Writes without a transaction lock what they write, for their own duration. A single key is locked
// by an owner on the stack (WithKey); a batch locks its keys and ranges in one order that all
// batches share (BatchLocks), so that two batches cannot deadlock.

#include "db/transaction/pessimistic_transaction_db.h"

#include <algorithm>
#include <utility>

#include "db/engine/prepared_transactions.h"
#include "db/transaction/batch_locks.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

LockTable::Limits LimitsOf(const TransactionDBOptions& options) {
  LockTable::Limits limits;
  limits.parts = options.num_stripes;
  limits.locks_per_family_max = options.max_num_locks;
  limits.deadlocks_remembered = options.max_num_deadlocks;
  limits.mutexes = options.custom_mutex_factory;
  return limits;
}

// Deletes the recovered transactions that the program has not taken and deleted.
void DeleteRecovered(TransactionRegistry* registry) {
  for (;;) {
    Transaction* txn = nullptr;
    {
      MutexLock lock(&registry->names_mu);
      if (registry->recovered.empty()) return;
      txn = *registry->recovered.begin();
    }
    delete txn;  // The destructor removes it.
  }
}

// Releases one key at the end of a scope.
class KeyGuard {
 public:
  KeyGuard(LockTable* table, HeldLock* lock) : table_(table), lock_(lock) {}
  ~KeyGuard() { table_->Unlock(lock_); }
  KeyGuard(const KeyGuard&) = delete;
  KeyGuard& operator=(const KeyGuard&) = delete;

 private:
  LockTable* const table_;
  HeldLock* const lock_;
};

}  // namespace

Status CheckTransactionDBOptions(const TransactionDBOptions& options, const DBOptions& db_options) {
  if (options.write_policy != WRITE_COMMITTED && options.write_policy != WRITE_PREPARED) {
    return Status::NotSupported(
        "TransactionDBOptions::write_policy: only WRITE_COMMITTED and WRITE_PREPARED");
  }
  if (options.lock_mgr_handle != nullptr) {
    return Status::NotSupported("TransactionDBOptions::lock_mgr_handle");
  }
  if (!options.secondary_indices.empty()) {
    return Status::NotSupported("TransactionDBOptions::secondary_indices");
  }
  if (db_options.unordered_write && options.write_policy == WRITE_COMMITTED) {
    return Status::NotSupported(
        "TransactionDB: WRITE_COMMITTED with DBOptions::unordered_write; WRITE_PREPARED goes with "
        "it");
  }
  return Status::OK();
}

std::unique_ptr<TransactionRegistry> PessimisticTransactionDB::NewRegistry(
    const TransactionDBOptions& options) {
  return std::make_unique<TransactionRegistry>(LimitsOf(options), options.enable_udt_validation);
}

PessimisticTransactionDB::PessimisticTransactionDB(
    DB* db, TransactionHost* host, const TransactionDBOptions& options,
    std::unique_ptr<TransactionRegistry> registry) noexcept
    : TransactionDB(db),
      host_(host),
      transaction_lock_timeout_(options.transaction_lock_timeout),
      default_lock_timeout_(options.default_lock_timeout),
      skip_concurrency_control_(options.skip_concurrency_control),
      registry_(std::move(registry)) {}

PessimisticTransactionDB::~PessimisticTransactionDB() {
  DeleteRecovered(registry_.get());
}

// Makes one transaction for each one that the opening found prepared and undecided. Runs before
// there is a TransactionDB, so no transaction of the program can have one of their locks.
Status PessimisticTransactionDB::AdoptPrepared(DB* db, TransactionHost* host,
                                               const TransactionDBOptions& options,
                                               TransactionRegistry* registry) {
  std::vector<PreparedTransaction*> claimed = host->ClaimPrepared();
  Status s;
  while (s.ok() && !claimed.empty()) {
    s = Guarded([&] {
      auto txn = std::make_unique<PessimisticTransaction>(db, host, registry);
      TransactionOptions of_txn;
      // A recovered transaction never waits: its locks are adopted beside other holders.
      of_txn.lock_timeout = 0;
      txn->Begin(WriteOptions(), of_txn, options.transaction_lock_timeout);
      PreparedTransaction* const prepared = claimed.back();
      const std::string name = ShownName(prepared->name);
      // From here on the transaction has the claim: if Adopt fails, its destructor gives it up.
      claimed.pop_back();
      const Status adopted = txn->Adopt(prepared);
      if (!adopted.ok()) {
        return Status::CopyAppendMessage(
            adopted, ": ",
            "the locks of the prepared transaction '" + name +
                "', which has to be decided, cannot be taken again; open the database once more");
      }
      txn->SetLockTimeout(options.transaction_lock_timeout);
      txn->ListRecovered();
      // The registry's list owns it now; GetAllPreparedTransactions shows it to the program.
      (void)txn.release();
      return Status::OK();
    });
  }
  // After a failure the prepared transactions that were not adopted can be claimed again.
  for (PreparedTransaction* prepared : claimed) host->AbandonPrepared(prepared);
  if (!s.ok()) DeleteRecovered(registry);
  return s;
}

Transaction* PessimisticTransactionDB::BeginTransaction(const WriteOptions& write_options,
                                                        const TransactionOptions& txn_options,
                                                        Transaction* old_txn) try {
  PessimisticTransaction* txn = nullptr;
  if (old_txn != nullptr) {
    txn = AsOwn<PessimisticTransaction>(old_txn, registry_.get());
    if (txn == nullptr) return nullptr;
  }
  std::unique_ptr<PessimisticTransaction> made;
  if (txn == nullptr) {
    made = std::make_unique<PessimisticTransaction>(db_, host_, registry_.get());
    txn = made.get();
  }
  txn->Begin(write_options, txn_options, transaction_lock_timeout_);
  (void)made.release();
  return txn;
} catch (...) {
  return nullptr;
}

Transaction* PessimisticTransactionDB::GetTransactionByName(const TransactionName& name) {
  MutexLock lock(&registry_->names_mu);
  const auto found = registry_->names.find(name);
  return found == registry_->names.end() ? nullptr : found->second;
}

void PessimisticTransactionDB::GetAllPreparedTransactions(std::vector<Transaction*>* trans) {
  trans->clear();
  MutexLock lock(&registry_->names_mu);
  for (const auto& [name, txn] : registry_->names) {
    if (txn->GetState() == Transaction::PREPARED) trans->push_back(txn);
  }
}

// ---- Snapshots with timestamps ----

std::pair<Status, std::shared_ptr<const Snapshot>>
PessimisticTransactionDB::CreateTimestampedSnapshot(TxnTimestamp ts) {
  std::shared_ptr<const Snapshot> snapshot;
  Status s = Guarded([&] { return registry_->snapshots.Create(host_, db_, ts, &snapshot); });
  return {std::move(s), std::move(snapshot)};
}

Status PessimisticTransactionDB::GetTimestampedSnapshots(
    TxnTimestamp ts_lb, TxnTimestamp ts_ub,
    std::vector<std::shared_ptr<const Snapshot>>& snapshots) const {
  if (ts_lb >= ts_ub) {
    return Status::InvalidArgument("GetTimestampedSnapshots: the bounds have nothing between them");
  }
  return Guarded([&] {
    snapshots = registry_->snapshots.Between(ts_lb, ts_ub);
    return Status::OK();
  });
}

// ---- Writes without a transaction ----

LockPatience PessimisticTransactionDB::PlainPatience() const {
  const int64_t milliseconds = default_lock_timeout_;
  LockPatience patience;
  patience.timeout_micros = milliseconds < 0 ? -1 : std::min(milliseconds, INT64_MAX / 1000) * 1000;
  return patience;
}

// Releases the lock at the end of the scope, when the write is visible. The guard is declared after
// the owner, so it unlocks before the owner's memory, in which the record lies, is freed.
template <typename WriteIt>
Status PessimisticTransactionDB::WithKey(ColumnFamilyHandle* family, const Slice& key,
                                         WriteIt write) try {
  VARVE_RETURN_IF_ERROR(host_->CheckUpdate(family));
  if (skip_concurrency_control_) return write();
  LockOwner owner;
  // The write has an id of its own, so that deadlock reports can name it.
  owner.Begin(TakeTransactionIds(1), /*expires_at=*/0);
  const LockPatience patience = PlainPatience();
  LockTable::Had had;
  VARVE_RETURN_IF_ERROR(registry_->locks.Lock(&owner, LockTable::KeyOf(family->GetID(), key),
                                              family->GetComparator(), /*exclusive=*/true, patience,
                                              &had));
  const KeyGuard guard(&registry_->locks, had.held);
  return write();
} catch (...) {
  return CaughtException();
}

Status PessimisticTransactionDB::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, const Slice& value) {
  return WithKey(family, key, [&] { return db_->Put(options, family, key, value); });
}

Status PessimisticTransactionDB::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, const Slice& ts, const Slice& value) {
  return WithKey(family, key, [&] { return db_->Put(options, family, key, ts, value); });
}

Status PessimisticTransactionDB::Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                                        const Slice& key, const Slice& ts) {
  return WithKey(family, key, [&] { return db_->Delete(options, family, key, ts); });
}

Status PessimisticTransactionDB::SingleDelete(const WriteOptions& options,
                                              ColumnFamilyHandle* family, const Slice& key,
                                              const Slice& ts) {
  return WithKey(family, key, [&] { return db_->SingleDelete(options, family, key, ts); });
}

Status PessimisticTransactionDB::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key, const Slice& ts, const Slice& value) {
  return WithKey(family, key, [&] { return db_->Merge(options, family, key, ts, value); });
}

Status PessimisticTransactionDB::Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                                        const Slice& key) {
  return WithKey(family, key, [&] { return db_->Delete(options, family, key); });
}

Status PessimisticTransactionDB::SingleDelete(const WriteOptions& options,
                                              ColumnFamilyHandle* family, const Slice& key) {
  return WithKey(family, key, [&] { return db_->SingleDelete(options, family, key); });
}

Status PessimisticTransactionDB::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key, const Slice& value) {
  return WithKey(family, key, [&] { return db_->Merge(options, family, key, value); });
}

Status PessimisticTransactionDB::PutEntity(const WriteOptions& options, ColumnFamilyHandle* family,
                                           const Slice& key, const WideColumns& columns) {
  return WithKey(family, key, [&] { return db_->PutEntity(options, family, key, columns); });
}

// Takes one lock for each family, so it is written as a batch.
Status PessimisticTransactionDB::PutEntity(const WriteOptions& options, const Slice& key,
                                           const AttributeGroups& groups) try {
  for (const AttributeGroup& group : groups) {
    VARVE_RETURN_IF_ERROR(host_->CheckUpdate(group.column_family()));
  }
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.PutEntity(key, groups));
  return WithBatch(&batch, [&] { return db_->Write(options, &batch); });
} catch (...) {
  return CaughtException();
}

Status PessimisticTransactionDB::DeleteRange(const WriteOptions& options,
                                             ColumnFamilyHandle* family, const Slice& begin,
                                             const Slice& end) try {
  VARVE_RETURN_IF_ERROR(host_->CheckUpdate(family));
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.DeleteRange(family, begin, end));
  return WithBatch(&batch, [&] { return db_->DeleteRange(options, family, begin, end); });
} catch (...) {
  return CaughtException();
}

Status PessimisticTransactionDB::DeleteRange(const WriteOptions& options,
                                             ColumnFamilyHandle* family, const Slice& begin,
                                             const Slice& end, const Slice& ts) try {
  VARVE_RETURN_IF_ERROR(host_->CheckUpdate(family));
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.DeleteRange(family, begin, end, ts));
  return WithBatch(&batch, [&] { return db_->DeleteRange(options, family, begin, end, ts); });
} catch (...) {
  return CaughtException();
}

Status PessimisticTransactionDB::WithBatch(WriteBatch* updates, const WriteLocked& write) try {
  if (updates == nullptr) return Status::InvalidArgument("write: the batch is null");
  if (skip_concurrency_control_) return write();
  BatchLocks locks(&registry_->locks, host_);
  VARVE_RETURN_IF_ERROR(locks.Lock(updates, TakeTransactionIds(1), PlainPatience()));
  return write();
} catch (...) {
  return CaughtException();
}

Status PessimisticTransactionDB::Write(const WriteOptions& options,
                                       const TransactionDBWriteOptimizations& optimizations,
                                       WriteBatch* updates) {
  if (optimizations.skip_concurrency_control) {
    return db_->Write(options, updates);
  }
  return WithBatch(updates, [&] { return db_->Write(options, updates); });
}

Status PessimisticTransactionDB::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                                   UserWriteCallback* callback) {
  return WithBatch(updates, [&] { return db_->WriteWithCallback(options, updates, callback); });
}

}  // namespace varve
