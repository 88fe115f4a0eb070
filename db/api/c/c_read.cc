// SPDX-License-Identifier: Apache-2.0
// Implements look-ups of single keys for the C API.
//
// A value comes to C in one of three ways: as a copy by malloc, pinned behind a handle, or copied
// into the caller's buffer. A missing key is no error: the result is null, or `found` is 0.
#include <cstdlib>

#include "db/api/c/c_results.h"
#include "db/api/c/c_types.h"
#include "db/api/c/value_handle_pool.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::Family;
using varve::c::kDefaultFamily;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::SingleResult;
using varve::c::StoreSize;
using varve::c::Try;
using varve::c::ValueHandlePool;

namespace {

// Reads one key of the family, or of the default one for &kDefaultFamily.
Status Lookup(DB* db, const ReadOptions& options, const rocksdb_column_family_handle_t* family,
              const Slice& key, PinnableSlice* value, std::string* timestamp = nullptr) {
  ColumnFamilyHandle* handle =
      family == &kDefaultFamily ? db->DefaultColumnFamily() : Family(family);
  return db->Get(options, handle, key, value, timestamp);
}

// Runs `use` on the value. Returns true if there was one; a missing key is no error.
template <typename Use>
bool WithValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
               const rocksdb_column_family_handle_t* family, const Slice& key, char** errptr,
               const char* call, Use use) {
  bool found = false;
  const auto read = [&](DB* d, const ReadOptions& o) -> Status {
    PinnableSlice value;
    Status s = Lookup(d, o, family, key, &value);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    s = use(value);
    found = s.ok();
    return s;
  };
  RunOnDb(db, options, errptr, read, call);
  return found;
}

// Returns a malloc'ed copy of the value and stores its length; null if the key is missing, or after
// an error.
char* CopyValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
                const rocksdb_column_family_handle_t* family, const Slice& key, size_t* vallen,
                char** errptr, const char* call = __builtin_FUNCTION()) {
  // The length is set first, so that it is 0 after any failure.
  StoreSize(vallen, 0);
  char* copy = nullptr;
  WithValue(db, options, family, key, errptr, call, [&](const PinnableSlice& value) {
    copy = CopyBytes(value);
    if (copy == nullptr) return Status::MemoryLimit();
    StoreSize(vallen, value.size());
    return Status::OK();
  });
  return copy;
}

// Does CopyValue, and sets *ts to a malloc'ed copy of the value's timestamp.
char* CopyValueAndTimestamp(rocksdb_t* db, const rocksdb_readoptions_t* options,
                            const rocksdb_column_family_handle_t* family, const Slice& key,
                            size_t* vallen, char** ts, size_t* tslen, char** errptr,
                            const char* call = __builtin_FUNCTION()) {
  StoreSize(vallen, 0);
  StoreSize(tslen, 0);
  char* copy = nullptr;
  const auto read = [&](DB* d, const ReadOptions& o) -> Status {
    if (ts == nullptr) return NullArgument("ts");
    *ts = nullptr;
    PinnableSlice value;
    std::string timestamp;
    Status s = Lookup(d, o, family, key, &value, &timestamp);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    *ts = CopyBytes(timestamp);
    copy = CopyBytes(value);
    // The caller gets both or none.
    if (*ts == nullptr || copy == nullptr) {
      std::free(*ts);
      std::free(copy);
      *ts = copy = nullptr;
      return Status::MemoryLimit();
    }
    StoreSize(vallen, value.size());
    StoreSize(tslen, timestamp.size());
    return s;
  };
  RunOnDb(db, options, errptr, read, call);
  return copy;
}

// Reads a value without copying it. Returns a handle that keeps it in memory, and that the caller
// destroys; null if the key is absent, which is no error, or after an error. `Pinned` is the C
// API's type of such handles.
template <typename Pinned>
Pinned* PinValue(rocksdb_t* db, const rocksdb_readoptions_t* options,
                 const rocksdb_column_family_handle_t* family, const Slice& key, char** errptr,
                 const char* call = __builtin_FUNCTION()) {
  Pinned* found = nullptr;
  const auto read = [&](DB* d, const ReadOptions& o) -> Status {
    auto pinned = ValueHandlePool<Pinned>::Take();
    Status s = Lookup(d, o, family, key, &pinned->rep);
    if (s.IsNotFound()) return Status::OK();
    if (s.ok()) found = pinned.release();
    return s;
  };
  RunOnDb(db, options, errptr, read, call);
  return found;
}

// Copies the value into the buffer if it fits; returns 1 then. Stores the value's length, and sets
// *found, which may be null, to 1 if the key exists.
unsigned char CopyValueInto(rocksdb_t* db, const rocksdb_readoptions_t* options,
                            const rocksdb_column_family_handle_t* family, const Slice& key,
                            char* buffer, size_t buffer_size, size_t* vallen, unsigned char* found,
                            char** errptr, const char* call = __builtin_FUNCTION()) {
  StoreSize(vallen, 0);
  bool fits = false;
  const bool present =
      WithValue(db, options, family, key, errptr, call, [&](const PinnableSlice& value) {
        // The length is stored even if the value does not fit, so that the caller can repeat the
        // call with a larger buffer.
        StoreSize(vallen, value.size());
        fits = value.size() <= buffer_size && (buffer != nullptr || value.empty());
        if (fits && !value.empty()) std::memcpy(buffer, value.data(), value.size());
        return Status::OK();
      });
  if (found != nullptr) *found = present ? 1 : 0;
  return fits ? 1 : 0;
}

// Returns 0 if the key is surely absent, otherwise 1, also after an error. Sets *value_found,
// unless null, to 1 if the value is in memory or the key is surely absent, and to 0 otherwise. With
// 1, *value becomes a malloc'ed copy, and *val_len its size; either pointer may be null.
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
        // Without a place for it the value is not asked for.
        if (value_found == nullptr || (may_exist && !found)) return may_exist ? 1 : 0;
        // A key that is known to be absent has an empty value, as in RocksDB: callers free it.
        if (!may_exist) bytes.clear();
        *value_found = 1;
        if (value != nullptr) {
          *value = CopyBytes(bytes);
          if (*value == nullptr) *value_found = 0;
          StoreSize(val_len, bytes.size());
        }
        return may_exist ? 1 : 0;
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
  return PinValue<SingleResult>(db, options, &kDefaultFamily, Slice(key, keylen), errptr);
}

rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family,
                                               const char* key, size_t keylen, char** errptr) {
  return PinValue<SingleResult>(db, options, family, Slice(key, keylen), errptr);
}

void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value) {
  if (value == nullptr) return;
  // A value of a batched read goes back to its slab, one that was read alone to the pool of this
  // thread.
  if (value->slab != nullptr) {
    value->slab->PutBack(value->value);
  } else {
    ValueHandlePool<SingleResult>::PutBack(static_cast<SingleResult*>(value));
  }
}

const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* value, size_t* vallen) {
  StoreSize(vallen, value == nullptr ? 0 : value->value->size());
  return value == nullptr ? nullptr : value->value->data();
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
  ValueHandlePool<rocksdb_pinnable_handle_t>::PutBack(handle);
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
