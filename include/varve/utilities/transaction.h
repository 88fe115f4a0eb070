// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Transaction makes its writes visible together or not at all, and detects conflicts with writes
// that others make meanwhile. TransactionDB and OptimisticTransactionDB begin transactions.
//
//   const std::unique_ptr<varve::Transaction> txn(db->BeginTransaction(varve::WriteOptions()));
//   std::string balance;
//   varve::Status s = txn->GetForUpdate(varve::ReadOptions(), "account1", &balance);
//   if (s.ok()) s = txn->Put("account1", Less(balance, 10));
//   if (s.ok()) s = txn->Commit();
//   if (s.IsBusy() || s.IsTimedOut()) TryAgain();  // after a rollback: txn->Rollback()

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/snapshot.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class Iterator;
class WriteBatch;
class WriteBatchWithIndex;

// The name under which a transaction is prepared, and the id that each has in its process.
using TransactionName = std::string;
using TransactionID = uint64_t;

// Timestamps of 8 bytes, as numbers.
using TxnTimestamp = uint64_t;
inline constexpr TxnTimestamp kMaxTxnTimestamp = std::numeric_limits<TxnTimestamp>::max();

// One end of a range of keys. With inf_suffix it lies after all keys that begin with `slice`, and
// before the keys that follow those.
class VARVE_EXPORT Endpoint {
 public:
  Endpoint() = default;
  explicit Endpoint(const Slice& slice_arg, bool inf_suffix_arg = false)
      : slice(slice_arg), inf_suffix(inf_suffix_arg) {}
  explicit Endpoint(const char* text, bool inf_suffix_arg = false)
      : slice(text), inf_suffix(inf_suffix_arg) {}
  Endpoint(const char* bytes, size_t size, bool inf_suffix_arg = false)
      : slice(bytes, size), inf_suffix(inf_suffix_arg) {}

  // The key; its bytes are borrowed.
  Slice slice;
  // If true, the end lies after all keys that begin with `slice`.
  bool inf_suffix = false;
};

// Is notified of the snapshot that SetSnapshotOnNextOperation takes, by the thread of the
// operation, when the operation is done (for Commit: before it). So it may call any method of the
// transaction, also Rollback, which undoes the operation; but it must not delete the transaction.
// Its exceptions are ignored.
class VARVE_EXPORT TransactionNotifier {
 public:
  virtual ~TransactionNotifier() = default;

  // Called with the new snapshot, which the transaction owns.
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

// Updates stay in the transaction until Commit; its own reads see them at once. `column_family`
// nullptr, and calls without one, mean the default column family. The caller that began a
// transaction deletes it, before its database; a transaction that is neither committed nor prepared
// by then is rolled back.
//
// Isolation: Get reads the newest committed state, even after SetSnapshot; to read one state, set
// ReadOptions::snapshot to GetSnapshot() in each read. If a snapshot is set, writes and
// GetForUpdate fail (TransactionDB at once, OptimisticTransactionDB in Commit) for keys that were
// changed since; together with such reads this is snapshot isolation. Keys read by GetForUpdate,
// and by iterators within a GetRangeLock, do not change until the end of the transaction: if all
// reads are of this kind, transactions are serializable.
//
// TransactionDB's writes and GetForUpdate return Busy (the key was changed after the snapshot),
// Busy with IsDeadlock, TimedOut (the lock was not acquired in time), Aborted with IsLockLimit or
// IsMemoryLimit, or Expired. After each of these, and after an error of GetForUpdate's read, the
// transaction and its locks are as before the call, and it may continue or be rolled back; after a
// deadlock, roll it back so that the others can continue. After Commit, and after Rollback of a
// prepared transaction, calls that write or lock are InvalidArgument.
//
// InvalidArgument, with nothing changed: a column family handle or a snapshot of another database
// (UndoGetForUpdate ignores such a handle); a write or lock in a dropped column family, which can
// still be read. ShutdownInProgress: the database is closed.
//
// Column families whose comparator has timestamps of 8 bytes, such as BytewiseComparatorWithU64Ts
// (other sizes, and OptimisticTransactionDB: NotSupported): keys are passed without timestamp, and
// all get that of SetCommitTimestamp when the transaction commits. Locks are on keys without
// timestamp. Reads need ReadOptions::timestamp, and see the transaction's own writes whatever it
// is.
//
// Thread safety: one thread at a time, except for GetID, GetState, GetName and GetWaitingTxns.
class VARVE_EXPORT Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction() = default;

  // ---- Snapshots ----

  // Takes a snapshot: from now on writes and GetForUpdate fail for keys that others change after
  // this moment. Replaces an earlier snapshot; keys that were checked against that are not checked
  // again. If there is no memory for a snapshot, the transaction has none, and calls that write or
  // lock, Prepare and Commit are Aborted with IsMemoryLimit until SetSnapshot,
  // SetSnapshotOnNextOperation or ClearSnapshot is called.
  virtual void SetSnapshot() = 0;
  // Does SetSnapshot within the next write, GetForUpdate or Commit, after that has acquired its
  // lock. `notifier` may be null. Until then GetSnapshot returns the earlier snapshot. An operation
  // that is refused takes none; one that cannot take its snapshot is Aborted with IsMemoryLimit.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // Returns the snapshot, or nullptr. Valid until the transaction ends, or its snapshot is
  // replaced.
  virtual const Snapshot* GetSnapshot() const = 0;
  // Returns the same snapshot, valid as long as it is held; the database must outlive it.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  // Ends the checks, and cancels SetSnapshotOnNextOperation.
  virtual void ClearSnapshot() = 0;

  // ---- The end ----

  // Does the first phase of a two-phase commit: logs the updates, even with
  // WriteOptions::disableWAL, and syncs them if WriteOptions::sync is set. Requires a name. After
  // OK the transaction is PREPARED: it can only be committed or rolled back, does not expire, and
  // is recovered after a crash with its locks (TransactionDB::GetAllPreparedTransactions). If it is
  // deleted or begun anew instead, the prepared updates stay undecided, and all keys that it had
  // locked stay locked, until the database is opened again and recovers it. The log that holds the
  // updates is kept (property "varve.prepared-transactions"). InvalidArgument: it has no name, or
  // is prepared; the database was opened without DBOptions::allow_2pc; OptimisticTransactionDB.
  virtual Status Prepare() = 0;

  // Makes the writes visible, and ends the transaction. Expired: the expiration has passed, or
  // others took its locks; nothing is written. Busy (OptimisticTransactionDB): a key has changed
  // since the transaction read or wrote it. In both cases, and when the write itself fails, the
  // transaction keeps its updates and must be rolled back. A prepared transaction stays prepared
  // when Commit fails, and may be committed later; with disableWAL its commit is InvalidArgument.
  virtual Status Commit() = 0;

  // Calls SetCommitTimestamp(ts), unless `ts` is kMaxTxnTimestamp, then Commit, then takes a
  // snapshot with the commit's timestamp (TransactionDB::CreateTimestampedSnapshot), which shows
  // the commit and all earlier ones, and notifies the notifier, unless it is null. *snapshot (which
  // may be null) is set to nullptr if no such snapshot can be taken; the status is the commit's.
  // InvalidArgument: a snapshot is requested, and there is no commit timestamp, or one other than
  // `ts`. OptimisticTransactionDB: NotSupported if a snapshot is requested, by `ts` or `snapshot`.
  virtual Status CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier = nullptr,
                                            TxnTimestamp ts = kMaxTxnTimestamp,
                                            std::shared_ptr<const Snapshot>* snapshot = nullptr);

  // Discards the writes and releases all locks. The transaction may continue then, unless it was
  // prepared. The rollback of a prepared transaction is logged; if that fails, it stays prepared. A
  // transaction that continues keeps its name, its snapshot (also an announced one) and its read
  // timestamp, so later operations are checked as before; its commit timestamp is cleared.
  virtual Status Rollback() = 0;

  // ---- Save points: a stack of states to return to ----

  // Pushes the present state. Save points end with the transaction.
  virtual void SetSavePoint() = 0;
  // Undoes all writes since the newest save point, releases locks that were acquired since, and
  // restores the snapshot of that time. A lock that was upgraded to exclusive since stays
  // exclusive. NotFound without a save point.
  virtual Status RollbackToSavePoint() = 0;
  // Removes the newest save point without undoing anything. NotFound without a save point.
  virtual Status PopSavePoint() = 0;

  // ---- Reading: the transaction's own writes over the database ----

  // Return the value that the key would have if the transaction committed now, without locking the
  // key. NotFound if the transaction deletes it, or if neither the transaction nor the database has
  // it. InvalidArgument for merges without a merge operator.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* pinnable_val) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* pinnable_val) = 0;

  // Read many keys like Get, all at one state of the database; each key has a status of its own.
  // The vector forms resize *values to the number of keys; column_family has one handle for each
  // key.
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_family,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                        bool sorted_input = false) const = 0;

  // Return the columns of keys as DB::GetEntity does, with the same meaning as Get and MultiGet.
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns) = 0;
  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false) = 0;

  // Reads a key after locking it, whether it exists or not: exclusively, or shared if not
  // `exclusive`. So others cannot change it until the end of the transaction. If `value` is null,
  // nothing is read. Without `do_validate` the newest value is returned even if it was changed
  // after the snapshot, and ReadOptions::snapshot is InvalidArgument.
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, std::string* value, bool exclusive = true,
                              bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, PinnableSlice* pinnable_val, bool exclusive = true,
                              bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                              bool exclusive = true, bool do_validate = true) = 0;
  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key,
                              PinnableSlice* pinnable_val, bool exclusive = true,
                              bool do_validate = true) = 0;

  // Does GetForUpdate, and reads the columns of the key like GetEntity.
  virtual Status GetEntityForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                    const Slice& key, PinnableWideColumns* columns,
                                    bool exclusive = true, bool do_validate = true) = 0;

  // Locks all keys exclusively, then reads them. If one lock cannot be acquired, all keys get its
  // status, and the locks that this call took are released (RocksDB keeps them). An error of a read
  // affects its key only, and the locks stay.
  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                                const std::vector<Slice>& keys,
                                                std::vector<std::string>* values) = 0;

  // Undoes one GetForUpdate of the key. The last undo releases the lock, unless the key was
  // written, or locked before the newest save point.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // Returns an iterator over the column family with the transaction's writes. The caller must
  // delete it; after the transaction is destroyed it may only be deleted. It sees keys that are
  // written ahead of its position; writing the key it stands on invalidates key() and value(), and
  // the end or a rollback of the transaction invalidates the iterator.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;

  // Make iterators over several column families as DB::NewCoalescingIterator and
  // DB::NewAttributeGroupIterator do, each family with the writes of this transaction. The results
  // are never null, and have GetIterator's rules.
  virtual std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& read_options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Locks all keys from start_endp to end_endp exclusively, both ends and missing keys included.
  // Any number of ranges may be locked: each takes O(log n) comparisons. InvalidArgument: the end
  // is before the beginning. The keys are not checked against a snapshot of the transaction: read
  // them with ReadOptions::snapshot nullptr.
  virtual Status GetRangeLock(ColumnFamilyHandle* column_family, const Endpoint& start_endp,
                              const Endpoint& end_endp) = 0;

  // ---- Writing ----
  //
  // assume_tracked: the caller guarantees that the key is already locked, exclusively, so it is not
  // locked and checked again; InvalidArgument if it is not locked so.
  //
  // The ...Untracked forms do not check the key against the snapshot. TransactionDB still locks it;
  // OptimisticTransactionDB ignores conflicts on it.

  // Sets the value of a key, after locking or tracking it.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                     bool assume_tracked = false) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value, bool assume_tracked = false) = 0;
  virtual Status Put(const SliceParts& key, const SliceParts& value) = 0;

  // Sets the value of a key to an entity of these columns. The handle is required. Corruption if
  // two columns have one name; InvalidArgument if the family has timestamps.
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns, bool assume_tracked = false) = 0;

  // Adds a merge operand to a key.
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                       bool assume_tracked = false) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;

  // Deletes a key, whether or not it exists.
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const SliceParts& key) = 0;

  // Deletes a key that was put exactly once since its last deletion, and never merged.
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const SliceParts& key) = 0;

  // Deletes [begin_key, end_key) after locking the range. RocksDB has no such call. Commit of
  // OptimisticTransactionDB deletes all keys that are in the range by then: it is not checked.
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key) = 0;

  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& value) = 0;
  virtual Status PutUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const SliceParts& key,
                              const SliceParts& value) = 0;
  virtual Status PutUntracked(const SliceParts& key, const SliceParts& value) = 0;
  virtual Status PutEntityUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                    const WideColumns& columns) = 0;
  virtual Status MergeUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) = 0;
  virtual Status MergeUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status DeleteUntracked(const Slice& key) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const SliceParts& key) = 0;
  virtual Status DeleteUntracked(const SliceParts& key) = 0;
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDeleteUntracked(const Slice& key) = 0;

  // Adds `blob` to the log with the transaction; recovery ignores it. If it exceeds
  // max_write_batch_size or there is no memory, it is not added, and calls that write or lock,
  // Prepare and Commit are Aborted with IsMemoryLimit, until Rollback, or RollbackToSavePoint to a
  // save point set before.
  virtual void PutLogData(const Slice& blob) = 0;

  // Turn the indexing of new writes off and on; it is on at the beginning. Writes that are made
  // while it is off cost less, and the transaction's own reads never see them.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // ---- State ----

  // Returns the number of keys that are locked (or tracked, if optimistic); each counts once.
  virtual uint64_t GetNumKeys() const = 0;
  // Return the numbers of updates since the beginning, without those that were rolled back.
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumPutEntities() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  virtual uint64_t GetElapsedTime() const = 0;  // Milliseconds since the beginning.

  // Returns the batch, which the transaction owns. Updates added to it directly are neither locked
  // nor checked.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;
  // Returns a batch that only a prepared transaction may fill: Commit writes it before all other
  // updates. Its updates are neither locked nor prepared.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;
  // Adds the updates of a batch, locked and checked as if they were made one by one. If one fails,
  // the updates before it stay.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;

  // Sets the milliseconds to wait for a lock; 0: do not wait; negative: wait for ever.
  virtual void SetLockTimeout(int64_t timeout) = 0;
  // Sets the milliseconds of waiting after which a deadlock is searched for.
  virtual void SetDeadlockTimeout(int64_t timeout_ms) = 0;

  // Return and replace the options with which Prepare, Commit and Rollback write.
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Requires a name of 1 to 512 bytes that no other transaction of the database has.
  // InvalidArgument otherwise, and if the transaction already has a name, is prepared or has ended.
  virtual Status SetName(const TransactionName& name) = 0;
  // Returns the name; empty if it has none.
  virtual TransactionName GetName() const = 0;

  // Returns the id of this object's current transaction, unique within the process; 0: optimistic.
  virtual TransactionID GetID() const = 0;
  // True if the transaction searches for deadlocks while it waits.
  virtual bool IsDeadlockDetect() const = 0;
  // Returns the transactions that this one waits for, or waited for when it last timed out; empty
  // if none. Sets *column_family_id and *key, each of which may be null, to the key that is waited
  // for.
  virtual std::vector<TransactionID> GetWaitingTxns(uint32_t* column_family_id,
                                                    std::string* key) const = 0;

  // The stages of a transaction. The AWAITING ones last while the call of that name runs.
  enum TransactionState {
    // Reads, writes and locks.
    STARTED = 0,
    // Prepare runs.
    AWAITING_PREPARE = 1,
    // The updates are logged and undecided.
    PREPARED = 2,
    // Commit runs.
    AWAITING_COMMIT = 3,
    // The updates are visible. COMMITED is the same in RocksDB's spelling.
    COMMITTED = 4,
    COMMITED = COMMITTED,
    // Rollback of a prepared transaction runs.
    AWAITING_ROLLBACK = 5,
    // A prepared transaction was rolled back. Others are STARTED again after Rollback.
    ROLLEDBACK = 6,
    // The transaction has expired and another has taken one of its locks: only Rollback is left.
    LOCKS_STOLEN = 7,
  };
  // Returns the present stage.
  virtual TransactionState GetState() const = 0;

  // Returns the sequence number of the first update of the commit; 0: not committed.
  virtual uint64_t GetId() const = 0;
  // Returns the number of the log that holds the prepared updates; 0: nothing is prepared.
  virtual uint64_t GetLogNumber() const { return 0; }

  // Declares that the transaction's reads are at this timestamp. From now on, in column families
  // with timestamps, writes and GetForUpdate are Busy for keys that have a newer one, and for all
  // keys of a family whose full_history_ts_low is above it. GetForUpdate reads at this timestamp,
  // and is InvalidArgument with another ReadOptions::timestamp, with do_validate = false, or, with
  // do_validate, before this call. TransactionDBOptions::enable_udt_validation = false turns all
  // that off. kMaxTxnTimestamp withdraws the declaration, and a lower timestamp may follow then.
  // InvalidArgument: `ts` is below the one in force, or not below the commit timestamp; both do not
  // apply to kMaxTxnTimestamp.
  virtual Status SetReadTimestampForValidation(TxnTimestamp ts);
  // Sets the timestamp of all updates of the transaction. Must be called before Commit if any
  // written column family has timestamps; may be called again. InvalidArgument: `ts` is not above
  // the read timestamp.
  virtual Status SetCommitTimestamp(TxnTimestamp ts);
  // Returns the commit timestamp, or kMaxTxnTimestamp if none was set.
  virtual TxnTimestamp GetCommitTimestamp() const { return kMaxTxnTimestamp; }

 protected:
  Transaction() = default;
};

}  // namespace varve
