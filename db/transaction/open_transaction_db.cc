// SPDX-License-Identifier: Apache-2.0

// Implements TransactionDB::Open and the calls that wrap an open database.

#include <memory>

#include "db/transaction/pessimistic_transaction_db.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Wraps an open database. The prepared transactions of its recovery are adopted before the wrapper
// exists, so the program cannot begin one that locks their keys before. The wrapper owns `db` from
// its construction on; after an error `db` still belongs to the caller.
Status Wrap(DB* db, const TransactionDBOptions& options, TransactionDB** dbptr) try {
  if (db == nullptr || dbptr == nullptr) {
    return Status::InvalidArgument("TransactionDB: a pointer is null");
  }
  *dbptr = nullptr;
  VARVE_RETURN_IF_ERROR(CheckTransactionDBOptions(options, db->GetDBOptions()));
  auto* const host = dynamic_cast<TransactionHost*>(db->GetRootDB());
  if (host == nullptr) return Status::InvalidArgument("TransactionDB: this is no database");
  auto registry = PessimisticTransactionDB::NewRegistry(options);
  VARVE_RETURN_IF_ERROR(PessimisticTransactionDB::AdoptPrepared(db, host, options, registry.get()));
  *dbptr = new PessimisticTransactionDB(db, host, options, std::move(registry));
  return Status::OK();
} catch (...) {
  return CaughtException();
}

void DeleteAll(std::vector<ColumnFamilyHandle*>* handles) {
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
}

}  // namespace

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname, TransactionDB** dbptr) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), txn_db_options, dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr);
  DeleteAll(&handles);  // The database has its own handle.
  return s;
} catch (...) {
  return CaughtException();
}

Status TransactionDB::Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr) try {
  if (handles == nullptr || dbptr == nullptr) {
    return Status::InvalidArgument("TransactionDB::Open: a pointer is null");
  }
  *dbptr = nullptr;
  VARVE_RETURN_IF_ERROR(CheckTransactionDBOptions(txn_db_options, db_options));
  // With allow_2pc logs are kept until the transactions that are prepared in them are decided.
  DBOptions with_2pc = db_options;
  with_2pc.allow_2pc = true;
  std::unique_ptr<DB> db;
  VARVE_RETURN_IF_ERROR(OpenIdle(with_2pc, dbname, column_families, handles, &db));
  auto* const host = dynamic_cast<TransactionHost*>(db.get());
  Status s = Wrap(db.get(), txn_db_options, dbptr);
  if (s.ok()) {
    (void)db.release();
    // Jobs may call the program's listeners, and these the TransactionDB, so they begin when *dbptr
    // is set.
    s = Guarded([host] { host->StartWork(); });
    if (s.ok()) return s;
    DeleteAll(handles);
    delete *dbptr;
    *dbptr = nullptr;
    return s;
  }
  DeleteAll(handles);
  return s;
} catch (...) {
  return CaughtException();
}

void TransactionDB::PrepareWrap(DBOptions* db_options,
                                std::vector<ColumnFamilyDescriptor>* /*column_families*/,
                                std::vector<size_t>* compaction_enabled_cf_indices) {
  db_options->allow_2pc = true;
  compaction_enabled_cf_indices->clear();
}

Status TransactionDB::WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                             const std::vector<size_t>& /*compaction_enabled_cf_indices*/,
                             const std::vector<ColumnFamilyHandle*>& /*handles*/,
                             TransactionDB** dbptr) {
  return Wrap(db, txn_db_options, dbptr);
}

Status TransactionDB::WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                      const std::vector<size_t>& /*compaction_enabled_cf_indices*/,
                                      const std::vector<ColumnFamilyHandle*>& /*handles*/,
                                      TransactionDB** dbptr) {
  return Wrap(db, txn_db_options, dbptr);
}

}  // namespace varve
