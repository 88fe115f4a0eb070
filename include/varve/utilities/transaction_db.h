// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionDB: a database whose transactions lock what they write, and what they read if they ask
// for it.

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

// When a transaction's updates get into memtables, in RocksDB. Here that is at Commit, so that no
// reader ever meets what is undecided, under either of the policies that are supported.
enum TxnDBWritePolicy {
  WRITE_COMMITTED = 0,  // at Commit
  WRITE_PREPARED,       // at Prepare; the only one that goes with DBOptions::unordered_write
  WRITE_UNPREPARED,     // as soon as they are many
};

// Length of GetDeadlockInfoBuffer's answer at first.
inline constexpr uint32_t kInitialMaxDeadlocks = 5;

struct TransactionDBOptions {
  // Keys, and ranges of keys, of a column family that may be locked at a time; a further one is
  // Aborted, with IsLockLimit. What an opening finds prepared is locked whatever this says, and
  // counts. Not positive: any number.
  int64_t max_num_locks = -1;

  // Deadlocks that GetDeadlockInfoBuffer remembers.
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;

  // Parts of the lock table that are used side by side: at least so many, rounded up to a power of
  // two, and never less than 64 or more than 65,536.
  size_t num_stripes = 16;

  // Milliseconds that a transaction waits for a lock unless it says otherwise. 0: not at all;
  // negative: for ever.
  int64_t transaction_lock_timeout = 1000;

  // The same for writes without a transaction. Negative: they may wait for each other for ever, as
  // no deadlock among them is found.
  int64_t default_lock_timeout = 1000;

  // What transactions sleep with while they wait for locks; nullptr: mutexes of the C++ library.
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;

  // WRITE_UNPREPARED is refused. A database may change its policy at any opening. Sections that
  // are prepared have the marks of WRITE_COMMITTED in the log under either: while any is undecided,
  // or in a log that is not flushed, RocksDB opens the directory with that policy only.
  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;

  // Advisory: what is not committed is in no memtable, and needs no rolling back.
  bool rollback_merge_operands = false;

  // Refused unless nullptr: GetRangeLock works without.
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;

  // Advisory: each key has its own queue always.
  bool use_per_key_point_lock_mgr = false;

  // Write without a transaction takes no locks. For programs whose writes never meet.
  bool skip_concurrency_control = false;

  // Advisory: for WRITE_UNPREPARED.
  int64_t default_write_batch_flush_threshold = 0;

  // Advisory: for the policies that write before Commit.
  std::function<bool(TransactionDB*, ColumnFamilyHandle*, const Slice&)>
      rollback_deletion_type_callback;

  // Whether keys of column families with timestamps are checked against the read timestamp of a
  // transaction that has one (Transaction::SetReadTimestampForValidation), and GetForUpdate is held
  // to it.
  bool enable_udt_validation = true;

  // Refused unless empty: indexes on values.
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;

  // Advisory: a commit always inserts into the memtable.
  uint32_t txn_commit_bypass_memtable_threshold = UINT32_MAX;
};

struct TransactionOptions {
  // SetSnapshot() at the beginning.
  bool set_snapshot = false;

  // Whether a wait that can never end fails as Busy, with IsDeadlock, instead of by its timeout. It
  // is looked for by transactions that ask for it, while they wait.
  bool deadlock_detect = false;

  // Advisory: what is in a commit-time batch is recovered as all else.
  bool use_only_the_last_commit_time_batch_for_recovery = false;

  // Milliseconds that a lock is waited for; negative: the database's transaction_lock_timeout.
  int64_t lock_timeout = -1;

  // Microseconds of waiting before a deadlock is looked for.
  int64_t deadlock_timeout_us = 500;

  // Milliseconds from the beginning after which nothing can be committed, and others may take the
  // locks. Not positive: never.
  int64_t expiration = -1;

  // Transactions that a search for a deadlock visits; if that is not enough, a deadlock is assumed.
  int64_t deadlock_detect_depth = 50;

  // Bytes of updates; a further one is Aborted, with IsMemoryLimit. 0: any number.
  size_t max_write_batch_size = 0;

  // No locks and no checks. For programs whose transactions never meet.
  bool skip_concurrency_control = false;

  // Whether Commit may come without Prepare; otherwise it is InvalidArgument, with
  // IsTxnNotPrepared.
  bool skip_prepare = true;

  // Advisory: for WRITE_UNPREPARED.
  int64_t write_batch_flush_threshold = -1;

  // Advisory: for timestamps.
  bool write_batch_track_timestamp_size = false;

  // Advisory: a commit always inserts into the memtable.
  bool commit_bypass_memtable = false;
  // Advisory: the same.
  uint32_t large_txn_commit_optimize_threshold = 0;
  // Advisory: the same.
  uint64_t large_txn_commit_optimize_byte_threshold = 0;
};

// What the caller of Write knows about its batch.
struct TransactionDBWriteOptimizations {
  // No locks are taken: nobody else writes these keys.
  bool skip_concurrency_control = false;

  // No key comes twice. Matters to WRITE_PREPARED only.
  bool skip_duplicate_key_check = false;
};

struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;
  bool exclusive = false;
};

// One who waits: for which key, and how.
struct DeadlockInfo {
  TransactionID m_txn_id = 0;
  uint32_t m_cf_id = 0;
  bool m_exclusive = false;
  std::string m_waiting_key;  // of a wait for a range: where that begins
};

// A cycle: each waits for the next one, and the last, whose wait was ended, for the first. Empty
// when it was only assumed, after deadlock_detect_depth.
struct DeadlockPath {
  DeadlockPath() = default;
  DeadlockPath(std::vector<DeadlockInfo> path_entry, int64_t dl_time)
      : path(std::move(path_entry)), deadlock_time(dl_time) {}
  explicit DeadlockPath(int64_t dl_time, bool limit)
      : limit_exceeded(limit), deadlock_time(dl_time) {}

  bool empty() const { return path.empty() && !limit_exceeded; }

  std::vector<DeadlockInfo> path;
  bool limit_exceeded = false;
  int64_t deadlock_time = 0;  // seconds since 1970
};

// Put, Delete, SingleDelete, Merge, DeleteRange and Write lock their keys and ranges while they
// write, as a transaction of their own: they wait for transactions, by default_lock_timeout.
// A batch is locked key by key in one order for all, so that such writes do not wait in cycles.
// Writes to GetBaseDB() take no locks; transactions with a snapshot see them.
//
// Reads take no locks. All transactions are to be deleted before the database.
//
// Thread safety: as DB.
class VARVE_EXPORT TransactionDB : public StackableDB {
 public:
  // Opens a database as DB::Open does, with DBOptions::allow_2pc. Transactions that were prepared
  // and not decided are there again, with their locks; if these cannot be taken, for want of
  // memory, the opening fails and names the transaction. InvalidArgument or NotSupported, with
  // nothing opened, for options that are not to be had.
  static Status Open(const Options& options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr);

  // Sets what databases that are to be wrapped need: allow_2pc. *compaction_enabled_cf_indices
  // stays empty: nothing has to be held back until the wrapping.
  static void PrepareWrap(DBOptions* db_options,
                          std::vector<ColumnFamilyDescriptor>* column_families,
                          std::vector<size_t>* compaction_enabled_cf_indices);
  // Takes an open database over, which then belongs to *dbptr, on success only. The other lists are
  // those of PrepareWrap.
  static Status WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                       const std::vector<size_t>& compaction_enabled_cf_indices,
                       const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** dbptr);
  static Status WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                const std::vector<size_t>& compaction_enabled_cf_indices,
                                const std::vector<ColumnFamilyHandle*>& handles,
                                TransactionDB** dbptr);

  ~TransactionDB() override = default;

  using StackableDB::Write;
  virtual Status Write(const WriteOptions& opts,
                       const TransactionDBWriteOptimizations& optimizations,
                       WriteBatch* updates) = 0;

  // A transaction, to be deleted by the caller. `old_txn`, unless null, is used again for it, and
  // returned: what it held is rolled back, but what it has prepared stays undecided, and locked, as
  // if it were deleted (Transaction::Prepare). It must come from this database. nullptr: options
  // or old_txn are not to be had.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  // nullptr: nobody has the name.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Those in the state PREPARED. The ones that Open has found in the logs are to be deleted by the
  // caller who decides them; what nobody asks for goes with the database, undecided.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // By column family id; one row a key that is locked, each of them as it was at some moment of the
  // call. Ranges are not among them.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() = 0;

  // Newest first.
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // Snapshots that the database holds by timestamps which the caller gives them, in the order of
  // the states that they show. They are released by ReleaseTimestampedSnapshotsOlderThan, or with
  // the database, which must outlive what is handed out. DB::Close counts them as held.

  // Of the present state; the one there is if nothing was written since it was made.
  // InvalidArgument: one with a later timestamp, or with this one and an earlier state, is there;
  // kMaxTxnTimestamp.
  virtual std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp ts) = 0;
  // nullptr: there is none.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const = 0;
  std::shared_ptr<const Snapshot> GetLatestTimestampedSnapshot() const {
    return GetTimestampedSnapshot(kMaxTxnTimestamp);
  }
  virtual Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const = 0;
  // From `ts_lb` to below `ts_ub`, in ascending order. InvalidArgument: that is nothing.
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const = 0;
  virtual void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) = 0;

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace varve
