// SPDX-License-Identifier: Apache-2.0
#pragma once

// PessimisticTransaction: locks what it writes and what it reads for update, and keeps that to its
// end; its updates are written by Commit.

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

struct PreparedSection;

// All that a transaction has locked. Locks of keys form a list in the order in which they were had.
struct LocksHeld {
  LockOwner owner;
  HeldLock* first = nullptr;
  HeldLock* last = nullptr;
  uint64_t keys = 0;
  std::list<HeldRange> ranges;
  size_t range_bytes = 0;  // that these take

  LocksHeld* next = nullptr;  // of those that a registry keeps

  void Add(HeldLock* lock);
  void GiveBack(LockTable* table, HeldLock* lock);
  void GiveBackLastRange(LockTable* table);
  void GiveAllBack(LockTable* table);
};

// What all transactions of a database share.
struct TransactionRegistry {
  TransactionRegistry(const LockTable::Limits& limits, bool checks_timestamps)
      : locks(limits), validates_timestamps(checks_timestamps) {}
  ~TransactionRegistry();

  LockTable locks;
  const bool validates_timestamps;
  TimestampedSnapshots snapshots;
  Mutex names_mu{kTransactionNamesRank};
  std::unordered_map<std::string, Transaction*> names VARVE_GUARDED_BY(names_mu);
  // Those of an opening, which nobody may have asked for.
  std::set<Transaction*> recovered VARVE_GUARDED_BY(names_mu);
  // Of undecided sections without a transaction: nobody writes their keys before they are decided,
  // which takes another opening.
  LocksHeld* left VARVE_GUARDED_BY(names_mu) = nullptr;
};

// The first of so many ids that nobody else in the process has.
TransactionID TakeTransactionIds(uint64_t count);

// Prepare makes a section of the updates, which is the database's until it is decided: the
// transaction may go before that, and its locks stay with the section.
//
// While there are save points, uses of locks are written down one after the other, so that a save
// point is a position there.
//
// Thread safety: as Transaction.
class PessimisticTransaction final : public TransactionBase {
 public:
  // The registry and the host outlive it.
  PessimisticTransaction(DB* db, TransactionHost* host, TransactionRegistry* registry)
      : TransactionBase(db, host),
        registry_(registry),
        locks_(&registry->locks),
        held_(new LocksHeld) {}
  ~PessimisticTransaction() override;

  // As a new transaction. `default_timeout_ms` is the database's. Throws std::bad_alloc, and has
  // done nothing then, if there is a section to leave.
  void Begin(const WriteOptions& write_options, const TransactionOptions& options,
             int64_t default_timeout_ms);
  bool BelongsTo(const TransactionRegistry* registry) const { return registry_ == registry; }
  // As one that has prepared this section, which it claimed: with its locks, beside whoever else
  // has adopted them, as none were taken when it was prepared.
  Status Adopt(PreparedSection* section);
  // Into the registry's list, where it is until it goes.
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
  struct LockUse {
    HeldLock* lock;  // null: taken back
    bool write;
  };
  struct UsesMark {
    size_t uses;
    size_t ranges;
  };

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

  Status UseTracked(const LockKey& key, const KeyUse& use, UseNote* note);
  Status Validate(ColumnFamilyHandle* family, HeldLock* lock);
  Status ValidateSequence(ColumnFamilyHandle* family, HeldLock* lock);
  Status ValidateTimestamp(ColumnFamilyHandle* family, const HeldLock* lock);
  void NoteUse(HeldLock* lock, bool write);
  Status LockRange(ColumnFamilyHandle* family, RangeEnd begin, RangeEnd end);
  // That it may be written as it is.
  Status CheckCommit();
  Status CommitUnprepared();
  // The commit timestamp into the updates that need one.
  Status StampUpdates(WriteBatch* updates);
  Status CommitPrepared();
  // All locks, the name, the updates, the snapshot.
  void End(TransactionState state);
  // The section stays as it is, for the next one who claims it, and so do the locks, in whose place
  // the transaction has `others`.
  void LeaveSection(std::unique_ptr<LocksHeld> others) noexcept;
  void ReleaseLocks();
  Status TakeName(const TransactionName& name);
  void ForgetName();

  TransactionRegistry* const registry_;
  LockTable* const locks_;
  // Its own. Another one only when it is begun anew and leaves a section behind.
  std::atomic<LocksHeld*> held_;
  TransactionID next_id_ = 0;  // of those that it took
  TransactionID ids_end_ = 0;
  LockPatience patience_;
  bool skip_concurrency_control_ = false;
  bool skip_prepare_ = true;
  bool recovered_ = false;              // in the registry's list
  PreparedSection* section_ = nullptr;  // while it is prepared
  uint64_t committed_at_ = 0;
  TxnTimestamp read_timestamp_ = kMaxTxnTimestamp;    // none
  TxnTimestamp commit_timestamp_ = kMaxTxnTimestamp;  // none
  std::string name_;  // under the registry's mutex; changed by this transaction's thread

  std::vector<LockUse> uses_;
  std::vector<UsesMark> marks_;
};

}  // namespace varve
