// SPDX-License-Identifier: Apache-2.0
// Implements databases with transactions for the C API.
//
// A database with transactions is the C++ object, of which `rep` is a typed pointer, and a plain
// handle that owns it. Calls that do not differ go to the functions of the plain handle; only null
// is reported here, so that the message names the function that was called.
#include <cstdlib>
#include <memory>
#include <vector>

#include "db/api/c/c_open.h"
#include "db/api/c/c_transactions.h"

using varve::DB;
using varve::OptimisticTransactionDB;
using varve::Status;
using varve::Transaction;
using varve::TransactionDB;
using varve::c::FamilyArguments;
using varve::c::NullArgument;
using varve::c::OpenDefault;
using varve::c::OpenFamilies;
using varve::c::PlainDb;
using varve::c::StoreSize;
using varve::c::Try;

namespace {

// Returns the policy with the number. For any other number, and for WRITE_UNPREPARED, returns
// WRITE_UNPREPARED, with which Open is refused.
varve::TxnDBWritePolicy PolicyOf(int number) {
  for (const auto policy : {varve::WRITE_COMMITTED, varve::WRITE_PREPARED}) {
    if (number == policy) return policy;
  }
  return varve::WRITE_UNPREPARED;
}

varve::TransactionDBOptions OptionsOf(const rocksdb_transactiondb_options_t& options) {
  varve::TransactionDBOptions of = options.rep;
  of.write_policy = PolicyOf(options.write_policy);
  return of;
}

// Returns the handle of an opened database, or null after closing it again.
template <typename Handle, typename Database>
Handle* Wrapped(rocksdb_t* db, Database* opened) {
  // If the handle cannot be made the database is closed again.
  std::unique_ptr<rocksdb_t> owned(db);
  if (db == nullptr) return nullptr;
  return Try([&] { return new Handle{opened, std::move(owned)}; });
}

// Returns another handle of a database that has another owner.
template <typename Handle>
rocksdb_t* BaseOf(Handle* db) {
  if (db == nullptr) return nullptr;
  return Try([&] {
    auto base = std::make_unique<rocksdb_t>();
    // The second handle must never close the database: FreeBase takes the pointer out of it first.
    base->rep.reset(db->rep->GetBaseDB());
    return base.release();
  });
}

// Frees a handle of BaseOf and leaves the database open.
void FreeBase(rocksdb_t* base) {
  if (base == nullptr) return;
  (void)base->rep.release();
  delete base;
}

// Returns false for a null handle, which is reported under the function's own name.
template <typename Handle>
bool IsGiven(const Handle* db, char** errptr, const char* call = __builtin_FUNCTION()) {
  if (db != nullptr) return true;
  varve::c::SetError(errptr, NullArgument("db"), call);
  return false;
}

// Opens a database with the default family by open(options, name, &opened), and returns its handle;
// null after an error.
template <typename Handle, typename Database, typename Open>
Handle* OpenOne(const rocksdb_options_t* options, const char* name, char** errptr, Open open,
                const char* call = __builtin_FUNCTION()) {
  Database* opened = nullptr;
  rocksdb_t* const db = OpenDefault(
      options, name, errptr,
      [&](const auto& o, const std::string& n, rocksdb_t* handle) -> Status {
        Status s = open(o, n, &opened);
        handle->rep.reset(opened);
        return s;
      },
      call);
  return Wrapped<Handle>(db, opened);
}

// Opens a database with column families by open(options, name, descriptors, handles, &opened), and
// returns its handle; null after an error.
template <typename Handle, typename Database, typename Open>
Handle* OpenWithFamilies(const rocksdb_options_t* options, const char* name,
                         const FamilyArguments& families, char** errptr, Open open,
                         const char* call = __builtin_FUNCTION()) {
  Database* opened = nullptr;
  rocksdb_t* const db = OpenFamilies(
      options, name, families, errptr,
      [&](const auto& o, const std::string& n, const auto& descriptors, auto* handles,
          std::unique_ptr<DB>* place) -> Status {
        Status s = open(o, n, descriptors, handles, &opened);
        place->reset(opened);
        return s;
      },
      call);
  return Wrapped<Handle>(db, opened);
}

}  // namespace

// ---- Databases with locks ----

rocksdb_transactiondb_t* rocksdb_transactiondb_open(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* txn_db_options,
    const char* name, char** errptr) {
  return OpenOne<rocksdb_transactiondb_t, TransactionDB>(
      options, name, errptr, [&](const auto& o, const std::string& n, TransactionDB** db) {
        if (txn_db_options == nullptr) return NullArgument("txn_db_options");
        return TransactionDB::Open(o, OptionsOf(*txn_db_options), n, db);
      });
}

rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* txn_db_options,
    const char* name, int num_families, const char* const* family_names,
    const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
    char** errptr) {
  return OpenWithFamilies<rocksdb_transactiondb_t, TransactionDB>(
      options, name, {num_families, family_names, family_options, handles}, errptr,
      [&](const auto& o, const std::string& n, const auto& families, auto* opened,
          TransactionDB** db) {
        if (txn_db_options == nullptr) return NullArgument("txn_db_options");
        return TransactionDB::Open(o, OptionsOf(*txn_db_options), n, families, opened, db);
      });
}

void rocksdb_transactiondb_close(rocksdb_transactiondb_t* db) {
  delete db;
}

rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* db) {
  return BaseOf(db);
}

void rocksdb_transactiondb_close_base_db(rocksdb_t* base_db) {
  FreeBase(base_db);
}

// Each handle owns its transaction; rocksdb_free frees the list.
rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t* db,
                                                                        size_t* cnt) {
  StoreSize(cnt, 0);
  if (db == nullptr || cnt == nullptr) return nullptr;
  return Try([&]() -> rocksdb_transaction_t** {
    std::vector<Transaction*> prepared;
    db->rep->GetAllPreparedTransactions(&prepared);
    if (prepared.empty()) return nullptr;
    // All memory is taken before the transactions get their owners, as each may have only one.
    std::vector<std::unique_ptr<rocksdb_transaction_t>> handles(prepared.size());
    for (auto& handle : handles) handle = std::make_unique<rocksdb_transaction_t>();
    auto** const list = static_cast<rocksdb_transaction_t**>(
        std::malloc(prepared.size() * sizeof(rocksdb_transaction_t*)));
    if (list == nullptr) return nullptr;
    for (size_t i = 0; i < prepared.size(); i++) {
      handles[i]->rep.reset(prepared[i]);
      list[i] = handles[i].release();
    }
    StoreSize(cnt, prepared.size());
    return list;
  });
}

void rocksdb_transactiondb_put(rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
                               const char* key, size_t klen, const char* val, size_t vlen,
                               char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_put(PlainDb(db), options, key, klen, val, vlen, errptr);
}

void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* db,
                                  const rocksdb_writeoptions_t* options,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t klen, const char* val, size_t vlen, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_put_cf(PlainDb(db), options, family, key, klen, val, vlen, errptr);
}

void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
                                 const char* key, size_t klen, const char* val, size_t vlen,
                                 char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_merge(PlainDb(db), options, key, klen, val, vlen, errptr);
}

void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* db,
                                    const rocksdb_writeoptions_t* options,
                                    rocksdb_column_family_handle_t* family, const char* key,
                                    size_t klen, const char* val, size_t vlen, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_merge_cf(PlainDb(db), options, family, key, klen, val, vlen, errptr);
}

void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* db,
                                  const rocksdb_writeoptions_t* options, const char* key,
                                  size_t klen, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_delete(PlainDb(db), options, key, klen, errptr);
}

void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* db,
                                     const rocksdb_writeoptions_t* options,
                                     rocksdb_column_family_handle_t* family, const char* key,
                                     size_t klen, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_delete_cf(PlainDb(db), options, family, key, klen, errptr);
}

void rocksdb_transactiondb_write(rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_t* batch, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_write(PlainDb(db), options, batch, errptr);
}

char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
                                const char* key, size_t klen, size_t* vlen, char** errptr) {
  StoreSize(vlen, 0);
  if (!IsGiven(db, errptr)) return nullptr;
  return rocksdb_get(PlainDb(db), options, key, klen, vlen, errptr);
}

char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* db,
                                   const rocksdb_readoptions_t* options,
                                   rocksdb_column_family_handle_t* family, const char* key,
                                   size_t klen, size_t* vlen, char** errptr) {
  StoreSize(vlen, 0);
  if (!IsGiven(db, errptr)) return nullptr;
  return rocksdb_get_cf(PlainDb(db), options, family, key, klen, vlen, errptr);
}

rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t* db,
                                                          const rocksdb_readoptions_t* options,
                                                          const char* key, size_t klen,
                                                          char** errptr) {
  if (!IsGiven(db, errptr)) return nullptr;
  return rocksdb_get_pinned(PlainDb(db), options, key, klen, errptr);
}

rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t* db,
                                                             const rocksdb_readoptions_t* options,
                                                             rocksdb_column_family_handle_t* family,
                                                             const char* key, size_t klen,
                                                             char** errptr) {
  if (!IsGiven(db, errptr)) return nullptr;
  return rocksdb_get_pinned_cf(PlainDb(db), options, family, key, klen, errptr);
}

void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* db,
                                     const rocksdb_readoptions_t* options, size_t n,
                                     const char* const* keys, const size_t* sizes, char** values,
                                     size_t* value_sizes, char** errs) {
  rocksdb_multi_get(PlainDb(db), options, n, keys, sizes, values, value_sizes, errs);
}

void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t* db,
                                        const rocksdb_readoptions_t* options,
                                        const rocksdb_column_family_handle_t* const* families,
                                        size_t n, const char* const* keys, const size_t* sizes,
                                        char** values, size_t* value_sizes, char** errs) {
  rocksdb_multi_get_cf(PlainDb(db), options, families, n, keys, sizes, values, value_sizes, errs);
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t* db,
                                                          const rocksdb_readoptions_t* options) {
  return rocksdb_create_iterator(PlainDb(db), options);
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family) {
  return rocksdb_create_iterator_cf(PlainDb(db), options, family);
}

const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* db) {
  return rocksdb_create_snapshot(PlainDb(db));
}

void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* db,
                                            const rocksdb_snapshot_t* snapshot) {
  rocksdb_release_snapshot(PlainDb(db), snapshot);
}

char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* db, const char* propname) {
  return rocksdb_property_value(PlainDb(db), propname);
}

int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* db, const char* propname,
                                       uint64_t* out_val) {
  return rocksdb_property_int(PlainDb(db), propname, out_val);
}

void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* db, const rocksdb_flushoptions_t* options,
                                 char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_flush(PlainDb(db), options, errptr);
}

void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* db,
                                    const rocksdb_flushoptions_t* options,
                                    rocksdb_column_family_handle_t* family, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_flush_cf(PlainDb(db), options, family, errptr);
}

void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* db,
                                     const rocksdb_flushoptions_t* options,
                                     rocksdb_column_family_handle_t** families, int n,
                                     char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_flush_cfs(PlainDb(db), options, families, n, errptr);
}

void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* db, unsigned char sync,
                                     char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_flush_wal(PlainDb(db), sync, errptr);
}

void rocksdb_transactiondb_flush_wal_with_options(rocksdb_transactiondb_t* db,
                                                  const rocksdb_flushwaloptions_t* options,
                                                  char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_flush_wal_with_options(PlainDb(db), options, errptr);
}

rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(
    rocksdb_transactiondb_t* db, const rocksdb_options_t* options, const char* name,
    char** errptr) {
  if (!IsGiven(db, errptr)) return nullptr;
  return rocksdb_create_column_family(PlainDb(db), options, name, errptr);
}

// ---- Databases that check for conflicts at the end ----

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(
    const rocksdb_options_t* options, const char* name, char** errptr) {
  return OpenOne<rocksdb_optimistictransactiondb_t, OptimisticTransactionDB>(
      options, name, errptr, [](const auto& o, const std::string& n, auto** db) {
        return OptimisticTransactionDB::Open(o, n, db);
      });
}

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_with_otxn_db_options(
    const rocksdb_options_t* options,
    const rocksdb_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    char** errptr) {
  return OpenOne<rocksdb_optimistictransactiondb_t, OptimisticTransactionDB>(
      options, name, errptr, [&](const auto& o, const std::string& n, auto** db) {
        if (otxn_db_options == nullptr) return NullArgument("otxn_db_options");
        return OptimisticTransactionDB::Open(o, otxn_db_options->rep, n, db);
      });
}

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int num_families,
    const char* const* family_names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char** errptr) {
  return OpenWithFamilies<rocksdb_optimistictransactiondb_t, OptimisticTransactionDB>(
      options, name, {num_families, family_names, family_options, handles}, errptr,
      [](const auto& o, const std::string& n, const auto& families, auto* opened, auto** db) {
        return OptimisticTransactionDB::Open(o, n, families, opened, db);
      });
}

rocksdb_optimistictransactiondb_t*
rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const rocksdb_options_t* options,
    const rocksdb_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    int num_families, const char* const* family_names,
    const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
    char** errptr) {
  return OpenWithFamilies<rocksdb_optimistictransactiondb_t, OptimisticTransactionDB>(
      options, name, {num_families, family_names, family_options, handles}, errptr,
      [&](const auto& o, const std::string& n, const auto& families, auto* opened, auto** db) {
        if (otxn_db_options == nullptr) return NullArgument("otxn_db_options");
        return OptimisticTransactionDB::Open(o, otxn_db_options->rep, n, families, opened, db);
      });
}

void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* db) {
  delete db;
}

rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* db) {
  return BaseOf(db);
}

void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base_db) {
  FreeBase(base_db);
}

void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* db,
                                           const rocksdb_writeoptions_t* options,
                                           rocksdb_writebatch_t* batch, char** errptr) {
  if (!IsGiven(db, errptr)) return;
  rocksdb_write(PlainDb(db), options, batch, errptr);
}

char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t* db,
                                                     const char* propname) {
  return rocksdb_property_value(PlainDb(db), propname);
}

int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* db,
                                                 const char* propname, uint64_t* out_val) {
  return rocksdb_property_int(PlainDb(db), propname, out_val);
}
