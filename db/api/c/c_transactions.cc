// SPDX-License-Identifier: Apache-2.0
// Implements transactions for the C API.
//
// Some functions cannot report a failure: setting a timestamp, and updates through the batch of a
// transaction. The handle keeps such an error, and Prepare or Commit returns it. A rollback clears
// it.
#include "db/api/c/c_transactions.h"

#include <cstdlib>

#include "db/api/c/c_batch.h"
#include "db/api/c/c_results.h"
#include "util/base/assert.h"

using varve::ColumnFamilyHandle;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::Transaction;
using varve::c::BatchFailure;
using varve::c::CopyBytes;
using varve::c::Family;
using varve::c::kDefaultFamily;
using varve::c::NewIndexedBatchHandle;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::SetError;
using varve::c::SingleResult;
using varve::c::StoreSize;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

// Runs `body` on the transaction and the family. For &kDefaultFamily, the family that `body` is
// given is null, which stands for the default one.
template <typename Body>
bool RunOn(rocksdb_transaction_t* txn, const rocksdb_column_family_handle_t* family, char** errptr,
           Body body, const char* call) noexcept {
  const auto checked = [&]() -> Status {
    if (txn == nullptr) return NullArgument("transaction");
    if (family == nullptr) return NullArgument("family");
    return body(txn->rep.get(), family == &kDefaultFamily ? nullptr : Family(family));
  };
  return Run(errptr, checked, call);
}

// Runs `body` on the transaction alone.
template <typename Body>
bool RunOn(rocksdb_transaction_t* txn, char** errptr, Body body,
           const char* call = __builtin_FUNCTION()) noexcept {
  return RunOn(
      txn, &kDefaultFamily, errptr, [&](Transaction* t, ColumnFamilyHandle*) { return body(t); },
      call);
}

// Says if a key is read by Get or by GetForUpdate, and with which lock.
struct HowToRead {
  bool for_update = false;
  bool exclusive = true;
};

// Reads one key as `how` says.
Status Lookup(Transaction* txn, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family,
              const Slice& key, HowToRead how, PinnableSlice* value) {
  if (options == nullptr) return NullArgument("options");
  return how.for_update ? txn->GetForUpdate(options->rep, family, key, value, how.exclusive)
                        : txn->Get(options->rep, family, key, value);
}

// Returns a malloc'ed copy of the value and stores its length; null if the key is missing, or after
// an error.
char* CopyValue(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                const rocksdb_column_family_handle_t* family, const Slice& key, size_t* vlen,
                HowToRead how, char** errptr, const char* call = __builtin_FUNCTION()) {
  StoreSize(vlen, 0);
  char* copy = nullptr;
  const auto read = [&](Transaction* t, ColumnFamilyHandle* handle) -> Status {
    PinnableSlice value;
    Status s = Lookup(t, options, handle, key, how, &value);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    copy = CopyBytes(value);
    if (copy == nullptr) return Status::MemoryLimit();
    StoreSize(vlen, value.size());
    return s;
  };
  RunOn(txn, family, errptr, read, call);
  return copy;
}

// Returns a new handle with the value; null if the key is missing, without an error, or the read
// fails, with its error in *errptr.
rocksdb_pinnableslice_t* PinValue(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                  const rocksdb_column_family_handle_t* family, const Slice& key,
                                  HowToRead how, char** errptr,
                                  const char* call = __builtin_FUNCTION()) {
  rocksdb_pinnableslice_t* found = nullptr;
  const auto read = [&](Transaction* t, ColumnFamilyHandle* handle) -> Status {
    auto pinned = std::make_unique<SingleResult>();
    Status s = Lookup(t, options, handle, key, how, &pinned->rep);
    if (s.IsNotFound()) return Status::OK();
    if (s.ok()) found = pinned.release();
    return s;
  };
  RunOn(txn, family, errptr, read, call);
  return found;
}

// Holds the lists of one read of several keys.
struct KeyLists {
  size_t count;
  const char* const* keys;
  const size_t* sizes;
  char** values;
  size_t* value_sizes;
  char** errs;
};

// Reports `status` for each key, and leaves no values.
void FailAll(const KeyLists& lists, const Status& status, const char* call) {
  for (size_t i = 0; i < lists.count; ++i) {
    if (lists.values != nullptr) lists.values[i] = nullptr;
    if (lists.value_sizes != nullptr) lists.value_sizes[i] = 0;
    if (lists.errs == nullptr) continue;
    lists.errs[i] = nullptr;
    SetError(&lists.errs[i], status, call);
  }
}

// Sets, for each key, the malloc'ed value and its length, or null, and its error or null.
void CopyResults(const KeyLists& lists, const std::vector<Status>& statuses,
                 const std::vector<std::string>& values, const char* call) {
  for (size_t i = 0; i < lists.count; ++i) {
    Status s = statuses[i];
    lists.values[i] = s.ok() ? CopyBytes(values[i]) : nullptr;
    if (s.ok() && lists.values[i] == nullptr) s = Status::MemoryLimit();
    if (lists.value_sizes != nullptr) lists.value_sizes[i] = s.ok() ? values[i].size() : 0;
    lists.errs[i] = nullptr;
    if (!s.ok() && !s.IsNotFound()) SetError(&lists.errs[i], s, call);
  }
}

// Reads all keys of the lists; a failure of the call as a whole is reported for each key. Null
// `families` stand for the default one.
void MultiGet(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
              const rocksdb_column_family_handle_t* const* families, const KeyLists& lists,
              bool for_update, const char* call = __builtin_FUNCTION()) {
  try {
    if (txn == nullptr || options == nullptr || lists.keys == nullptr || lists.sizes == nullptr ||
        lists.values == nullptr || lists.errs == nullptr) {
      return FailAll(lists, NullArgument("transaction, options or a list"), call);
    }
    std::vector<Slice> keys;
    std::vector<ColumnFamilyHandle*> handles;
    for (size_t i = 0; i < lists.count; ++i) {
      keys.emplace_back(lists.keys[i], lists.sizes[i]);
      if (families == nullptr) continue;
      if (families[i] == nullptr) return FailAll(lists, NullArgument("family"), call);
      handles.push_back(Family(families[i]));
    }
    std::vector<std::string> values;
    Transaction& t = *txn->rep;
    const ReadOptions& o = options->rep;
    const std::vector<Status> statuses =
        families == nullptr
            ? (for_update ? t.MultiGetForUpdate(o, keys, &values) : t.MultiGet(o, keys, &values))
            : (for_update ? t.MultiGetForUpdate(o, handles, keys, &values)
                          : t.MultiGet(o, handles, keys, &values));
    CopyResults(lists, statuses, values, call);
  } catch (...) {
    FailAll(lists, varve::c::CaughtException(), call);
  }
}

// Returns an iterator of the transaction, or one that has only an error; null without memory.
rocksdb_iterator_t* NewIterator(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                const rocksdb_column_family_handle_t* family) {
  return Try([&]() -> rocksdb_iterator_t* {
    auto iter = std::make_unique<rocksdb_iterator_t>();
    if (txn == nullptr || options == nullptr || family == nullptr) {
      iter->rep.reset(varve::NewErrorIterator(NullArgument("transaction, options or family")));
      return iter.release();
    }
    varve::c::HoldOptions(iter.get(), options);
    ColumnFamilyHandle* const handle = family == &kDefaultFamily ? nullptr : Family(family);
    iter->rep.reset(txn->rep->GetIterator(options->rep, handle));
    return iter.release();
  });
}

// Returns the first error that the handle has kept, of calls without an errptr.
Status FailureOf(const rocksdb_transaction_t& transaction) {
  return transaction.failure.ok() ? transaction.batch_failure.status() : transaction.failure;
}

// Sets a timestamp by `set`, whose error is kept in the handle; a later call replaces it.
template <typename Set>
void NoteTimestamp(rocksdb_transaction_t* transaction, Set set) noexcept {
  if (transaction == nullptr) return;
  TryVoid([&] { transaction->failure = set(transaction->rep.get()); });
}

// Begins a transaction by begin(transaction to reuse, or null) and returns its handle, which is
// `old` if that is not null. Returns null if none could be begun.
template <typename Begin>
rocksdb_transaction_t* BeginWith(rocksdb_transaction_t* old, Begin begin) {
  return Try([&]() -> rocksdb_transaction_t* {
    if (old != nullptr) {
      // The object of the old transaction is begun again. The handle stays the same, without the
      // errors that it has kept of the old one.
      const Transaction* const again = begin(old->rep.get());
      VARVE_ASSERT(again == nullptr || again == old->rep.get());
      if (again == nullptr) return nullptr;
      old->batch_failure = BatchFailure();
      old->failure = Status::OK();
      return old;
    }
    auto handle = std::make_unique<rocksdb_transaction_t>();
    handle->rep.reset(begin(nullptr));
    return handle->rep == nullptr ? nullptr : handle.release();
  });
}

}  // namespace

// ---- Begin and end ----

rocksdb_transaction_t* rocksdb_transaction_begin(rocksdb_transactiondb_t* db,
                                                 const rocksdb_writeoptions_t* write_options,
                                                 const rocksdb_transaction_options_t* txn_options,
                                                 rocksdb_transaction_t* old_txn) {
  if (db == nullptr || write_options == nullptr || txn_options == nullptr) return nullptr;
  return BeginWith(old_txn, [&](Transaction* old) {
    return db->rep->BeginTransaction(write_options->rep, txn_options->rep, old);
  });
}

rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_optimistictransaction_options_t* otxn_options, rocksdb_transaction_t* old_txn) {
  if (db == nullptr || write_options == nullptr || otxn_options == nullptr) return nullptr;
  return BeginWith(old_txn, [&](Transaction* old) {
    return db->rep->BeginTransaction(write_options->rep, otxn_options->rep, old);
  });
}

void rocksdb_transaction_destroy(rocksdb_transaction_t* transaction) {
  delete transaction;
}

void rocksdb_transaction_prepare(rocksdb_transaction_t* transaction, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) {
    Status s = FailureOf(*transaction);
    return s.ok() ? t->Prepare() : s;
  });
}

void rocksdb_transaction_commit(rocksdb_transaction_t* transaction, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) {
    Status s = FailureOf(*transaction);
    return s.ok() ? t->Commit() : s;
  });
}

void rocksdb_transaction_rollback(rocksdb_transaction_t* transaction, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) {
    Status s = t->Rollback();
    if (s.ok()) {
      transaction->batch_failure = BatchFailure();
      transaction->failure = Status::OK();
    }
    return s;
  });
}

void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* transaction) {
  if (transaction == nullptr) return;
  TryVoid([&] {
    transaction->rep->SetSavePoint();
    transaction->batch_failure.SavePointSet();
  });
}

void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* transaction, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) {
    Status s = t->RollbackToSavePoint();
    if (s.ok()) transaction->batch_failure.RolledBack();
    return s;
  });
}

// ---- Names, snapshots, batches ----

void rocksdb_transaction_set_name(rocksdb_transaction_t* transaction, const char* name,
                                  size_t name_len, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) -> Status {
    if (name == nullptr) return NullArgument("name");
    return t->SetName(std::string(name, name_len));
  });
}

char* rocksdb_transaction_get_name(rocksdb_transaction_t* transaction, size_t* name_len) {
  StoreSize(name_len, 0);
  if (transaction == nullptr) return nullptr;
  return Try([&] {
    const std::string name = transaction->rep->GetName();
    StoreSize(name_len, name.size());
    return CopyBytes(name);
  });
}

// Programs free it by rocksdb_free.
const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* transaction) {
  if (transaction == nullptr) return nullptr;
  void* const place = std::malloc(sizeof(rocksdb_snapshot_t));
  if (place == nullptr) return nullptr;
  return new (place) rocksdb_snapshot_t{transaction->rep->GetSnapshot()};
}

void rocksdb_transaction_put_log_data(rocksdb_transaction_t* transaction, const char* blob,
                                      size_t len) {
  if (transaction != nullptr) TryVoid([&] { transaction->rep->PutLogData(Slice(blob, len)); });
}

void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* transaction,
                                                 rocksdb_writebatch_t* writebatch, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) -> Status {
    if (writebatch == nullptr) return NullArgument("writebatch");
    return writebatch->failure.status().ok() ? t->RebuildFromWriteBatch(&writebatch->rep)
                                             : writebatch->failure.status();
  });
}

void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* transaction,
                                                    rocksdb_writebatch_wi_t* wi, char** errptr) {
  RunOn(transaction, errptr, [&](Transaction* t) -> Status {
    if (wi == nullptr) return NullArgument("wi");
    if (!wi->failure.status().ok()) return wi->failure.status();
    return &wi->rep == t->GetWriteBatch()
               ? Status::InvalidArgument("the batch is the transaction's own")
               : t->RebuildFromWriteBatch(wi->rep.GetWriteBatch());
  });
}

rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t* transaction) {
  if (transaction == nullptr) return nullptr;
  return NewIndexedBatchHandle(transaction->rep->GetWriteBatch(), &transaction->batch_failure,
                               /*owned=*/nullptr);
}

void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t* transaction,
                                              uint64_t commit_timestamp) {
  NoteTimestamp(transaction,
                [&](Transaction* t) { return t->SetCommitTimestamp(commit_timestamp); });
}

void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t* transaction,
                                                           uint64_t read_timestamp) {
  NoteTimestamp(transaction,
                [&](Transaction* t) { return t->SetReadTimestampForValidation(read_timestamp); });
}

// ---- Writes ----

void rocksdb_transaction_put(rocksdb_transaction_t* transaction, const char* key, size_t klen,
                             const char* val, size_t vlen, char** errptr) {
  RunOn(
      transaction, &kDefaultFamily, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) {
        return t->Put(in, Slice(key, klen), Slice(val, vlen));
      },
      __func__);
}

void rocksdb_transaction_put_cf(rocksdb_transaction_t* transaction,
                                rocksdb_column_family_handle_t* family, const char* key,
                                size_t klen, const char* val, size_t vlen, char** errptr) {
  RunOn(
      transaction, family, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) {
        return t->Put(in, Slice(key, klen), Slice(val, vlen));
      },
      __func__);
}

void rocksdb_transaction_merge(rocksdb_transaction_t* transaction, const char* key, size_t klen,
                               const char* val, size_t vlen, char** errptr) {
  RunOn(
      transaction, &kDefaultFamily, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) {
        return t->Merge(in, Slice(key, klen), Slice(val, vlen));
      },
      __func__);
}

void rocksdb_transaction_merge_cf(rocksdb_transaction_t* transaction,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t klen, const char* val, size_t vlen, char** errptr) {
  RunOn(
      transaction, family, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) {
        return t->Merge(in, Slice(key, klen), Slice(val, vlen));
      },
      __func__);
}

void rocksdb_transaction_delete(rocksdb_transaction_t* transaction, const char* key, size_t klen,
                                char** errptr) {
  RunOn(
      transaction, &kDefaultFamily, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) { return t->Delete(in, Slice(key, klen)); },
      __func__);
}

void rocksdb_transaction_delete_cf(rocksdb_transaction_t* transaction,
                                   rocksdb_column_family_handle_t* family, const char* key,
                                   size_t klen, char** errptr) {
  RunOn(
      transaction, family, errptr,
      [&](Transaction* t, ColumnFamilyHandle* in) { return t->Delete(in, Slice(key, klen)); },
      __func__);
}

// ---- Reads ----

char* rocksdb_transaction_get(rocksdb_transaction_t* transaction,
                              const rocksdb_readoptions_t* options, const char* key, size_t klen,
                              size_t* vlen, char** errptr) {
  return CopyValue(transaction, options, &kDefaultFamily, Slice(key, klen), vlen, {}, errptr);
}

char* rocksdb_transaction_get_cf(rocksdb_transaction_t* transaction,
                                 const rocksdb_readoptions_t* options,
                                 rocksdb_column_family_handle_t* family, const char* key,
                                 size_t klen, size_t* vlen, char** errptr) {
  return CopyValue(transaction, options, family, Slice(key, klen), vlen, {}, errptr);
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t* transaction,
                                                        const rocksdb_readoptions_t* options,
                                                        const char* key, size_t klen,
                                                        char** errptr) {
  return PinValue(transaction, options, &kDefaultFamily, Slice(key, klen), {}, errptr);
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t* transaction,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family,
                                                           const char* key, size_t klen,
                                                           char** errptr) {
  return PinValue(transaction, options, family, Slice(key, klen), {}, errptr);
}

char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* transaction,
                                         const rocksdb_readoptions_t* options, const char* key,
                                         size_t klen, size_t* vlen, unsigned char exclusive,
                                         char** errptr) {
  return CopyValue(transaction, options, &kDefaultFamily, Slice(key, klen), vlen,
                   {true, exclusive != 0}, errptr);
}

char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* transaction,
                                            const rocksdb_readoptions_t* options,
                                            rocksdb_column_family_handle_t* family, const char* key,
                                            size_t klen, size_t* vlen, unsigned char exclusive,
                                            char** errptr) {
  return CopyValue(transaction, options, family, Slice(key, klen), vlen, {true, exclusive != 0},
                   errptr);
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t klen, unsigned char exclusive, char** errptr) {
  return PinValue(transaction, options, &kDefaultFamily, Slice(key, klen), {true, exclusive != 0},
                  errptr);
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t klen, unsigned char exclusive,
    char** errptr) {
  return PinValue(transaction, options, family, Slice(key, klen), {true, exclusive != 0}, errptr);
}

void rocksdb_transaction_multi_get(rocksdb_transaction_t* transaction,
                                   const rocksdb_readoptions_t* options, size_t num_keys,
                                   const char* const* keys_list, const size_t* keys_list_sizes,
                                   char** values_list, size_t* values_list_sizes, char** errs) {
  const KeyLists lists = {num_keys,    keys_list,         keys_list_sizes,
                          values_list, values_list_sizes, errs};
  MultiGet(transaction, options, nullptr, lists, false);
}

void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t* transaction,
                                      const rocksdb_readoptions_t* options,
                                      const rocksdb_column_family_handle_t* const* families,
                                      size_t num_keys, const char* const* keys_list,
                                      const size_t* keys_list_sizes, char** values_list,
                                      size_t* values_list_sizes, char** errs) {
  const KeyLists lists = {num_keys,    keys_list,         keys_list_sizes,
                          values_list, values_list_sizes, errs};
  if (families == nullptr) return FailAll(lists, NullArgument("column_families"), __func__);
  MultiGet(transaction, options, families, lists, false);
}

void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t* transaction,
                                              const rocksdb_readoptions_t* options, size_t num_keys,
                                              const char* const* keys_list,
                                              const size_t* keys_list_sizes, char** values_list,
                                              size_t* values_list_sizes, char** errs) {
  const KeyLists lists = {num_keys,    keys_list,         keys_list_sizes,
                          values_list, values_list_sizes, errs};
  MultiGet(transaction, options, nullptr, lists, true);
}

void rocksdb_transaction_multi_get_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs) {
  const KeyLists lists = {num_keys,    keys_list,         keys_list_sizes,
                          values_list, values_list_sizes, errs};
  if (families == nullptr) return FailAll(lists, NullArgument("column_families"), __func__);
  MultiGet(transaction, options, families, lists, true);
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t* transaction,
                                                        const rocksdb_readoptions_t* options) {
  return NewIterator(transaction, options, &kDefaultFamily);
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t* transaction,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* family) {
  return NewIterator(transaction, options, family);
}
