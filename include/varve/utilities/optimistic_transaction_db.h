// SPDX-License-Identifier: Apache-2.0
#pragma once

// OptimisticTransactionDB is a database whose transactions take no locks. Commit fails if a key
// that the transaction wrote or read for update has changed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/export.h"
#include "varve/utilities/stackable_db.h"
#include "varve/utilities/transaction.h"

namespace varve {

// Options of one transaction. "Advisory", here and below, marks options that have no effect
// (advanced_options.h).
struct OptimisticTransactionOptions {
  // If true, the transaction begins with SetSnapshot().
  bool set_snapshot = false;

  // Advisory: keys are compared as their column family does.
  const Comparator* cmp = BytewiseComparator();
};

// Says how RocksDB orders commits among each other. Varve checks a commit at its place in the order
// of all writes, with either policy.
enum class OccValidationPolicy {
  kValidateSerial = 0,
  kValidateParallel = 1,
};

// Lock buckets that several databases can share in RocksDB. In Varve each database has a small
// table of its own.
class VARVE_EXPORT OccLockBuckets {
 public:
  virtual ~OccLockBuckets() = default;

  // Returns the bytes of the buckets.
  virtual size_t ApproximateMemoryUsage() const = 0;
};

// Returns an object for OptimisticTransactionDBOptions::shared_lock_buckets. Any `bucket_count` is
// accepted; the arguments have no effect.
VARVE_EXPORT std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count,
                                                                      bool cache_aligned = false);

// Options of the database; none has an effect, as Varve validates without locks.
struct OptimisticTransactionDBOptions {
  // Advisory: both policies give the same results.
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;

  // Advisory: commits take no locks by key.
  uint32_t occ_lock_buckets = 1 << 20;

  // Advisory: commits take no locks by key.
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

// A database with optimistic transactions: they take no locks while they run, and their Commit is
// Busy if one of their keys has been changed since they read or wrote it. They suit programs whose
// transactions seldom meet; a program whose transactions often change the same keys fares better
// with TransactionDB.
//
// Commit also detects conflicts with writes outside transactions, to this database or to
// GetBaseDB(), range deletions included.
//
// Transactions have no names, no locks, and no two-phase commit: SetName and Prepare return
// InvalidArgument, GetRangeLock returns NotSupported. Transactions must be deleted before the
// database.
//
// Thread safety: as DB.
class VARVE_EXPORT OptimisticTransactionDB : public StackableDB {
 public:
  // Open a database as DB::Open does, and make it one of optimistic transactions. On success the
  // caller owns *dbptr and *handles. InvalidArgument for null pointers;
  // NotSupported with DBOptions::unordered_write.
  static Status Open(const Options& options, const std::string& dbname,
                     OptimisticTransactionDB** dbptr);
  static Status Open(const Options& options, const OptimisticTransactionDBOptions& occ_options,
                     const std::string& dbname, OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const OptimisticTransactionDBOptions& occ_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);

  ~OptimisticTransactionDB() override = default;

  // Begins a transaction, which the caller must delete. If `old_txn` is not null, it is rolled
  // back, reused and returned. Returns nullptr if memory is out, or if old_txn is not a transaction
  // of this database.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

 protected:
  explicit OptimisticTransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace varve
