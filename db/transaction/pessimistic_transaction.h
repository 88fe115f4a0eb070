// SPDX-License-Identifier: Apache-2.0
#pragma once

// PessimisticTransaction locks the keys that it writes or reads for update, and holds the locks
// until its end; Commit writes its updates.

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/transaction/lock_table.h"
#include "db/transaction/timestamped_snapshots.h"
#include "db/transaction/transaction_base.h"
#include "util/sync/mutex.h"

namespace varve {

struct PreparedTransaction;

// All locks of a transaction. The key locks form a list in the order of acquisition. This is a
// separate object, because it outlives a transaction that leaves undecided prepared updates behind.
struct LocksHeld {
  // The lock table's view of the transaction; also the memory of the records in the list.
  LockOwner owner;
  HeldLock* first = nullptr;
  HeldLock* last = nullptr;
  // Number of locks in the list.
  uint64_t keys = 0;
  // Range locks in the order of acquisition. A list, because the lock table links them where they
  // are.
  std::list<HeldRange> ranges;
  size_t range_bytes = 0;  // Bytes of the ranges.

  LocksHeld* next = nullptr;  // Next in a registry's list.

  // Appends a lock that the owner has acquired.
  void Add(HeldLock* lock);
  // Releases one lock, which nothing uses any more.
  void GiveBack(LockTable* table, HeldLock* lock);
  // Releases the range that was locked last: for a rollback to a save point, or because the call
  // that locked it fails.
  void GiveBackLastRange(LockTable* table);
  // Releases all locks and their memory.
  void GiveAllBack(LockTable* table);
};

// Holds what all transactions of a database share.
struct TransactionRegistry {
  TransactionRegistry(const LockTable::Limits& limits, bool checks_timestamps)
      : locks(limits), validates_timestamps(checks_timestamps) {}
  ~TransactionRegistry();

  // The keys and ranges that are locked.
  LockTable locks;
  // True if keys are also checked against read timestamps (enable_udt_validation).
  const bool validates_timestamps;
  // Snapshots that the database holds under timestamps.
  TimestampedSnapshots snapshots;
  // Guards the three members below.
  Mutex names_mu{kTransactionNamesRank};
  // Maps names to the transactions that have them.
  std::unordered_map<std::string, Transaction*> names VARVE_GUARDED_BY(names_mu);
  // Transactions that an opening found prepared. The program owns those that it has asked for; what
  // is left here at the end is deleted with the database.
  std::set<Transaction*> recovered VARVE_GUARDED_BY(names_mu);
  // List of the locks of undecided transactions that have no Transaction object any more: their
  // keys must not be written before they are decided, which is possible only after another opening.
  LocksHeld* left VARVE_GUARDED_BY(names_mu) = nullptr;
};

// Returns the first of `count` consecutive ids, which are unique in the process.
TransactionID TakeTransactionIds(uint64_t count);

// Prepare gives the updates to the database, which owns them until they are decided: the
// transaction may be destroyed before that, and its locks stay with the updates.
//
// While there are save points, uses of locks are logged in order, so that a save point is a
// position in that log.
//
// Thread safety: as Transaction.
class PessimisticTransaction final : public TransactionBase {
 public:
  // The registry and the host must outlive the transaction.
  PessimisticTransaction(DB* db, TransactionHost* host, TransactionRegistry* registry)
      : TransactionBase(db, host),
        registry_(registry),
        locks_(&registry->locks),
        held_(new LocksHeld) {}
  ~PessimisticTransaction() override;

  // Begins a new transaction. `default_timeout_ms` is the database's. If there are prepared updates
  // to abandon, it may throw std::bad_alloc, with nothing changed.
  void Begin(const WriteOptions& write_options, const TransactionOptions& options,
             int64_t default_timeout_ms);
  bool BelongsTo(const TransactionRegistry* registry) const { return registry_ == registry; }
  // Becomes the transaction that has prepared these updates, which the caller has claimed. Takes
  // its locks beside other holders that were also adopted, because its locks did not conflict when
  // it was prepared.
  Status Adopt(PreparedTransaction* prepared);
  // Adds the transaction to the registry's list of recovered ones, until it is destroyed.
  void ListRecovered();

  Status SetReadTimestampForValidation(TxnTimestamp ts) override;
  Status SetCommitTimestamp(TxnTimestamp ts) override;
  TxnTimestamp GetCommitTimestamp() const override { return commit_timestamp_; }
  Status CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier, TxnTimestamp ts,
                                    std::shared_ptr<const Snapshot>* snapshot) override;

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;

  using TransactionBase::UndoGetForUpdate;
  void UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) override;
  Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& begin,
                      const Endpoint& end) override;
  Status DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) override;

  uint64_t GetNumKeys() const override { return held()->keys; }
  void SetLockTimeout(int64_t timeout_ms) override;
  void SetDeadlockTimeout(int64_t timeout_ms) override;
  Status SetName(const TransactionName& name) override;
  TransactionName GetName() const override;
  TransactionID GetID() const override { return held()->owner.id(); }
  bool IsDeadlockDetect() const override { return patience_.detect_deadlocks; }
  std::vector<TransactionID> GetWaitingTxns(uint32_t* family, std::string* key) const override;
  TransactionState GetState() const override { return owner().state(); }
  uint64_t GetId() const override { return committed_at_; }
  uint64_t GetLogNumber() const override;

 private:
  // One use of a lock, while there are save points.
  struct LockUse {
    HeldLock* lock;  // Null: undone.
    bool write;
  };
  // A save point: the number of uses, and of range locks, when it was set.
  struct UsesMark {
    size_t uses;
    size_t ranges;
  };

  // Returns the locks. Other threads call it too, through GetID and GetWaitingTxns, hence the
  // atomic.
  LocksHeld* held() const { return held_.load(std::memory_order_acquire); }
  LockOwner& owner() { return held()->owner; }
  const LockOwner& owner() const { return held()->owner; }
  Status CheckActive() override;
  Status Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use,
             UseNote* note) override;
  void TakeBack(const UseNote& note) override;
  Status CheckTimestampSize(size_t timestamp_size) const override;
  Status TimestampForUpdate(const ReadOptions& options, bool do_validate,
                            std::string* timestamp) const override;
  size_t UsesBytes() const override {
    return held()->owner.lock_bytes() + held()->range_bytes + uses_.capacity() * sizeof(LockUse);
  }
  void PushUses() override;
  void RollbackUses() override;
  void PopUses() override;

  // Notes a use of a key that the transaction has locked before (assume_tracked), without a check.
  // InvalidArgument: it has not, or not for such a use.
  Status UseTracked(const LockKey& key, const KeyUse& use, UseNote* note);
  // Returns Busy if the key was written after the snapshot, or after the read timestamp.
  Status Validate(ColumnFamilyHandle* family, HeldLock* lock);
  // Validates by the snapshot's sequence number, and remembers in the lock since when the key is
  // unchanged.
  Status ValidateSequence(ColumnFamilyHandle* family, HeldLock* lock);
  // Validates by the read timestamp; OK for families without timestamps.
  Status ValidateTimestamp(ColumnFamilyHandle* family, const HeldLock* lock);
  // Counts a use, and logs it while there are save points.
  void NoteUse(HeldLock* lock, bool write);
  // Locks all keys between the ends, until the end of the transaction or a rollback to a save
  // point.
  Status LockRange(ColumnFamilyHandle* family, RangeEnd begin, RangeEnd end);
  // Returns OK if the transaction may be written in its present state.
  Status CheckCommit();
  // Writes the updates in one batch; the locks are released when they are visible.
  Status CommitUnprepared();
  // Sets the commit timestamp in the updates that need one. InvalidArgument: they need one, and
  // none was given.
  Status StampUpdates(WriteBatch* updates);
  // Logs the decision for the prepared updates, which the database then inserts.
  Status CommitPrepared();
  // Releases all locks, the name, the updates and the snapshot.
  void End(TransactionState state);
  // Leaves the prepared updates undecided in the database, where they can be claimed again, and
  // their locks in the registry. The transaction continues with the empty lock set `others`; null:
  // it is being destroyed.
  void LeavePrepared(std::unique_ptr<LocksHeld> others) noexcept;
  // Releases all locks.
  void ReleaseLocks();
  // Registers the name. InvalidArgument if another transaction has it.
  Status TakeName(const TransactionName& name);
  // Removes the name from the registry, if there is one.
  void ForgetName();

  TransactionRegistry* const registry_;
  LockTable* const locks_;
  // Owned. Replaced only when the transaction is begun anew and leaves prepared updates behind.
  std::atomic<LocksHeld*> held_;
  TransactionID next_id_ = 0;  // Next of the ids that it reserved.
  TransactionID ids_end_ = 0;
  // Says how long requests wait for locks, and if they search for deadlocks.
  LockPatience patience_;
  bool skip_concurrency_control_ = false;
  bool skip_prepare_ = true;
  bool recovered_ = false;                   // True if in the registry's list.
  PreparedTransaction* prepared_ = nullptr;  // Null unless prepared.
  // Sequence number of the first update after a commit; 0 before.
  uint64_t committed_at_ = 0;
  TxnTimestamp read_timestamp_ = kMaxTxnTimestamp;    // The maximum: none is set.
  TxnTimestamp commit_timestamp_ = kMaxTxnTimestamp;  // The maximum: none is set.
  std::string name_;  // Guarded by the registry's mutex; only this transaction's thread changes it.

  // The log of uses, in order; empty while there are no save points.
  std::vector<LockUse> uses_;
  // One for each save point; the last is the newest.
  std::vector<UsesMark> marks_;
};

}  // namespace varve
