// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionDB is a database whose transactions lock the keys that they write, and on request
// those that they read.
//
//   varve::TransactionDB* db = nullptr;
//   varve::Status s =
//       varve::TransactionDB::Open(options, varve::TransactionDBOptions(), "my.db", &db);

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/export.h"
#include "varve/utilities/stackable_db.h"
#include "varve/utilities/transaction.h"
#include "varve/utilities/transaction_db_mutex.h"

namespace varve {

class LockManagerHandle;
class SecondaryIndex;
class TransactionDB;

// Says when RocksDB inserts a transaction's updates into memtables. Varve does so at Commit under
// both supported policies, so that readers never encounter undecided updates.
enum TxnDBWritePolicy {
  // RocksDB inserts them at Commit.
  WRITE_COMMITTED = 0,
  // RocksDB inserts them at Prepare. It is the only policy that goes with
  // DBOptions::unordered_write.
  WRITE_PREPARED,
  // RocksDB inserts them as soon as they are many. NotSupported here.
  WRITE_UNPREPARED,
};

// Initial size of the buffer of GetDeadlockInfoBuffer.
inline constexpr uint32_t kInitialMaxDeadlocks = 5;

// Options of a database with pessimistic transactions, fixed while it is open. "Refused" and
// "Advisory", here and below, are explained in advanced_options.h: an advisory option has no
// effect.
struct TransactionDBOptions {
  // Number of keys and key ranges of a column family that may be locked at a time; a further lock
  // is Aborted with IsLockLimit. Prepared transactions found by an opening are locked regardless of
  // the limit, but count. No limit unless positive.
  int64_t max_num_locks = -1;

  // Number of deadlocks that GetDeadlockInfoBuffer remembers.
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;

  // Minimum number of parts of the lock table that are used concurrently. It is rounded up to a
  // power of two, and is at least 64 and at most 65,536.
  size_t num_stripes = 16;

  // Default of the milliseconds that a transaction waits for a lock. 0: does not wait; negative:
  // waits for ever.
  int64_t transaction_lock_timeout = 1000;

  // Like transaction_lock_timeout, for writes without a transaction. If negative, they may wait for
  // each other for ever, because deadlocks among them are not detected.
  int64_t default_lock_timeout = 1000;

  // Makes the mutexes and condition variables with which transactions wait for locks; nullptr:
  // those of the C++ library.
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;

  // RocksDB's policy. Both supported ones work alike (TxnDBWritePolicy), but unordered_write needs
  // WRITE_PREPARED; WRITE_UNPREPARED is NotSupported. A database may change its policy at any
  // opening. In the log, prepared transactions have the marks of WRITE_COMMITTED under either
  // policy: while one is undecided, or its log is not flushed, RocksDB opens the directory with
  // that policy only.
  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;

  // Advisory: uncommitted updates are in no memtable, and need no rollback.
  bool rollback_merge_operands = false;

  // Refused unless nullptr, as NotSupported: GetRangeLock works without it.
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;

  // Advisory: each key always has its own queue.
  bool use_per_key_point_lock_mgr = false;

  // If true, writes without a transaction take no locks. For programs whose writes never conflict.
  bool skip_concurrency_control = false;

  // Advisory: for WRITE_UNPREPARED.
  int64_t default_write_batch_flush_threshold = 0;

  // Advisory: for the policies that write before Commit.
  std::function<bool(TransactionDB*, ColumnFamilyHandle*, const Slice&)>
      rollback_deletion_type_callback;

  // If true, keys of column families with timestamps are checked against the transaction's read
  // timestamp if it has one (Transaction::SetReadTimestampForValidation), and GetForUpdate must
  // read at it.
  bool enable_udt_validation = true;

  // Refused unless empty, as NotSupported: there are no indexes on values.
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;

  // Advisory: a commit always inserts into the memtable.
  uint32_t txn_commit_bypass_memtable_threshold = UINT32_MAX;
};

// Options of one transaction, fixed from its beginning on.
struct TransactionOptions {
  // If true, the transaction begins with SetSnapshot().
  bool set_snapshot = false;

  // If true, a wait that can never end fails with Busy and IsDeadlock instead of timing out. Only
  // transactions with this option search for deadlocks, while they wait.
  bool deadlock_detect = false;

  // Advisory: a commit-time batch is recovered like all other updates.
  bool use_only_the_last_commit_time_batch_for_recovery = false;

  // Milliseconds to wait for a lock; negative: the database's transaction_lock_timeout.
  int64_t lock_timeout = -1;

  // Microseconds of waiting after which a deadlock is searched for.
  int64_t deadlock_timeout_us = 500;

  // Milliseconds from the beginning after which the transaction cannot be committed, and others may
  // take its locks. Never unless positive.
  int64_t expiration = -1;

  // Maximum number of transactions that a deadlock search visits; beyond it a deadlock is assumed.
  int64_t deadlock_detect_depth = 50;

  // Maximum bytes of updates; a further one is Aborted with IsMemoryLimit. 0: no limit.
  size_t max_write_batch_size = 0;

  // If true, the transaction takes no locks and makes no checks. For programs whose transactions
  // never conflict.
  bool skip_concurrency_control = false;

  // If false, Commit without Prepare is InvalidArgument with IsTxnNotPrepared.
  bool skip_prepare = true;

  // Advisory: for WRITE_UNPREPARED.
  int64_t write_batch_flush_threshold = -1;

  // Advisory: a batch always knows the sizes of its timestamps.
  bool write_batch_track_timestamp_size = false;

  // Advisory: a commit always inserts into the memtable.
  bool commit_bypass_memtable = false;
  // Advisory: a commit always inserts into the memtable.
  uint32_t large_txn_commit_optimize_threshold = 0;
  // Advisory: a commit always inserts into the memtable.
  uint64_t large_txn_commit_optimize_byte_threshold = 0;
};

// Guarantees that the caller of Write gives about its batch.
struct TransactionDBWriteOptimizations {
  // No other thread writes these keys meanwhile, so that no locks are taken.
  bool skip_concurrency_control = false;

  // No key occurs twice in the batch. Advisory: RocksDB uses it with WRITE_PREPARED.
  bool skip_duplicate_key_check = false;
};

// Describes the lock of one key: its holders, and whether it is exclusive.
struct KeyLockInfo {
  std::string key;
  // Ids of the holders.
  std::vector<TransactionID> ids;
  bool exclusive = false;
};

// A waiting transaction, the key it waits for, and the mode of the lock.
struct DeadlockInfo {
  TransactionID m_txn_id = 0;
  uint32_t m_cf_id = 0;
  bool m_exclusive = false;
  std::string m_waiting_key;  // The beginning, if it is a range.
};

// A cycle: each transaction waits for the next one, and the last, whose wait failed, for the first.
// Empty if the deadlock was only assumed, after deadlock_detect_depth.
struct DeadlockPath {
  DeadlockPath() = default;
  DeadlockPath(std::vector<DeadlockInfo> path_entry, int64_t dl_time)
      : path(std::move(path_entry)), deadlock_time(dl_time) {}
  explicit DeadlockPath(int64_t dl_time, bool limit)
      : limit_exceeded(limit), deadlock_time(dl_time) {}

  bool empty() const { return path.empty() && !limit_exceeded; }

  std::vector<DeadlockInfo> path;
  bool limit_exceeded = false;
  int64_t deadlock_time = 0;  // Seconds since 1970.
};

// Put, Delete, SingleDelete, Merge, DeleteRange and Write lock their keys and ranges while they
// write, like a transaction of their own: they wait for transactions up to default_lock_timeout.
// The keys of a batch are locked in one global order, so such writes do not deadlock with each
// other. Writes to GetBaseDB() take no locks; transactions with a snapshot detect them.
//
// Reads take no locks. All transactions must be deleted before the database.
//
// Thread safety: as DB.
class VARVE_EXPORT TransactionDB : public StackableDB {
 public:
  // Open a database as DB::Open does, with DBOptions::allow_2pc; on success the caller owns *dbptr
  // and *handles, otherwise *dbptr is null. They recover prepared, undecided transactions with
  // their locks; if there is no memory for these, the opening fails and names the transaction.
  // NotSupported, with nothing opened: an option of TransactionDBOptions is refused, or
  // unordered_write is set without WRITE_PREPARED. InvalidArgument: a pointer is null. Otherwise
  // the errors of DB::Open.
  static Status Open(const Options& options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr);

  // Sets the options that a database to be wrapped needs: allow_2pc. *compaction_enabled_cf_indices
  // stays empty, because no compaction has to be delayed until the wrapping.
  static void PrepareWrap(DBOptions* db_options,
                          std::vector<ColumnFamilyDescriptor>* column_families,
                          std::vector<size_t>* compaction_enabled_cf_indices);
  // Wrap an open database, which *dbptr owns on success only. The other lists are those of
  // PrepareWrap. Errors are those of Open; and without the options of PrepareWrap, Prepare returns
  // InvalidArgument later.
  static Status WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                       const std::vector<size_t>& compaction_enabled_cf_indices,
                       const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** dbptr);
  static Status WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                const std::vector<size_t>& compaction_enabled_cf_indices,
                                const std::vector<ColumnFamilyHandle*>& handles,
                                TransactionDB** dbptr);

  ~TransactionDB() override = default;

  using StackableDB::Write;
  // Writes a batch like DB::Write, with what the caller guarantees about it.
  virtual Status Write(const WriteOptions& opts,
                       const TransactionDBWriteOptimizations& optimizations,
                       WriteBatch* updates) = 0;

  // Begins a transaction, which the caller must delete. If `old_txn` is not null, it is reused and
  // returned: it is rolled back, but its prepared updates stay undecided and locked as if it were
  // deleted (Transaction::Prepare). Returns nullptr if memory is out, or if old_txn is not a
  // transaction of this database.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  // Returns the transaction with this name (Transaction::SetName), which its creator owns; nullptr
  // if there is none.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Sets *trans to the transactions in the state PREPARED. The caller who decides one that Open has
  // recovered must delete it; those that are not requested are destroyed with the database,
  // undecided.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // Returns, by column family id, one row per locked key, each as it was at some moment of the
  // call. Range locks are not included.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() = 0;

  // Returns the deadlocks, newest first.
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  // Sets the number of deadlocks that are remembered; the oldest beyond it are forgotten.
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // Timestamped snapshots are held by the database under timestamps that the caller chooses, in the
  // order of the states that they show. They are released by ReleaseTimestampedSnapshotsOlderThan,
  // or with the database, which must outlive those returned to callers. DB::Close counts them as
  // held.

  // Takes a snapshot of the present state, or returns the existing one if nothing was written
  // since. InvalidArgument: there is one with a later timestamp, or with this timestamp and an
  // earlier state; or `ts` is kMaxTxnTimestamp.
  virtual std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp ts) = 0;
  // Returns the snapshot with this timestamp, or, for kMaxTxnTimestamp, the one with the latest;
  // nullptr if there is none.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const = 0;
  // Returns the snapshot with the latest timestamp; nullptr if there is none.
  std::shared_ptr<const Snapshot> GetLatestTimestampedSnapshot() const {
    return GetTimestampedSnapshot(kMaxTxnTimestamp);
  }
  // Sets `snapshots` to all of them, in ascending order of their timestamps.
  virtual Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const = 0;
  // Sets `snapshots` to those with timestamps in [ts_lb, ts_ub), in ascending order.
  // InvalidArgument: ts_lb is not below ts_ub.
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const = 0;
  // Releases the database's hold on snapshots with smaller timestamps. A snapshot that a caller
  // still has stays valid.
  virtual void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) = 0;

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace varve
