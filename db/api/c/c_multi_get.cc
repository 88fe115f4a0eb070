// SPDX-License-Identifier: Apache-2.0
// Implements look-ups of several keys at once for the C API.
//
//       rocksdb_multi_get              each value is a copy by malloc: Batch, then CopyResults
//       rocksdb_batched_multi_get_*    values stay pinned: up to 64 of them in one slab, without
//                                      an allocation; more of them one by one
//
// A missing key has neither a value nor an error. A failure of the call as a whole is reported for
// each key, as there is no other place.
#include <cstdlib>

#include "db/api/c/c_results.h"
#include "db/api/c/c_types.h"
#include "util/base/assert.h"
#include "util/mem/bounded_array.h"

using varve::BoundedArray;
using varve::ColumnFamilyHandle;
using varve::DB;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::Family;
using varve::c::NullArgument;
using varve::c::ResultSlab;
using varve::c::SetError;
using varve::c::SingleResult;
using varve::c::StoreSize;

namespace {

// Holds the inputs of one MultiGet and room for its outputs.
struct Batch {
  Batch(size_t n, const char* const* list, const size_t* sizes) : Batch(n) {
    for (size_t i = 0; i < n; ++i) keys.emplace_back(list[i], sizes[i]);
  }
  explicit Batch(size_t n) : values(n), statuses(n) { keys.reserve(n); }

  std::vector<Slice> keys;
  std::vector<PinnableSlice> values;
  std::vector<std::string> timestamps;  // Empty: not wanted.
  std::vector<Status> statuses;
};

size_t* SizeAt(size_t* sizes, size_t i) {
  return sizes == nullptr ? nullptr : &sizes[i];
}

// Reports `status` of the function `call` for each of n keys, and leaves no values.
template <typename Value>
void FailAll(const Status& status, size_t n, Value** values, size_t* sizes, char** errs,
             const char* call) {
  for (size_t i = 0; i < n; ++i) {
    if (values != nullptr) values[i] = nullptr;
    StoreSize(SizeAt(sizes, i), 0);
    if (errs == nullptr) continue;
    errs[i] = nullptr;
    SetError(&errs[i], status, call);
  }
}

// Runs `body`, a whole lookup of n keys, and turns its failure into one of each key.
template <typename Value, typename Body>
void RunOnKeys(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t n, Value** values,
               size_t* sizes, char** errs, Body body,
               const char* call = __builtin_FUNCTION()) noexcept {
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
  if (!failure.ok()) FailAll(failure, n, values, sizes, errs, call);
}

// Sets, for each key, the malloc'ed value and its length, or null, and its error or null.
void CopyResults(const Batch& batch, char** values, size_t* sizes, char** errs) {
  VARVE_ASSERT(batch.keys.size() == batch.values.size());
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

// Makes handles for values that were read into a batch of any size.
void PinOneByOne(Batch* batch, rocksdb_pinnableslice_t** values, char** errs) {
  for (size_t i = 0; i < batch->values.size(); ++i) {
    Status& s = batch->statuses[i];
    values[i] = nullptr;
    errs[i] = nullptr;
    if (s.ok()) {
      values[i] = varve::c::Make<SingleResult>(std::move(batch->values[i]));
      if (values[i] == nullptr) s = Status::MemoryLimit();
    }
    if (!s.ok() && !s.IsNotFound()) SetError(&errs[i], s);
  }
}

// Copies results with their timestamps; a missing key has none.
void CopyResultsAndTimestamps(const Batch& batch, char** values, size_t* sizes, char** timestamps,
                              size_t* timestamp_sizes, char** errs) {
  VARVE_ASSERT(batch.timestamps.size() == batch.values.size());
  CopyResults(batch, values, sizes, errs);
  for (size_t i = 0; i < batch.values.size(); ++i) {
    timestamps[i] = nullptr;
    StoreSize(SizeAt(timestamp_sizes, i), 0);
    if (values[i] == nullptr) continue;
    timestamps[i] = CopyBytes(batch.timestamps[i]);
    if (timestamps[i] != nullptr) {
      StoreSize(SizeAt(timestamp_sizes, i), batch.timestamps[i].size());
      continue;
    }
    // A value without its timestamp is no result.
    std::free(values[i]);
    values[i] = nullptr;
    StoreSize(SizeAt(sizes, i), 0);
    SetError(&errs[i], Status::MemoryLimit());
  }
}

// Clears the places of a look-up that may fail as a whole.
void ClearTimestamps(size_t n, char** timestamps, size_t* timestamp_sizes) {
  for (size_t i = 0; timestamps != nullptr && i < n; ++i) {
    timestamps[i] = nullptr;
    StoreSize(SizeAt(timestamp_sizes, i), 0);
  }
}

std::string* TimestampsOf(Batch* batch) {
  return batch->timestamps.empty() ? nullptr : batch->timestamps.data();
}

// Reads the keys of the batch, all from one family. `sorted`: they are in its order.
void ReadBatch(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Batch* batch,
               bool sorted) {
  db->MultiGet(options, family, batch->keys.size(), batch->keys.data(), batch->values.data(),
               TimestampsOf(batch), batch->statuses.data(), sorted);
}

// Reads each key of the batch from the family with the same index.
Status ReadBatch(DB* db, const ReadOptions& options,
                 const rocksdb_column_family_handle_t* const* families, Batch* batch) {
  if (families == nullptr) return NullArgument("families");
  const size_t n = batch->keys.size();
  std::vector<ColumnFamilyHandle*> handles(n);
  for (size_t i = 0; i < n; ++i) {
    handles[i] = Family(families[i]);
    if (handles[i] == nullptr) return NullArgument("family");
  }
  db->MultiGet(options, n, handles.data(), batch->keys.data(), batch->values.data(),
               TimestampsOf(batch), batch->statuses.data());
  return Status::OK();
}

// Holds the keys and the outputs of a batched read.
struct PinnedRead {
  ColumnFamilyHandle* family;
  size_t n;
  bool sorted;
  rocksdb_pinnableslice_t** values;
  char** errs;
};

// Reads n <= ResultSlab::kResults keys into a slab.
template <typename KeyAt>
void PinInSlab(rocksdb_t* db, const ReadOptions& options, const PinnedRead& read, KeyAt key_at) {
  VARVE_ASSERT(read.n <= ResultSlab::kResults);
  BoundedArray<Slice, ResultSlab::kResults> keys;
  BoundedArray<Status, ResultSlab::kResults> statuses;
  for (size_t i = 0; i < read.n; ++i) {
    keys.push_back(key_at(i));
    statuses.emplace_back();
  }
  // The values are read straight into the places that are handed out.
  std::unique_ptr<ResultSlab> slab = db->spare_slabs->Take();
  db->rep->MultiGet(options, read.family, read.n, keys.data(), slab->values(), statuses.data(),
                    read.sorted);
  uint32_t found = 0;
  for (size_t i = 0; i < read.n; ++i) {
    const Status& s = statuses[i];
    read.values[i] = s.ok() ? slab->handle(i) : nullptr;
    read.errs[i] = nullptr;
    if (s.ok()) {
      ++found;
    } else if (!s.IsNotFound()) {
      SetError(&read.errs[i], s);
    }
  }
  // Only found keys have a handle that will be given back, so only they count. The slab must not be
  // touched after this: another thread may have given all of them back already.
  ResultSlab::HandOut(std::move(slab), found, db->spare_slabs);
}

// Reads the keys, of which key_at(i) returns one, and sets the handles of their values and the
// errors.
template <typename KeyAt>
void ReadPinned(rocksdb_t* db, const ReadOptions& options, const PinnedRead& read, KeyAt key_at) {
  if (read.n <= ResultSlab::kResults) return PinInSlab(db, options, read, key_at);
  Batch batch(read.n);
  for (size_t i = 0; i < read.n; ++i) batch.keys.push_back(key_at(i));
  ReadBatch(db->rep.get(), options, read.family, &batch, read.sorted);
  PinOneByOne(&batch, read.values, read.errs);
}

}  // namespace

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

void rocksdb_multi_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t num_keys,
                               const char* const* keys, const size_t* key_sizes, char** values,
                               size_t* value_sizes, char** timestamps, size_t* timestamp_sizes,
                               char** errs) {
  ClearTimestamps(num_keys, timestamps, timestamp_sizes);
  RunOnKeys(
      db, options, num_keys, values, value_sizes, errs, [&](DB* d, const ReadOptions& o) -> Status {
        if (timestamps == nullptr) return NullArgument("timestamps");
        Batch batch(num_keys, keys, key_sizes);
        batch.timestamps.resize(num_keys);
        ReadBatch(d, o, d->DefaultColumnFamily(), &batch, false);
        CopyResultsAndTimestamps(batch, values, value_sizes, timestamps, timestamp_sizes, errs);
        return Status::OK();
      });
}

void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* families, size_t num_keys,
                          const char* const* keys, const size_t* key_sizes, char** values,
                          size_t* value_sizes, char** errs) {
  RunOnKeys(db, options, num_keys, values, value_sizes, errs,
            [&](DB* d, const ReadOptions& o) -> Status {
              Batch batch(num_keys, keys, key_sizes);
              Status s = ReadBatch(d, o, families, &batch);
              if (s.ok()) CopyResults(batch, values, value_sizes, errs);
              return s;
            });
}

void rocksdb_multi_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  const rocksdb_column_family_handle_t* const* families,
                                  size_t num_keys, const char* const* keys, const size_t* key_sizes,
                                  char** values, size_t* value_sizes, char** timestamps,
                                  size_t* timestamp_sizes, char** errs) {
  ClearTimestamps(num_keys, timestamps, timestamp_sizes);
  RunOnKeys(
      db, options, num_keys, values, value_sizes, errs, [&](DB* d, const ReadOptions& o) -> Status {
        if (timestamps == nullptr) return NullArgument("timestamps");
        Batch batch(num_keys, keys, key_sizes);
        batch.timestamps.resize(num_keys);
        Status s = ReadBatch(d, o, families, &batch);
        if (!s.ok()) return s;
        CopyResultsAndTimestamps(batch, values, value_sizes, timestamps, timestamp_sizes, errs);
        return s;
      });
}

void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  rocksdb_column_family_handle_t* family, size_t num_keys,
                                  const char* const* keys, const size_t* key_sizes,
                                  rocksdb_pinnableslice_t** values, char** errs,
                                  const bool sorted_input) {
  RunOnKeys(db, options, num_keys, values, nullptr, errs, [&](DB*, const ReadOptions& o) -> Status {
    if (family == nullptr) return NullArgument("family");
    ReadPinned(db, o, {Family(family), num_keys, sorted_input, values, errs},
               [&](size_t i) { return Slice(keys[i], key_sizes[i]); });
    return Status::OK();
  });
}

void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        rocksdb_column_family_handle_t* family, size_t num_keys,
                                        const rocksdb_slice_t* keys,
                                        rocksdb_pinnableslice_t** values, char** errs,
                                        const bool sorted_input) {
  RunOnKeys(db, options, num_keys, values, nullptr, errs, [&](DB*, const ReadOptions& o) -> Status {
    if (family == nullptr) return NullArgument("family");
    ReadPinned(db, o, {Family(family), num_keys, sorted_input, values, errs},
               [&](size_t i) { return Slice(keys[i].data, keys[i].size); });
    return Status::OK();
  });
}
