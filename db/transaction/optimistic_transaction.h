// SPDX-License-Identifier: Apache-2.0
#pragma once

// OptimisticTransaction: locks nothing, remembers since when keys must not have changed, and is
// refused by Commit where one has (Kung and Robinson 1981).

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"

#include "db/transaction/transaction_base.h"
#include "db/write/key_stamps.h"

namespace varve {

// A commit is checked where it gets its place in the order of all writes: there it is refused if
// the bucket of a key has a stamp beyond what the transaction knows of the key. Then it waits until
// all that was before it is visible, looks the keys up, and tries again, knowing more. So a write
// that changed a key either came before, and its stamp shows it, or comes after.
//
// From the first key on it holds a snapshot no younger than what keys are compared with, so that
// compactions keep the traces of such changes: what they may drop without a trace is a key that
// came after the snapshot and has gone again. If GetForUpdate found it, that is a conflict;
// otherwise the key is as it was, absent.
//
// Thread safety: as Transaction.
class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(DB* db, TransactionHost* host) : TransactionBase(db, host) {}

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

  uint64_t GetNumKeys() const override { return tracked_.size(); }
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
  struct TrackedKey {
    uint32_t family = 0;
    std::string key;
    uint64_t hash = 0;
    SequenceNumber unchanged_since = 0;  // a write that changes it after this is in conflict
    uint32_t reads = 0;
    uint32_t writes = 0;
    bool was_read = false;  // and found, in the database
  };
  // By the family's id and the key.
  using TrackedKeys = std::unordered_map<std::string, TrackedKey>;
  struct TrackedUse {
    TrackedKey* key;  // null: taken back
    bool write;
  };

  Status CheckActive() override;
  Status Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use) override;
  void NoteFound(ColumnFamilyHandle* family, const Slice& key) override;
  // About: what hash tables and strings take besides is theirs to know.
  size_t UsesBytes() const override { return tracked_.size() * (2 * sizeof(TrackedKey)); }
  void PushUses() override { marks_.push_back(uses_.size()); }
  void RollbackUses() override;
  void PopUses() override;

  static std::string NameOf(ColumnFamilyHandle* family, const Slice& key);
  Status WriteIfUnchanged(WriteBatch* updates);
  // Looks all keys up. Busy if one has changed; else the limits say until when that is known.
  Status LookUp(std::vector<StampLimit>* limits);
  void HoldEvidence();
  void Forget(const TrackedKey& key);
  void End(TransactionState state);

  TransactionState state_ = STARTED;
  uint64_t committed_at_ = 0;
  TrackedKeys tracked_;
  std::vector<std::shared_ptr<const Snapshot>> evidence_;  // the last is the oldest
  std::vector<TrackedUse> uses_;                           // while there are save points
  std::vector<size_t> marks_;                              // where each begins
};

}  // namespace varve
