// SPDX-License-Identifier: Apache-2.0
#pragma once

// OptimisticTransactionDB: transactions that lock nothing, and are refused by Commit if what they
// read for update or wrote has changed.

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

struct OptimisticTransactionOptions {
  // SetSnapshot() at the beginning.
  bool set_snapshot = false;

  // Advisory: keys are compared as their column family does.
  const Comparator* cmp = BytewiseComparator();
};

// How commits are ordered among each other in RocksDB. Varve checks a commit where it gets its
// place in the order of all writes, whichever is chosen.
enum class OccValidationPolicy {
  kValidateSerial = 0,
  kValidateParallel = 1,
};

// What several databases may share in RocksDB. Varve has one small table in each.
class VARVE_EXPORT OccLockBuckets {
 public:
  virtual ~OccLockBuckets() = default;

  virtual size_t ApproximateMemoryUsage() const = 0;
};

// InvalidArgument does not exist here: any `bucket_count` will do.
VARVE_EXPORT std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count,
                                                                      bool cache_aligned = false);

struct OptimisticTransactionDBOptions {
  // Advisory: both answer alike.
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;

  // Advisory: commits take no locks by key.
  uint32_t occ_lock_buckets = 1 << 20;

  // Advisory: the same.
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

// Writes without a transaction, to this database or to GetBaseDB(), are seen by the checks of
// commits, range deletions too.
//
// Transactions have no names, no locks, and no two phases: those calls are InvalidArgument or
// NotSupported. They are to be deleted before the database.
//
// Thread safety: as DB.
class VARVE_EXPORT OptimisticTransactionDB : public StackableDB {
 public:
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

  // A transaction, to be deleted by the caller. `old_txn`, unless null, is used again for it.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

 protected:
  explicit OptimisticTransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace varve
