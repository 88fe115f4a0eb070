// SPDX-License-Identifier: Apache-2.0
// Implements entities for the C API.
#include <cstdlib>
#include <utility>
#include <vector>

#include "db/api/c/c_batch.h"
#include "db/api/c/c_transactions.h"
#include "db/api/c/c_types.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::PinnableWideColumns;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::Transaction;
using varve::WideColumns;
using varve::WriteOptions;
using varve::c::Family;
using varve::c::kDefaultFamily;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::RunOnDb;
using varve::c::SetError;
using varve::c::StoreSize;

// Shows columns that it holds, or those of an iterator.
struct rocksdb_widecolumns_t {
  PinnableWideColumns rep;
  WideColumns of_iterator;  // Shown instead if there are any.

  [[nodiscard]] const WideColumns& shown() const {
    return of_iterator.empty() ? rep.columns() : of_iterator;
  }
};

namespace {

// The columns of a call as C passes them: parallel arrays.
struct GivenColumns {
  size_t count;
  const char* const* names;
  const size_t* name_sizes;
  const char* const* values;
  const size_t* value_sizes;

  Status Collect(WideColumns* columns) const {
    if (count == 0) return Status::OK();
    if (names == nullptr || name_sizes == nullptr || values == nullptr || value_sizes == nullptr) {
      return NullArgument("names, name_sizes, values or value_sizes");
    }
    // The slices point to the caller's bytes, which live as long as the call.
    columns->reserve(count);
    for (size_t i = 0; i < count; ++i) {
      columns->emplace_back(Slice(names[i], name_sizes[i]), Slice(values[i], value_sizes[i]));
    }
    return Status::OK();
  }
};

// Calls `put` with the columns.
template <typename PutColumns>
Status PutGiven(const GivenColumns& given, const PutColumns& put) {
  WideColumns columns;
  Status s = given.Collect(&columns);
  return s.ok() ? put(columns) : s;
}

// Puts an entity of the given columns into the database.
void Put(rocksdb_t* db, const rocksdb_writeoptions_t* options,
         const rocksdb_column_family_handle_t* family, const Slice& key, const GivenColumns& given,
         char** errptr, const char* call) {
  RunOnDb(
      db, options, errptr,
      [&](DB* d, const WriteOptions& o) -> Status {
        ColumnFamilyHandle* const in =
            family == &kDefaultFamily ? d->DefaultColumnFamily() : Family(family);
        return PutGiven(
            given, [&](const WideColumns& columns) { return d->PutEntity(o, in, key, columns); });
      },
      call);
}

// Adds an entity of the given columns to a batch of either kind.
template <typename Batch>
void PutInto(Batch* batch, const rocksdb_column_family_handle_t* family, const Slice& key,
             const GivenColumns& given, char** errptr, const char* call) {
  const auto put = [&]() -> Status {
    if (batch == nullptr) return NullArgument("batch");
    if (family == nullptr) return NullArgument("family");
    return PutGiven(given, [&](const WideColumns& columns) {
      return batch->rep.PutEntity(Family(family), key, columns);
    });
  };
  Run(errptr, put, call);
}

// Turns the outcome of a read into a result, and a missing key into none.
Status Give(const Status& s, PinnableWideColumns columns, rocksdb_widecolumns_t** result) {
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  *result = varve::c::Make<rocksdb_widecolumns_t>(std::move(columns), WideColumns());
  return *result == nullptr ? Status::MemoryLimit() : Status::OK();
}

// Returns the columns of a key; null if it is missing, or after an error.
rocksdb_widecolumns_t* Get(rocksdb_t* db, const rocksdb_readoptions_t* options,
                           const rocksdb_column_family_handle_t* family, const Slice& key,
                           char** errptr, const char* call) {
  rocksdb_widecolumns_t* result = nullptr;
  RunOnDb(
      db, options, errptr,
      [&](DB* d, const ReadOptions& o) -> Status {
        ColumnFamilyHandle* const in =
            family == &kDefaultFamily ? d->DefaultColumnFamily() : Family(family);
        PinnableWideColumns columns;
        const Status s = d->GetEntity(o, in, key, &columns);
        return Give(s, std::move(columns), &result);
      },
      call);
  return result;
}

Slice NameOf(const varve::WideColumn& column) {
  return column.name();
}
Slice ValueOf(const varve::WideColumn& column) {
  return column.value();
}

// Returns the name or the value, as `part` says, of the column with this index, and stores its
// length. Null, with the length 0, if there is no such column.
const char* PartOf(const rocksdb_widecolumns_t* columns, size_t index, size_t* size,
                   Slice (*part)(const varve::WideColumn& column)) {
  const bool exists = columns != nullptr && index < columns->shown().size();
  const Slice bytes = exists ? part(columns->shown()[index]) : Slice(nullptr, 0);
  StoreSize(size, bytes.size());
  return bytes.data();
}

}  // namespace

void rocksdb_put_entity(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                        size_t keylen, size_t num_columns, const char* const* names,
                        const size_t* name_sizes, const char* const* values,
                        const size_t* value_sizes, char** errptr) {
  Put(db, options, &kDefaultFamily, Slice(key, keylen),
      {num_columns, names, name_sizes, values, value_sizes}, errptr, __func__);
}

void rocksdb_put_entity_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                           rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                           size_t num_columns, const char* const* names, const size_t* name_sizes,
                           const char* const* values, const size_t* value_sizes, char** errptr) {
  Put(db, options, family, Slice(key, keylen),
      {num_columns, names, name_sizes, values, value_sizes}, errptr, __func__);
}

void rocksdb_writebatch_put_entity_cf(rocksdb_writebatch_t* batch,
                                      rocksdb_column_family_handle_t* family, const char* key,
                                      size_t keylen, size_t num_columns, const char* const* names,
                                      const size_t* name_sizes, const char* const* values,
                                      const size_t* value_sizes, char** errptr) {
  PutInto(batch, family, Slice(key, keylen), {num_columns, names, name_sizes, values, value_sizes},
          errptr, __func__);
}

void rocksdb_writebatch_wi_put_entity_cf(rocksdb_writebatch_wi_t* batch,
                                         rocksdb_column_family_handle_t* family, const char* key,
                                         size_t keylen, size_t num_columns,
                                         const char* const* names, const size_t* name_sizes,
                                         const char* const* values, const size_t* value_sizes,
                                         char** errptr) {
  PutInto(batch, family, Slice(key, keylen), {num_columns, names, name_sizes, values, value_sizes},
          errptr, __func__);
}

void rocksdb_transaction_put_entity_cf(rocksdb_transaction_t* txn,
                                       rocksdb_column_family_handle_t* family, const char* key,
                                       size_t keylen, size_t num_columns, const char* const* names,
                                       const size_t* name_sizes, const char* const* values,
                                       const size_t* value_sizes, char** errptr) {
  const GivenColumns given{num_columns, names, name_sizes, values, value_sizes};
  const auto put = [&]() -> Status {
    if (txn == nullptr) return NullArgument("transaction");
    if (family == nullptr) return NullArgument("family");
    return PutGiven(given, [&](const WideColumns& columns) {
      return txn->rep->PutEntity(Family(family), Slice(key, keylen), columns);
    });
  };
  Run(errptr, put, __func__);
}

rocksdb_widecolumns_t* rocksdb_get_entity(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                          const char* key, size_t keylen, char** errptr) {
  return Get(db, options, &kDefaultFamily, Slice(key, keylen), errptr, __func__);
}

rocksdb_widecolumns_t* rocksdb_get_entity_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                             rocksdb_column_family_handle_t* family,
                                             const char* key, size_t keylen, char** errptr) {
  return Get(db, options, family, Slice(key, keylen), errptr, __func__);
}

rocksdb_widecolumns_t* rocksdb_transaction_get_entity_cf(rocksdb_transaction_t* txn,
                                                         const rocksdb_readoptions_t* options,
                                                         rocksdb_column_family_handle_t* family,
                                                         const char* key, size_t keylen,
                                                         char** errptr) {
  rocksdb_widecolumns_t* result = nullptr;
  const auto read = [&]() -> Status {
    if (txn == nullptr) return NullArgument("transaction");
    if (options == nullptr) return NullArgument("options");
    if (family == nullptr) return NullArgument("family");
    PinnableWideColumns columns;
    const Status s =
        txn->rep->GetEntity(options->rep, Family(family), Slice(key, keylen), &columns);
    return Give(s, std::move(columns), &result);
  };
  Run(errptr, read, __func__);
  return result;
}

void rocksdb_multi_get_entity_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                 rocksdb_column_family_handle_t* family, size_t num_keys,
                                 const char* const* keys, const size_t* key_sizes,
                                 rocksdb_widecolumns_t** columns, char** errs,
                                 unsigned char sorted_input) {
  if (num_keys == 0 || columns == nullptr || errs == nullptr) return;
  for (size_t i = 0; i < num_keys; ++i) {
    columns[i] = nullptr;
    errs[i] = nullptr;
  }
  const auto read = [&](DB* d, const ReadOptions& o) -> Status {
    if (family == nullptr) return NullArgument("family");
    if (keys == nullptr || key_sizes == nullptr) return NullArgument("keys or key_sizes");
    std::vector<Slice> given;
    for (size_t i = 0; i < num_keys; ++i) given.emplace_back(keys[i], key_sizes[i]);
    std::vector<PinnableWideColumns> results(num_keys);
    std::vector<Status> statuses(num_keys);
    d->MultiGetEntity(o, Family(family), num_keys, given.data(), results.data(), statuses.data(),
                      sorted_input != 0);
    for (size_t i = 0; i < num_keys; ++i) {
      const Status s = Give(statuses[i], std::move(results[i]), &columns[i]);
      if (!s.ok()) SetError(&errs[i], s);
    }
    return Status::OK();
  };
  // There is one error for each key. A failure of the whole call is copied into all of them, after
  // results that were there already are freed.
  char* failure = nullptr;
  if (RunOnDb(db, options, &failure, read)) return;
  const char* const out_of_memory = "Out of memory";
  for (size_t i = 0; i < num_keys; ++i) {
    rocksdb_widecolumns_destroy(std::exchange(columns[i], nullptr));
    std::free(std::exchange(errs[i], nullptr));
    errs[i] = varve::c::CopyText(failure == nullptr ? out_of_memory : failure);
    // A key without an error would look missing; the shorter text may still find its place.
    if (errs[i] == nullptr) errs[i] = varve::c::CopyText(out_of_memory);
  }
  std::free(failure);
}

rocksdb_widecolumns_t* rocksdb_iter_columns(const rocksdb_iterator_t* iter) {
  if (iter == nullptr || !iter->rep->Valid() || !varve::c::PrepareValue(*iter)) return nullptr;
  return varve::c::Try([&] {
    return new rocksdb_widecolumns_t{PinnableWideColumns(), iter->rep->columns()};
  });
}

size_t rocksdb_widecolumns_count(const rocksdb_widecolumns_t* columns) {
  return columns == nullptr ? 0 : columns->shown().size();
}

const char* rocksdb_widecolumns_name(const rocksdb_widecolumns_t* columns, size_t index,
                                     size_t* size) {
  return PartOf(columns, index, size, NameOf);
}

const char* rocksdb_widecolumns_value(const rocksdb_widecolumns_t* columns, size_t index,
                                      size_t* size) {
  return PartOf(columns, index, size, ValueOf);
}

void rocksdb_widecolumns_destroy(rocksdb_widecolumns_t* columns) {
  delete columns;
}
