// SPDX-License-Identifier: Apache-2.0

// Implements OptimisticTransactionDB: opens databases, and begins optimistic transactions.

#include <memory>
#include <utility>

#include "db/transaction/optimistic_transaction.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Begins transactions. Reads and writes without one go to the database beneath unchanged: Commit
// finds conflicts with them in the database's order of writes.
class OptimisticDb final : public OptimisticTransactionDB {
 public:
  OptimisticDb(DB* db, TransactionHost* host) : OptimisticTransactionDB(db), host_(host) {}

  Transaction* BeginTransaction(const WriteOptions& write_options,
                                const OptimisticTransactionOptions& txn_options,
                                Transaction* old_txn) override try {
    OptimisticTransaction* txn = nullptr;
    if (old_txn != nullptr) {
      txn = AsOwn<OptimisticTransaction>(old_txn, host_);
      if (txn == nullptr) return nullptr;
    }
    std::unique_ptr<OptimisticTransaction> made;
    if (txn == nullptr) {
      made = std::make_unique<OptimisticTransaction>(db_, host_);
      txn = made.get();
    }
    txn->Begin(write_options, txn_options);
    (void)made.release();
    return txn;
  } catch (...) {
    return nullptr;
  }

 private:
  TransactionHost* const host_;
};

// Stands for RocksDB's lock buckets, which programs may share between databases. Varve locks
// nothing: it checks a commit by the stamps of keys (db/write/key_stamps.h).
class NoBuckets final : public OccLockBuckets {
 public:
  size_t ApproximateMemoryUsage() const override { return sizeof(*this); }
};

}  // namespace

std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t /*bucket_count*/,
                                                         bool /*cache_aligned*/) {
  return std::make_shared<NoBuckets>();
}

Status OptimisticTransactionDB::Open(const Options& options, const std::string& dbname,
                                     OptimisticTransactionDB** dbptr) {
  return Open(options, OptimisticTransactionDBOptions(), dbname, dbptr);
}

Status OptimisticTransactionDB::Open(const Options& options,
                                     const OptimisticTransactionDBOptions& occ_options,
                                     const std::string& dbname,
                                     OptimisticTransactionDB** dbptr) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), occ_options, dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr);
  for (ColumnFamilyHandle* handle : handles) delete handle;  // The database has its own handle.
  return s;
} catch (...) {
  return CaughtException();
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options, const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) {
  return Open(db_options, OptimisticTransactionDBOptions(), dbname, column_families, handles,
              dbptr);
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options,
                                     const OptimisticTransactionDBOptions& /*occ_options*/,
                                     const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) try {
  if (handles == nullptr || dbptr == nullptr) {
    return Status::InvalidArgument("OptimisticTransactionDB::Open: a pointer is null");
  }
  *dbptr = nullptr;
  if (db_options.unordered_write) {
    return Status::NotSupported("OptimisticTransactionDB with DBOptions::unordered_write");
  }
  std::unique_ptr<DB> db;
  VARVE_RETURN_IF_ERROR(OpenIdle(db_options, dbname, column_families, handles, &db));
  auto* const host = dynamic_cast<TransactionHost*>(db->GetRootDB());
  // From WatchKeys on every write of the database is stamped, also those without a transaction. It
  // is called before a transaction can begin.
  Status s = host == nullptr ? Status::InvalidArgument("OptimisticTransactionDB: no database")
                             : Guarded([&] {
                                 host->WatchKeys();
                                 *dbptr = new OptimisticDb(db.get(), host);
                               });
  if (s.ok()) {
    (void)db.release();
    s = Guarded([host] { host->StartWork(); });
    if (s.ok()) return s;
    delete *dbptr;
    *dbptr = nullptr;
  }
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
