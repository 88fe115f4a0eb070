// SPDX-License-Identifier: Apache-2.0
#pragma once

// OptimisticTransaction takes no locks. It remembers for each key since when it must be unchanged,
// and Commit fails if one has changed (Kung and Robinson 1981).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"

#include "db/transaction/tracked_keys.h"
#include "db/transaction/transaction_base.h"
#include "db/write/key_stamps.h"

namespace varve {

// A write stamps the hash bucket of its key with its sequence number (KeyStamps).
// A commit is validated at its place in the order of all writes: it is refused there if the bucket
// of a key has a stamp newer than what the transaction knows of the key. Then it waits until all
// earlier writes are visible, looks the keys up, and tries again with that knowledge. So a write
// that changed a key either came before, and its stamp shows it, or comes after.
//
// From its first key on it keeps compactions from dropping evidence of changes, either by a hold or
// by a snapshot that is not newer than the state with which keys are compared. Compactions may then
// drop without evidence only a key that was created after that state and deleted again. If
// GetForUpdate found such a key, that is a conflict; otherwise the key is absent as it was before.
//
// Thread safety: as Transaction.
class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(DB* db, TransactionHost* host) : TransactionBase(db, host) {}
  ~OptimisticTransaction() override { ForgetUses(); }

  // Begins a new transaction; an earlier one of this object is given up.
  void Begin(const WriteOptions& write_options, const OptimisticTransactionOptions& options);
  bool BelongsTo(const TransactionHost* host) const { return host_ == host; }

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;

  using TransactionBase::UndoGetForUpdate;
  void UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) override;
  Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& begin,
                      const Endpoint& end) override;
  Status DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) override;

  uint64_t GetNumKeys() const override { return tracked_.CountInUse(); }
  void SetLockTimeout(int64_t /*timeout*/) override {}
  void SetDeadlockTimeout(int64_t /*timeout_ms*/) override {}
  Status SetName(const TransactionName& name) override;
  TransactionName GetName() const override { return std::string(); }
  TransactionID GetID() const override { return 0; }
  bool IsDeadlockDetect() const override { return false; }
  std::vector<TransactionID> GetWaitingTxns(uint32_t* family, std::string* key) const override;
  TransactionState GetState() const override { return state_; }
  uint64_t GetId() const override { return committed_at_; }

 private:
  // One use of a key, while there are save points.
  struct TrackedUse {
    TrackedKey* key;  // Null: undone.
    bool write;
  };

  Status CheckActive() override;
  Status Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use,
             UseNote* note) override;
  void TakeBack(const UseNote& note) override;
  void NoteFound(ColumnFamilyHandle* family, const Slice& key) override;
  size_t UsesBytes() const override {
    return tracked_.bytes() + uses_.capacity() * sizeof(TrackedUse);
  }
  void PushUses() override { marks_.push_back(uses_.size()); }
  void RollbackUses() override;
  void PopUses() override;

  // Returns the tracked key, or null if it is not in use.
  TrackedKey* Find(ColumnFamilyHandle* family, const Slice& key) const;
  // Returns OK if the transaction may be written in its present state.
  Status CheckCommit();
  // Writes the updates on the condition that the stamp of no key's bucket is newer than what is
  // known of the key. While the condition refuses, looks the keys up, and tries again. Busy: a key
  // has changed.
  Status WriteIfUnchanged(WriteBatch* updates);
  // Looks all keys up in the database. Returns Busy if one has changed; otherwise sets limits_ to
  // the sequence numbers up to which they are known to be unchanged.
  Status LookUp();
  // Makes compactions keep evidence of changes from now on, or since the snapshot. MemoryLimit:
  // neither a hold nor a snapshot could be taken.
  Status HoldEvidence();
  // Forgets all keys, and lets compactions drop evidence again.
  void ForgetUses();
  // Ends the transaction; it can be begun again.
  void End(TransactionState state);

  TransactionState state_ = STARTED;
  uint64_t committed_at_ = 0;
  // Keys that a commit must find unchanged.
  TrackedKeys tracked_;
  // Every change after this sequence number leaves evidence, held by evidence_hold_ and by the
  // snapshots in evidence_, the last of which is the oldest.
  SequenceNumber evidence_since_ = kMaxSequenceNumber;
  EvidenceHolds::Slot* evidence_hold_ = nullptr;
  std::vector<std::shared_ptr<const Snapshot>> evidence_;
  // During a commit, for each key: the newest stamp with which it is known to be unchanged.
  std::vector<StampLimit> limits_;
  std::vector<TrackedUse> uses_;  // Uses in order, while there are save points.
  std::vector<size_t> marks_;     // Position of each save point in uses_.
};

}  // namespace varve
