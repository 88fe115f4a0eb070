// SPDX-License-Identifier: Apache-2.0
#pragma once

// Transaction: reads and writes that become visible together, or not at all, and do not overlook
// what others did meanwhile. From TransactionDB or OptimisticTransactionDB.

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

using TransactionName = std::string;
using TransactionID = uint64_t;

// Timestamps of 8 bytes as numbers.
using TxnTimestamp = uint64_t;
inline constexpr TxnTimestamp kMaxTxnTimestamp = std::numeric_limits<TxnTimestamp>::max();

// One end of a range of keys. With inf_suffix it lies above all keys that begin with `slice`, and
// below those that follow them.
class VARVE_EXPORT Endpoint {
 public:
  Endpoint() = default;
  explicit Endpoint(const Slice& slice_arg, bool inf_suffix_arg = false)
      : slice(slice_arg), inf_suffix(inf_suffix_arg) {}
  explicit Endpoint(const char* text, bool inf_suffix_arg = false)
      : slice(text), inf_suffix(inf_suffix_arg) {}
  Endpoint(const char* bytes, size_t size, bool inf_suffix_arg = false)
      : slice(bytes, size), inf_suffix(inf_suffix_arg) {}

  Slice slice;
  bool inf_suffix = false;
};

// Told of the snapshot that SetSnapshotOnNextOperation takes, by the thread that operates, when the
// operation is done (of Commit: before it). So it may call whatever the transaction has, Rollback
// as well, which takes the operation back; but it must not delete the transaction. What it throws
// is forgotten.
class VARVE_EXPORT TransactionNotifier {
 public:
  virtual ~TransactionNotifier() = default;

  // The snapshot belongs to the transaction.
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

// What a transaction writes stays with it until Commit; its own reads see it at once.
// `column_family` nullptr, and calls without one, mean the default column family. A transaction is
// deleted by the caller that began it, before its database; one that is not committed by then is
// rolled back, unless it is prepared.
//
// Isolation: Get reads the newest committed state, whatever SetSnapshot did; for reads of one state
// set ReadOptions::snapshot to GetSnapshot() in each of them. A snapshot that is set makes writes
// and GetForUpdate fail (TransactionDB at once, OptimisticTransactionDB in Commit) where somebody
// has changed the key since: with such reads that is snapshot isolation. What is read by
// GetForUpdate, and by iterators within a GetRangeLock, is as it was until the end of the
// transaction: with nothing but such reads, transactions are serializable.
//
// Statuses of TransactionDB's writes and of GetForUpdate: Busy (somebody changed the key after the
// snapshot), Busy with IsDeadlock, TimedOut (the lock was not had in time), Aborted with
// IsLockLimit or IsMemoryLimit, Expired. After each, and after an error of GetForUpdate's read, the
// transaction is as it was before the call, with the locks of then, and may go on or be rolled
// back; to let others in after a deadlock, roll it back. After Commit, and after Rollback of what
// was prepared, calls that write or lock are InvalidArgument.
//
// InvalidArgument, with nothing changed: a column family handle or a snapshot of another database;
// a write or lock in a column family that was dropped (which can be read); UndoGetForUpdate does
// nothing then. ShutdownInProgress: the database is closed.
//
// Column families whose comparator has timestamps, of 8 bytes (as BytewiseComparatorWithU64Ts;
// other sizes, and OptimisticTransactionDB: NotSupported): keys are given without, and all get that
// of SetCommitTimestamp when the transaction commits. Locks are those of keys without timestamp.
// Reads need ReadOptions::timestamp, and see the transaction's own writes whatever it is.
//
// Thread safety: one thread at a time, but for GetID, GetState, GetName and GetWaitingTxns.
class VARVE_EXPORT Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction() = default;

  // ---- Snapshots ----

  // From now on writes and GetForUpdate fail for keys that others change after this moment.
  // Replaces an earlier snapshot; keys that were checked against that are not checked again. If
  // there is no memory for one, the transaction has none, and calls that write or lock, Prepare and
  // Commit are Aborted with IsMemoryLimit until SetSnapshot, SetSnapshotOnNextOperation or
  // ClearSnapshot is called.
  virtual void SetSnapshot() = 0;
  // The same before the next write, GetForUpdate or Commit, after that has its lock. `notifier` may
  // be null. Until then GetSnapshot returns the snapshot of before. An operation that is refused
  // takes none; one that cannot have it is Aborted with IsMemoryLimit.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;
  // nullptr if there is none. Valid until the transaction ends, or its snapshot is another.
  virtual const Snapshot* GetSnapshot() const = 0;
  // The same, but valid as long as it is held; the database outlives it.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;
  // Ends the checks, and what SetSnapshotOnNextOperation announced.
  virtual void ClearSnapshot() = 0;

  // ---- The end ----

  // First phase of two, of a transaction with a name: logs the updates, whatever
  // WriteOptions::disableWAL says, durably with WriteOptions::sync. After OK the transaction is
  // PREPARED. It can only be committed or rolled back then, does not expire, and is found again
  // after a crash, locks included (TransactionDB::GetAllPreparedTransactions). If it is deleted
  // instead, or begun anew, what it has prepared stays undecided, and all that it had locked stays
  // locked, until the database is opened again and finds it. The log that holds it stays
  // (property "varve.prepared-transactions"). InvalidArgument: it has no name, or is prepared; the
  // database was opened without DBOptions::allow_2pc; OptimisticTransactionDB.
  virtual Status Prepare() = 0;

  // Makes the writes visible, and ends the transaction. Expired: the expiration is over, or locks
  // were taken by others; nothing is written. Busy (OptimisticTransactionDB): a key has changed
  // since the transaction read or wrote it. In both cases, and when the write itself fails, the
  // transaction still has its updates and is to be rolled back. One that is prepared stays so when
  // Commit fails, and may be committed later; with disableWAL that is InvalidArgument.
  virtual Status Commit() = 0;

  // SetCommitTimestamp(ts), unless `ts` is kMaxTxnTimestamp, then Commit, then the database's
  // snapshot with the commit's timestamp (TransactionDB::CreateTimestampedSnapshot), which shows
  // the commit and whatever else was committed by then; the notifier, unless it is null, is told of
  // it. *snapshot (which may be null) is nullptr if there can be no such snapshot; the status is
  // the commit's. InvalidArgument: a snapshot is asked for, and there is no commit timestamp, or it
  // is another one than `ts`. OptimisticTransactionDB: NotSupported if that is asked for, by `ts`
  // or `snapshot`.
  virtual Status CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier = nullptr,
                                            TxnTimestamp ts = kMaxTxnTimestamp,
                                            std::shared_ptr<const Snapshot>* snapshot = nullptr);

  // Forgets the writes, and gives all locks up. The transaction may go on then, unless it was
  // prepared: of such a one it is logged; if that fails, it stays prepared. One that goes on keeps
  // its name, its snapshot, also an announced one, and its read timestamp, so what it does then is
  // checked as before; it has no commit timestamp any more.
  virtual Status Rollback() = 0;

  // ---- Save points: a stack of states to return to ----

  virtual void SetSavePoint() = 0;
  // Undoes all writes since the newest save point, gives up locks that nothing before it needs, and
  // sets the snapshot to that of then. A lock that was made exclusive since stays exclusive.
  // NotFound without a save point.
  virtual Status RollbackToSavePoint() = 0;
  // Forgets the newest save point, and nothing else. NotFound without one.
  virtual Status PopSavePoint() = 0;

  // ---- Reading: the transaction's own writes over the database ----

  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* pinnable_val) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* pinnable_val) = 0;

  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_family,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                        bool sorted_input = false) const = 0;

  // Get of a key that is locked first, shared unless `exclusive`, whether it exists or not; so it
  // stays as it is for others until the end of the transaction. `value` may be null: nothing is
  // read then. Without `do_validate` the newest value is returned even where somebody changed it
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

  // All keys are locked exclusively, then read. If one lock is not had, all keys get its status,
  // and no lock that this call took stays (in RocksDB they do). An error of a read is its key's
  // alone, and the locks stay.
  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                                const std::vector<Slice>& keys,
                                                std::vector<std::string>* values) = 0;

  // Takes back one GetForUpdate of the key. The lock is given up with the last one, unless the key
  // was written, or locked before the newest save point.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // To be deleted by the caller; after the transaction has gone that is all that may be done with
  // it. Keys that are written ahead of its
  // position are seen; writing the key it is on invalidates key() and value(), and ending or
  // rolling back invalidates the iterator.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;
  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;

  // Locks all keys from start_endp to end_endp exclusively, both ends included, those that do not
  // exist too. Any number of ranges may be locked: each takes O(log n) comparisons.
  // InvalidArgument: the end is before the beginning. With a snapshot the keys in it are not
  // checked against it: read them at ReadOptions::snapshot nullptr.
  virtual Status GetRangeLock(ColumnFamilyHandle* column_family, const Endpoint& start_endp,
                              const Endpoint& end_endp) = 0;

  // ---- Writing ----
  //
  // assume_tracked: the caller says that the key is locked already, and exclusively, so that it
  // need not be locked and checked again; InvalidArgument if that is not so.
  //
  // The ...Untracked forms do not check the key against the snapshot. TransactionDB locks it all
  // the same; OptimisticTransactionDB overlooks conflicts on it.

  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                     bool assume_tracked = false) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value, bool assume_tracked = false) = 0;
  virtual Status Put(const SliceParts& key, const SliceParts& value) = 0;

  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                       bool assume_tracked = false) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;

  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key,
                        bool assume_tracked = false) = 0;
  virtual Status Delete(const SliceParts& key) = 0;

  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key,
                              bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const SliceParts& key) = 0;

  // Deletes [begin_key, end_key), after it has locked the range. RocksDB has no such call. Commit
  // of OptimisticTransactionDB deletes whatever is there by then: the range is not checked.
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key) = 0;

  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& value) = 0;
  virtual Status PutUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(ColumnFamilyHandle* column_family, const SliceParts& key,
                              const SliceParts& value) = 0;
  virtual Status PutUntracked(const SliceParts& key, const SliceParts& value) = 0;
  virtual Status MergeUntracked(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) = 0;
  virtual Status MergeUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status DeleteUntracked(const Slice& key) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family, const SliceParts& key) = 0;
  virtual Status DeleteUntracked(const SliceParts& key) = 0;
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDeleteUntracked(const Slice& key) = 0;

  // Goes to the log with the transaction; nobody reads it back. Beyond max_write_batch_size, or
  // without memory, it is not taken, and calls that write or lock, Prepare and Commit are Aborted
  // with IsMemoryLimit, until Rollback, or RollbackToSavePoint to one that was set before.
  virtual void PutLogData(const Slice& blob) = 0;

  // Between the two calls writes are not seen by the transaction's own reads; that is cheaper.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // ---- What it has ----

  virtual uint64_t GetNumKeys() const = 0;  // locked or tracked
  // Updates since the beginning, without those that were rolled back.
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;
  virtual uint64_t GetElapsedTime() const = 0;  // milliseconds since the beginning

  // Owned by the transaction. What is added to it directly is neither locked nor checked.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;
  // Updates that only a prepared transaction may have: Commit writes them before all others. They
  // are neither locked nor prepared.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;
  // Adds the updates of a batch, locked and checked as if they were made one by one. Nothing takes
  // those back that were added before one failed.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;

  // Milliseconds that a lock is waited for; 0: not at all; negative: for ever.
  virtual void SetLockTimeout(int64_t timeout) = 0;
  // Milliseconds of waiting before a deadlock is looked for.
  virtual void SetDeadlockTimeout(int64_t timeout_ms) = 0;

  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Of 1 to 512 bytes, used by no other transaction of the database: InvalidArgument otherwise, and
  // when the transaction has a name, is prepared or has ended.
  virtual Status SetName(const TransactionName& name) = 0;
  virtual TransactionName GetName() const = 0;

  // Of this object's current transaction, unique within the process; 0: optimistic.
  virtual TransactionID GetID() const = 0;
  virtual bool IsDeadlockDetect() const = 0;
  // Whom the transaction waits for, or waited for when it last ran into its timeout; empty: nobody.
  // The column family and the key may be null.
  virtual std::vector<TransactionID> GetWaitingTxns(uint32_t* column_family_id,
                                                    std::string* key) const = 0;

  enum TransactionState {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };
  virtual TransactionState GetState() const = 0;

  // The sequence number of the commit; 0: not committed.
  virtual uint64_t GetId() const = 0;
  // The log that holds what is prepared; 0: nothing is.
  virtual uint64_t GetLogNumber() const { return 0; }

  // What the transaction has read is as of this timestamp: from now on writes and GetForUpdate are
  // Busy for keys, of column families with timestamps, that have a newer one, and for all of a
  // family whose full_history_ts_low is above it. GetForUpdate reads as
  // of it, and is InvalidArgument with another ReadOptions::timestamp, with do_validate = false,
  // or, with do_validate, before this call. TransactionDBOptions::enable_udt_validation turns all
  // that off. InvalidArgument: below an earlier one, or not below the commit's.
  virtual Status SetReadTimestampForValidation(TxnTimestamp ts);
  // Before Commit, if any column family that it writes to has timestamps; may be called again.
  // InvalidArgument: not above that of the reads.
  virtual Status SetCommitTimestamp(TxnTimestamp ts);
  // kMaxTxnTimestamp: none was set.
  virtual TxnTimestamp GetCommitTimestamp() const { return kMaxTxnTimestamp; }

 protected:
  Transaction() = default;
};

}  // namespace varve
