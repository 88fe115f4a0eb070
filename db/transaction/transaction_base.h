// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionBase is the common part of all transactions: a batch that their reads include, its
// save points, and a snapshot for conflict checks. Pessimistic and optimistic transactions derive
// from it and say how a key is used.

#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "varve/utilities/transaction.h"
#include "varve/utilities/write_batch_with_index.h"

#include "db/transaction/batch_replay.h"
#include "db/transaction/transaction_host.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

// Says how a key is locked or tracked.
struct KeyUse {
  // True if the use changes the key; false: it reads the key for update.
  bool write = true;
  // True if others may not use the key meanwhile; false: they may read it for update as well.
  bool exclusive = true;
  bool validate = true;         // True if the key is checked against the snapshot.
  bool assume_tracked = false;  // True if an earlier use has locked the key already.
};

// The changes made by a use of a key, so that it can be undone.
struct UseNote {
  void* record = nullptr;  // The subclass's record of the key; null: nothing changed.
  bool write = false;
  bool added = false;                  // The record is new.
  bool upgraded = false;               // Its lock was shared before.
  SequenceNumber unchanged_since = 0;  // The value before the use.
};

// A call that locks, tracks or writes is a Step: it is checked first, and it undoes what it has
// done if a later part of it is refused. At its end the memory held is counted. Then a notifier is
// called, as the last action of the step, so that it may call any method.
//
//    Put --> Update --> Step: CheckFamily, CheckWhole
//                         Use (subclass: lock or track the key, take an announced snapshot, check)
//                         AddToBatch           fails: TakeBack undoes the use
//                       Settled: charge the memory, call the notifier
//
// Reads look into the batch first, and into the database for keys that the batch does not decide
// (WriteBatchWithIndex). Functions without a column family use the default one, which has a fast
// path (IsPlain) if it is ordered by bytes.
//
// Owns the batch, the snapshot and the save points; borrows the database and its host.
//
// Thread safety: as Transaction.
class TransactionBase : public Transaction {
 public:
  TransactionBase(DB* db, TransactionHost* host);
  ~TransactionBase() override { Charge(0); }

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) override;
  const Snapshot* GetSnapshot() const override { return snapshot_.get(); }
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const override { return snapshot_; }
  void ClearSnapshot() override;

  // Save points are kept in step with those of the batch and of the subclass's uses.
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override {
    return Get(options, nullptr, key, value);
  }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override {
    return Get(options, nullptr, key, value);
  }
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override {
    return MultiGet(options, Defaults(keys), keys, values);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t n, const Slice* keys,
                PinnableSlice* values, Status* statuses, bool sorted_input) const override;

  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      std::string* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      PinnableSlice* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                      bool exclusive, bool do_validate) override {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  Status GetForUpdate(const ReadOptions& options, const Slice& key, PinnableSlice* value,
                      bool exclusive, bool do_validate) override {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                        const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override;
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override {
    return MultiGetForUpdate(options, Defaults(keys), keys, values);
  }
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableWideColumns* columns) override;
  void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* family, size_t n,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  Status GetEntityForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, PinnableWideColumns* columns, bool exclusive,
                            bool do_validate) override;
  void UndoGetForUpdate(const Slice& key) override { UndoGetForUpdate(nullptr, key); }
  using Transaction::UndoGetForUpdate;
  Iterator* GetIterator(const ReadOptions& options) override {
    return GetIterator(options, nullptr);
  }
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;
  std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;

  // The functions below differ in the record that they add, and in whether the key is checked.
  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
             bool assume_tracked) override {
    return Update(kPutRecord, family, key, value, Tracked(assume_tracked));
  }
  Status Put(const Slice& key, const Slice& value) override {
    return Put(nullptr, key, value, false);
  }
  Status Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value,
             bool assume_tracked) override {
    return UpdateParts(kPutRecord, family, key, value, Tracked(assume_tracked));
  }
  Status Put(const SliceParts& key, const SliceParts& value) override {
    return Put(nullptr, key, value, false);
  }
  Status PutEntity(ColumnFamilyHandle* family, const Slice& key, const WideColumns& columns,
                   bool assume_tracked) override {
    return UpdateEntity(family, key, columns, Tracked(assume_tracked));
  }
  Status Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
               bool assume_tracked) override {
    return Update(kMergeRecord, family, key, value, Tracked(assume_tracked));
  }
  Status Merge(const Slice& key, const Slice& value) override {
    return Merge(nullptr, key, value, false);
  }
  Status Delete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override {
    return Update(kDeleteRecord, family, key, Slice(), Tracked(assume_tracked));
  }
  Status Delete(const Slice& key) override { return Delete(nullptr, key, false); }
  Status Delete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked) override {
    return UpdateParts(kDeleteRecord, family, key, SliceParts(), Tracked(assume_tracked));
  }
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key, false); }
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override {
    return Update(kSingleDeleteRecord, family, key, Slice(), Tracked(assume_tracked));
  }
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key, false); }
  Status SingleDelete(ColumnFamilyHandle* family, const SliceParts& key,
                      bool assume_tracked) override {
    return UpdateParts(kSingleDeleteRecord, family, key, SliceParts(), Tracked(assume_tracked));
  }
  Status SingleDelete(const SliceParts& key) override { return SingleDelete(nullptr, key, false); }

  // Untracked updates are not checked against the snapshot.
  Status PutUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override {
    return Update(kPutRecord, family, key, value, Untracked());
  }
  Status PutUntracked(const Slice& key, const Slice& value) override {
    return PutUntracked(nullptr, key, value);
  }
  Status PutUntracked(ColumnFamilyHandle* family, const SliceParts& key,
                      const SliceParts& value) override {
    return UpdateParts(kPutRecord, family, key, value, Untracked());
  }
  Status PutUntracked(const SliceParts& key, const SliceParts& value) override {
    return PutUntracked(nullptr, key, value);
  }
  Status PutEntityUntracked(ColumnFamilyHandle* family, const Slice& key,
                            const WideColumns& columns) override {
    return UpdateEntity(family, key, columns, Untracked());
  }
  Status MergeUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override {
    return Update(kMergeRecord, family, key, value, Untracked());
  }
  Status MergeUntracked(const Slice& key, const Slice& value) override {
    return MergeUntracked(nullptr, key, value);
  }
  Status DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override {
    return Update(kDeleteRecord, family, key, Slice(), Untracked());
  }
  Status DeleteUntracked(const Slice& key) override { return DeleteUntracked(nullptr, key); }
  Status DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) override {
    return UpdateParts(kDeleteRecord, family, key, SliceParts(), Untracked());
  }
  Status DeleteUntracked(const SliceParts& key) override { return DeleteUntracked(nullptr, key); }
  Status SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override {
    return Update(kSingleDeleteRecord, family, key, Slice(), Untracked());
  }
  Status SingleDeleteUntracked(const Slice& key) override {
    return SingleDeleteUntracked(nullptr, key);
  }

  void PutLogData(const Slice& blob) override;
  void DisableIndexing() override { indexing_ = false; }
  void EnableIndexing() override { indexing_ = true; }

  uint64_t GetNumPuts() const override { return counts_.puts; }
  uint64_t GetNumPutEntities() const override { return counts_.entities; }
  uint64_t GetNumDeletes() const override { return counts_.deletes; }
  uint64_t GetNumMerges() const override { return counts_.merges; }
  uint64_t GetElapsedTime() const override;
  WriteBatchWithIndex* GetWriteBatch() override { return &batch_; }
  WriteBatch* GetCommitTimeWriteBatch() override { return &commit_time_batch_; }
  Status RebuildFromWriteBatch(WriteBatch* src_batch) override;
  WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) override { write_options_ = options; }

 protected:
  // Returns OK if the state allows further writes and locks; otherwise the reason.
  virtual Status CheckActive() = 0;
  // Locks or tracks a key, then takes an announced snapshot, and checks the key against the
  // snapshot there is. Keys are without timestamp. After a failure nothing is changed except the
  // snapshot, which the step restores.
  virtual Status Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use,
                     UseNote* note) = 0;
  // Undoes a use, which must be the newest. Does not fail.
  virtual void TakeBack(const UseNote& note) = 0;
  // Returns OK if families with timestamps of this size are supported. This class returns
  // NotSupported.
  virtual Status CheckTimestampSize(size_t timestamp_size) const;
  // Sets *timestamp to that of a read for update; called for families with timestamps.
  virtual Status TimestampForUpdate(const ReadOptions& options, bool do_validate,
                                    std::string* timestamp) const;
  // Called when a read for update has found a value of a key that was used.
  virtual void NoteFound(ColumnFamilyHandle* /*family*/, const Slice& /*key*/) {}
  // Returns the bytes held for uses.
  virtual size_t UsesBytes() const = 0;
  // PushUses sets a save point among the uses of keys. RollbackUses undoes the uses since the
  // newest save point, and removes that. PopUses only removes it.
  virtual void PushUses() = 0;
  virtual void RollbackUses() = 0;
  virtual void PopUses() = 0;

  // Begins a new transaction. Requires that locked or tracked keys have been released.
  void BeginBase(const WriteOptions& options, size_t max_batch_bytes);
  // Clears the updates and everything that refers to them.
  void ClearUpdates();
  // Runs body(handle), the part of a call that uses or updates keys of a family, after the checks
  // of a step, and settles it. Returns the first error; an exception of `body` becomes one.
  // `family` null: the default one.
  template <typename Body>
  Status Step(ColumnFamilyHandle* family, const Body& body) {
    ColumnFamilyHandle* const of = FamilyOr(family);
    VARVE_RETURN_IF_ERROR(CheckFamily(of));
    VARVE_RETURN_IF_ERROR(CheckWhole());
    return Settled(Guarded([&] { return body(of); }));
  }
  // Returns OK unless something is missing that an earlier call without a status could not store: a
  // snapshot or log data.
  Status CheckWhole() const {
    return lacks_snapshot_ || lacks_log_data_ ? WhatItLacks() : Status::OK();
  }
  // Adds an update to the batch, indexed unless DisableIndexing was called. For a range deletion
  // `value` is the end.
  Status AddToBatch(WriteType type, ColumnFamilyHandle* family, const Slice& key,
                    const Slice& value);
  // True if there is an indexed update of the key.
  bool IsInBatch(ColumnFamilyHandle* family, const Slice& key) const {
    return batch_.HasUpdate(family, key);
  }
  // Returns a snapshot, or null if none can be taken.
  std::shared_ptr<const Snapshot> NewSnapshot() const noexcept;
  // Takes an announced snapshot. Requires a step.
  Status TakeAnnouncedSnapshot() { return announced_ ? TakeItNow() : Status::OK(); }
  // True if the next step takes a snapshot (SetSnapshotOnNextOperation).
  bool announced() const { return announced_; }
  // Takes the announced snapshot in a commit that has passed its checks, and calls the notifier.
  // The caller must check the state again afterwards, as the notifier may have called any method.
  Status CommitsSnapshot() {
    return Settled(Guarded([this] { return TakeItNow(); }));
  }
  SequenceNumber snapshot_sequence() const { return snapshot_->GetSequenceNumber(); }
  // Returns the handle, or that of the default family for null.
  ColumnFamilyHandle* FamilyOr(ColumnFamilyHandle* family) const {
    return family != nullptr ? family : default_family_;
  }
  // True for the default family if it has bytewise order and no timestamps.
  bool IsPlain(const ColumnFamilyHandle* family) const {
    return family == default_family_ && plain_order_ != nullptr;
  }
  // Returns OK if the transaction may lock keys of the family and write to it.
  Status CheckFamily(ColumnFamilyHandle* family) const {
    VARVE_RETURN_IF_ERROR(host_->CheckUpdate(family));
    if (IsPlain(family)) [[likely]]
      return Status::OK();
    const size_t timestamp_size = family->GetComparator()->timestamp_size();
    return timestamp_size == 0 ? Status::OK() : CheckTimestampSize(timestamp_size);
  }
  bool has_snapshot() const { return snapshot_ != nullptr; }

  DB* const db_;  // The database beneath; borrowed.
  ColumnFamilyHandle* const default_family_;
  // The default family's comparator if it is bytewise without timestamps; otherwise null.
  const Comparator* const plain_order_;
  TransactionHost* const host_;
  FamiliesById families_;  // Handles of families that are known by id only.
  WriteOptions write_options_;
  // Mutable because reads bring its index up to date.
  mutable WriteBatchWithIndex batch_;

 private:
  // Bytes by which the memory may grow before it is charged anew.
  static constexpr size_t kChargeStep = 16 << 10;

  // Numbers of updates, for the statistics of the transaction.
  struct Counts {
    uint64_t puts = 0;
    uint64_t entities = 0;
    uint64_t deletes = 0;
    uint64_t merges = 0;
  };
  // Everything about the snapshot that a save point restores.
  struct SnapshotState {
    std::shared_ptr<const Snapshot> snapshot;
    bool lacking = false;
    bool announced = false;
    std::shared_ptr<TransactionNotifier> notifier;
  };
  // A save point of this class; the batch and the subclass have their own.
  struct SavePoint {
    SnapshotState snapshot;
    bool lacks_log_data;
    Counts counts;
  };

  // Sets *iterators to an iterator for each family, with the updates of the batch over it; all of
  // them show one state of the database.
  Status MakeFamilyIterators(const ReadOptions& options,
                             const std::vector<ColumnFamilyHandle*>& families,
                             std::vector<Iterator*>* iterators);
  // Return how Put and its like, and how the Untracked forms, use a key.
  static KeyUse Tracked(bool assume_tracked) {
    return {.write = true, .exclusive = true, .validate = true, .assume_tracked = assume_tracked};
  }
  static KeyUse Untracked() {
    return {.write = true, .exclusive = true, .validate = false, .assume_tracked = false};
  }
  // Returns the error for what CheckWhole has found missing.
  Status WhatItLacks() const;
  // Takes the announced snapshot and remembers to call the notifier.
  Status TakeItNow();
  // Ends a step that returned `s`. If it succeeded, calls the notifier last. NotFound counts as a
  // success: it is the result of a read for update that found no value.
  Status Settled(Status s) {
    ChargeMemory();
    if (untold_) [[unlikely]]
      SettleSnapshot(s.ok() || s.IsNotFound());
    return s;
  }
  // Calls the notifier if the step keeps the snapshot that it took; otherwise restores the earlier
  // one, and the snapshot is announced as before.
  void SettleSnapshot(bool keep);
  // Reports the memory that the transaction holds to the host, in steps of kChargeStep.
  void ChargeMemory() {
    const size_t held = batch_.GetDataSize() + commit_time_batch_.GetDataSize() + UsesBytes();
    if (held >= charged_ + kChargeStep) [[unlikely]]
      Charge(held - held % kChargeStep);
  }
  // Makes `bytes` the reported memory: reports the difference to what was reported before.
  void Charge(size_t bytes) {
    if (bytes == charged_) return;
    host_->ChargeTransactions(static_cast<int64_t>(bytes) - static_cast<int64_t>(charged_));
    charged_ = bytes;
  }
  // Returns a list that has the default family once for each key.
  std::vector<ColumnFamilyHandle*> Defaults(const std::vector<Slice>& keys) const {
    return std::vector<ColumnFamilyHandle*>(keys.size(), default_family_);
  }
  // Use the key, then add the update to the batch. If the use is refused nothing is added; if the
  // batch is full the use is taken back.
  Status Update(WriteType type, ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                const KeyUse& use);
  Status UpdateEntity(ColumnFamilyHandle* family, const Slice& key, const WideColumns& columns,
                      const KeyUse& use);
  Status UpdateParts(WriteType type, ColumnFamilyHandle* family, const SliceParts& key,
                     const SliceParts& value, const KeyUse& use);
  // Checks the options of a GetForUpdate before anything is used.
  Status CheckForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                        bool do_validate) const;
  // Uses all keys for a read for update, or none of them after an error.
  Status UseAll(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                const std::vector<Slice>& keys);
  // Reads all keys, which were used.
  std::vector<Status> ReadAllUsed(const ReadOptions& options,
                                  const std::vector<ColumnFamilyHandle*>& families,
                                  const std::vector<Slice>& keys, std::vector<std::string>* values);
  // Reads a whole entity. This overload of Get is for ReadUsed, which calls Get with the type of
  // place that it was given.
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableWideColumns* columns) {
    return GetEntity(options, family, key, columns);
  }
  // Reads a key that was used, at the transaction's read timestamp if its family has timestamps.
  template <typename Value>
  Status ReadUsed(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  Value* value, bool do_validate);
  // Uses the key, then reads it into *value, unless that is null; if the read fails the use is
  // taken back.
  template <typename Value>
  Status ReadForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                       Value* value, bool exclusive, bool do_validate);

  // The batch of GetCommitTimeWriteBatch, which is written before the other updates.
  WriteBatch commit_time_batch_;
  // False after DisableIndexing: updates are then not seen by reads of the transaction.
  bool indexing_ = true;
  Counts counts_;
  uint64_t began_at_ = 0;  // From a cheap clock that ticks every few milliseconds.
  // Bytes that were reported to the host.
  size_t charged_ = 0;
  // The snapshot of reads and validations; null: there is none.
  std::shared_ptr<const Snapshot> snapshot_;
  bool lacks_snapshot_ = false;  // SetSnapshot failed.
  bool lacks_log_data_ = false;  // PutLogData had no room.
  // True between SetSnapshotOnNextOperation and that operation; notifier_ is to be told then.
  bool announced_ = false;
  bool untold_ = false;  // True if this step took the snapshot; the notifier is not told yet.
  std::shared_ptr<TransactionNotifier> notifier_;
  std::shared_ptr<const Snapshot> snapshot_before_;  // Set while untold_.
  // One for each SetSavePoint that was not undone; the last is the newest.
  std::vector<SavePoint> save_points_;
};

// Returns `txn`, which is to be begun again, if its class is Txn and it belongs to `database`;
// otherwise null.
template <typename Txn, typename Database>
Txn* AsOwn(Transaction* txn, const Database* database) {
  if (typeid(*txn) != typeid(Txn)) return nullptr;
  auto* const own = static_cast<Txn*>(txn);
  return own->BelongsTo(database) ? own : nullptr;
}

}  // namespace varve
