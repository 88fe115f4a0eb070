// SPDX-License-Identifier: Apache-2.0
// Point lookups through the C API.
#include <cstdlib>

#include "db/api/c/c_types.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::Family;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::SetError;
using varve::c::StoreSize;
using varve::c::Try;

namespace {

// The default family stands for this: a null handle is an error in the ..._cf functions.
constexpr rocksdb_column_family_handle_t kDefaultFamily = {nullptr, false};

Status Lookup(DB* db, const ReadOptions& options, const rocksdb_column_family_handle_t* family,
              const Slice& key, PinnableSlice* value, std::string* timestamp = nullptr) {
  ColumnFamilyHandle* handle =
      family == &kDefaultFamily ? db->DefaultColumnFamily() : Family(family);
  return db->Get(options, handle, key, value, timestamp);
}

// Runs `use` on the value. True if there was one; a missing key is no error.
template <typename Use>
bool WithValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
               const rocksdb_column_family_handle_t* family, const Slice& key, char** errptr,
               Use use) {
  bool found = false;
  RunOnDb(db, options, errptr, [&](DB* d, const ReadOptions& o) -> Status {
    PinnableSlice value;
    Status s = Lookup(d, o, family, key, &value);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    s = use(value);
    found = s.ok();
    return s;
  });
  return found;
}

char* CopyValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
                const rocksdb_column_family_handle_t* family, const Slice& key, size_t* vallen,
                char** errptr) {
  StoreSize(vallen, 0);
  char* copy = nullptr;
  WithValue(db, options, family, key, errptr, [&](const PinnableSlice& value) {
    copy = CopyBytes(value);
    if (copy == nullptr) return Status::MemoryLimit();
    StoreSize(vallen, value.size());
    return Status::OK();
  });
  return copy;
}

char* CopyValueAndTimestamp(rocksdb_t* db, const rocksdb_readoptions_t* options,
                            const rocksdb_column_family_handle_t* family, const Slice& key,
                            size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  StoreSize(vallen, 0);
  StoreSize(tslen, 0);
  char* copy = nullptr;
  RunOnDb(db, options, errptr, [&](DB* d, const ReadOptions& o) -> Status {
    if (ts == nullptr) return NullArgument("ts");
    *ts = nullptr;
    PinnableSlice value;
    std::string timestamp;
    Status s = Lookup(d, o, family, key, &value, &timestamp);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    *ts = CopyBytes(timestamp);
    copy = CopyBytes(value);
    if (*ts == nullptr || copy == nullptr) {
      std::free(*ts);
      std::free(copy);
      *ts = copy = nullptr;
      return Status::MemoryLimit();
    }
    StoreSize(vallen, value.size());
    StoreSize(tslen, timestamp.size());
    return s;
  });
  return copy;
}

// A new handle of type Pinned, which has the value as `rep`.
template <typename Pinned>
Pinned* PinValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
                 const rocksdb_column_family_handle_t* family, const Slice& key, char** errptr) {
  std::unique_ptr<Pinned> pinned;
  RunOnDb(db, options, errptr, [&](DB* d, const ReadOptions& o) -> Status {
    pinned = std::make_unique<Pinned>();
    Status s = Lookup(d, o, family, key, &pinned->rep);
    if (s.ok()) return s;
    pinned.reset();
    return s.IsNotFound() ? Status::OK() : s;
  });
  return pinned.release();
}

unsigned char CopyValueInto(rocksdb_t* db, const rocksdb_readoptions_t* options,
                            const rocksdb_column_family_handle_t* family, const Slice& key,
                            char* buffer, size_t buffer_size, size_t* vallen, unsigned char* found,
                            char** errptr) {
  StoreSize(vallen, 0);
  bool fits = false;
  const bool present = WithValue(db, options, family, key, errptr, [&](const PinnableSlice& value) {
    StoreSize(vallen, value.size());
    fits = value.size() <= buffer_size && (buffer != nullptr || value.empty());
    if (fits && !value.empty()) std::memcpy(buffer, value.data(), value.size());
    return Status::OK();
  });
  if (found != nullptr) *found = present ? 1 : 0;
  return fits ? 1 : 0;
}

// The inputs of one MultiGet and room for its outputs.
struct Batch {
  Batch(size_t n, const char* const* list, const size_t* sizes) : Batch(n) {
    for (size_t i = 0; i < n; ++i) keys.emplace_back(list[i], sizes[i]);
  }
  explicit Batch(size_t n) : values(n), statuses(n) { keys.reserve(n); }

  std::vector<Slice> keys;
  std::vector<PinnableSlice> values;
  std::vector<Status> statuses;
};

size_t* SizeAt(size_t* sizes, size_t i) {
  return sizes == nullptr ? nullptr : &sizes[i];
}

// Reports `status` for each of n keys and leaves no values.
template <typename Value>
void FailAll(const Status& status, size_t n, Value** values, size_t* sizes, char** errs) {
  for (size_t i = 0; i < n; ++i) {
    if (values != nullptr) values[i] = nullptr;
    StoreSize(SizeAt(sizes, i), 0);
    if (errs == nullptr) continue;
    errs[i] = nullptr;
    SetError(&errs[i], status);
  }
}

// Runs `body`, a whole lookup of n keys, and turns its failure into one of each key.
template <typename Value, typename Body>
void RunOnKeys(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t n, Value** values,
               size_t* sizes, char** errs, Body body) noexcept {
  if (n == 0) return;
  Status failure;
  try {
    if (db == nullptr || options == nullptr || values == nullptr || errs == nullptr) {
      failure = NullArgument("db, options, values or errs");
    } else {
      failure = body(db->rep.get(), options->rep);
    }
  } catch (...) {
    failure = varve::c::CaughtException();
  }
  if (!failure.ok()) FailAll(failure, n, values, sizes, errs);
}

void CopyResults(const Batch& batch, char** values, size_t* sizes, char** errs) {
  for (size_t i = 0; i < batch.values.size(); ++i) {
    Status s = batch.statuses[i];
    values[i] = nullptr;
    StoreSize(SizeAt(sizes, i), 0);
    errs[i] = nullptr;
    if (s.ok()) {
      values[i] = CopyBytes(batch.values[i]);
      if (values[i] == nullptr) s = Status::MemoryLimit();
    }
    if (s.ok()) {
      StoreSize(SizeAt(sizes, i), batch.values[i].size());
    } else if (!s.IsNotFound()) {
      SetError(&errs[i], s);
    }
  }
}

void PinResults(Batch* batch, rocksdb_pinnableslice_t** values, char** errs) {
  for (size_t i = 0; i < batch->values.size(); ++i) {
    Status& s = batch->statuses[i];
    values[i] = nullptr;
    errs[i] = nullptr;
    if (s.ok()) {
      values[i] = varve::c::Make<rocksdb_pinnableslice_t>(std::move(batch->values[i]));
      if (values[i] == nullptr) s = Status::MemoryLimit();
    }
    if (!s.ok() && !s.IsNotFound()) SetError(&errs[i], s);
  }
}

void ReadBatch(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Batch* batch,
               bool sorted) {
  db->MultiGet(options, family, batch->keys.size(), batch->keys.data(), batch->values.data(),
               batch->statuses.data(), sorted);
}

unsigned char MayExist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                       const rocksdb_column_family_handle_t* family, const Slice& key, char** value,
                       size_t* val_len, const Slice& timestamp, unsigned char* value_found) {
  if (value_found != nullptr) *value_found = 0;
  if (db == nullptr || options == nullptr) return 1;
  return Try(
      [&]() -> unsigned char {
        std::string bytes;
        std::string ts(timestamp.ToStringView());
        bool found = false;
        ColumnFamilyHandle* handle =
            family == &kDefaultFamily ? db->rep->DefaultColumnFamily() : Family(family);
        const bool may_exist =
            db->rep->KeyMayExist(options->rep, handle, key, &bytes, ts.empty() ? nullptr : &ts,
                                 value_found == nullptr ? nullptr : &found);
        if (!may_exist || !found) return may_exist ? 1 : 0;
        *value_found = 1;
        if (value != nullptr) {
          *value = CopyBytes(bytes);
          if (*value == nullptr) *value_found = 0;
          StoreSize(val_len, bytes.size());
        }
        return 1;
      },
      static_cast<unsigned char>(1));
}

}  // namespace

char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                  size_t keylen, size_t* vallen, char** errptr) {
  return CopyValue(db, options, &kDefaultFamily, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                     rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                     size_t* vallen, char** errptr) {
  return CopyValue(db, options, family, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                          size_t keylen, size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  return CopyValueAndTimestamp(db, options, &kDefaultFamily, Slice(key, keylen), vallen, ts, tslen,
                               errptr);
}

char* rocksdb_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                             size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  return CopyValueAndTimestamp(db, options, family, Slice(key, keylen), vallen, ts, tslen, errptr);
}

rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                            const char* key, size_t keylen, char** errptr) {
  return PinValue<rocksdb_pinnableslice_t>(db, options, &kDefaultFamily, Slice(key, keylen),
                                           errptr);
}

rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family,
                                               const char* key, size_t keylen, char** errptr) {
  return PinValue<rocksdb_pinnableslice_t>(db, options, family, Slice(key, keylen), errptr);
}

void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value) {
  delete value;
}

const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* value, size_t* vallen) {
  StoreSize(vallen, value == nullptr ? 0 : value->rep.size());
  return value == nullptr ? nullptr : value->rep.data();
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db,
                                                 const rocksdb_readoptions_t* options,
                                                 const char* key, size_t keylen, char** errptr) {
  return PinValue<rocksdb_pinnable_handle_t>(db, options, &kDefaultFamily, Slice(key, keylen),
                                             errptr);
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(rocksdb_t* db,
                                                    const rocksdb_readoptions_t* options,
                                                    rocksdb_column_family_handle_t* family,
                                                    const char* key, size_t keylen, char** errptr) {
  return PinValue<rocksdb_pinnable_handle_t>(db, options, family, Slice(key, keylen), errptr);
}

const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle,
                                              size_t* vallen) {
  StoreSize(vallen, handle == nullptr ? 0 : handle->rep.size());
  return handle == nullptr ? nullptr : handle->rep.data();
}

void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) {
  delete handle;
}

unsigned char rocksdb_get_into_buffer(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                      const char* key, size_t keylen, char* buffer,
                                      size_t buffer_size, size_t* vallen, unsigned char* found,
                                      char** errptr) {
  return CopyValueInto(db, options, &kDefaultFamily, Slice(key, keylen), buffer, buffer_size,
                       vallen, found, errptr);
}

unsigned char rocksdb_get_into_buffer_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                         rocksdb_column_family_handle_t* family, const char* key,
                                         size_t keylen, char* buffer, size_t buffer_size,
                                         size_t* vallen, unsigned char* found, char** errptr) {
  return CopyValueInto(db, options, family, Slice(key, keylen), buffer, buffer_size, vallen, found,
                       errptr);
}

void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t num_keys,
                       const char* const* keys, const size_t* key_sizes, char** values,
                       size_t* value_sizes, char** errs) {
  RunOnKeys(db, options, num_keys, values, value_sizes, errs, [&](DB* d, const ReadOptions& o) {
    Batch batch(num_keys, keys, key_sizes);
    ReadBatch(d, o, d->DefaultColumnFamily(), &batch, false);
    CopyResults(batch, values, value_sizes, errs);
    return Status::OK();
  });
}

void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* families, size_t num_keys,
                          const char* const* keys, const size_t* key_sizes, char** values,
                          size_t* value_sizes, char** errs) {
  RunOnKeys(db, options, num_keys, values, value_sizes, errs,
            [&](DB* d, const ReadOptions& o) -> Status {
              if (families == nullptr) return NullArgument("families");
              Batch batch(num_keys, keys, key_sizes);
              std::vector<ColumnFamilyHandle*> handles(num_keys);
              for (size_t i = 0; i < num_keys; ++i) {
                handles[i] = Family(families[i]);
                if (handles[i] == nullptr) return NullArgument("family");
              }
              d->MultiGet(o, num_keys, handles.data(), batch.keys.data(), batch.values.data(),
                          batch.statuses.data());
              CopyResults(batch, values, value_sizes, errs);
              return Status::OK();
            });
}

void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  rocksdb_column_family_handle_t* family, size_t num_keys,
                                  const char* const* keys, const size_t* key_sizes,
                                  rocksdb_pinnableslice_t** values, char** errs,
                                  const bool sorted_input) {
  RunOnKeys(db, options, num_keys, values, nullptr, errs,
            [&](DB* d, const ReadOptions& o) -> Status {
              if (family == nullptr) return NullArgument("family");
              Batch batch(num_keys, keys, key_sizes);
              ReadBatch(d, o, Family(family), &batch, sorted_input);
              PinResults(&batch, values, errs);
              return Status::OK();
            });
}

void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        rocksdb_column_family_handle_t* family, size_t num_keys,
                                        const rocksdb_slice_t* keys,
                                        rocksdb_pinnableslice_t** values, char** errs,
                                        const bool sorted_input) {
  RunOnKeys(db, options, num_keys, values, nullptr, errs,
            [&](DB* d, const ReadOptions& o) -> Status {
              if (family == nullptr) return NullArgument("family");
              Batch batch(num_keys);
              for (size_t i = 0; i < num_keys; ++i)
                batch.keys.emplace_back(keys[i].data, keys[i].size);
              ReadBatch(d, o, Family(family), &batch, sorted_input);
              PinResults(&batch, values, errs);
              return Status::OK();
            });
}

unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                    const char* key, size_t key_len, char** value, size_t* val_len,
                                    const char* timestamp, size_t timestamp_len,
                                    unsigned char* value_found) {
  return MayExist(db, options, &kDefaultFamily, Slice(key, key_len), value, val_len,
                  Slice(timestamp, timestamp_len), value_found);
}

unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                       rocksdb_column_family_handle_t* family, const char* key,
                                       size_t key_len, char** value, size_t* val_len,
                                       const char* timestamp, size_t timestamp_len,
                                       unsigned char* value_found) {
  return MayExist(db, options, family, Slice(key, key_len), value, val_len,
                  Slice(timestamp, timestamp_len), value_found);
}
