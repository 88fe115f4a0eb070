// SPDX-License-Identifier: Apache-2.0
// Implements write batches for the C API.
//
// Functions that add to a batch have no `errptr`. So the first failure is kept in the handle
// (BatchFailure), and the write of the batch reports it: a batch that lacks an update is never
// written. Rolling back to a save point before the failed update clears it.
#include "db/api/c/c_batch.h"

#include <climits>

#include "db/api/c/c_types.h"

using varve::ColumnFamilyHandle;
using varve::Slice;
using varve::SliceParts;
using varve::Status;
using varve::WriteBatch;
using varve::c::Add;
using varve::c::AddIn;
using varve::c::DeleteFunction;
using varve::c::DeletePiecewise;
using varve::c::NullArgument;
using varve::c::Pieces;
using varve::c::PutFunction;
using varve::c::Run;

namespace {

using PutFamilyFunction = void (*)(void*, uint32_t, const char*, size_t, const char*, size_t);
using DeleteFamilyFunction = void (*)(void*, uint32_t, const char*, size_t);

// Passes puts and deletions of the default family to callbacks. Merges and single deletions of that
// family are skipped; other families and range deletions end the walk.
class PlainHandler final : public WriteBatch::Handler {
 public:
  PlainHandler(void* state, PutFunction put, DeleteFunction deleted, DeleteFunction log_data)
      : state_(state), put_(put), deleted_(deleted), log_data_(log_data) {}

  // Only the calls without a family are overridden. An update of another family reaches a default
  // of the base class, which ends the walk with an error.
  void Put(const Slice& key, const Slice& value) override {
    if (put_ != nullptr) put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override {
    if (deleted_ != nullptr) deleted_(state_, key.data(), key.size());
  }
  void LogData(const Slice& blob) override {
    if (log_data_ != nullptr) log_data_(state_, blob.data(), blob.size());
  }

 private:
  void* const state_;
  const PutFunction put_;
  const DeleteFunction deleted_;
  const DeleteFunction log_data_;
};

// Passes puts, deletions and merges of all families to callbacks. A single deletion is skipped in
// the default family and ends the walk in another; other kinds end it.
class FamilyHandler final : public WriteBatch::Handler {
 public:
  FamilyHandler(void* state, PutFamilyFunction put, DeleteFamilyFunction deleted,
                PutFamilyFunction merge, DeleteFunction log_data)
      : state_(state), put_(put), deleted_(deleted), merge_(merge), log_data_(log_data) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    if (put_ != nullptr) put_(state_, family, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    if (deleted_ != nullptr) deleted_(state_, family, key.data(), key.size());
    return Status::OK();
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    if (merge_ != nullptr) {
      merge_(state_, family, key.data(), key.size(), value.data(), value.size());
    }
    return Status::OK();
  }
  void LogData(const Slice& blob) override {
    if (log_data_ != nullptr) log_data_(state_, blob.data(), blob.size());
  }

 private:
  void* const state_;
  const PutFamilyFunction put_;
  const DeleteFamilyFunction deleted_;
  const PutFamilyFunction merge_;
  const DeleteFunction log_data_;
};

// Drops the walk's error, because these functions have no errptr.
void Iterate(rocksdb_writebatch_t* batch, WriteBatch::Handler* handler) {
  if (batch == nullptr) return;
  varve::c::TryVoid([&] { batch->rep.Iterate(handler).PermitUncheckedError(); });
}

}  // namespace

void varve::c::IteratePlain(const WriteBatch& batch, void* state, PutFunction put,
                            DeleteFunction deleted) {
  PlainHandler handler(state, put, deleted, nullptr);
  TryVoid([&] { batch.Iterate(&handler).PermitUncheckedError(); });
}

Status varve::c::UpdateTimestamps(WriteBatch* batch, const Slice& ts, void* state,
                                  size_t (*get_ts_size)(void*, uint32_t)) {
  if (batch == nullptr || get_ts_size == nullptr) return NullArgument("batch or get_ts_size");
  return batch->UpdateTimestamps(ts, [=](uint32_t family) { return get_ts_size(state, family); });
}

rocksdb_writebatch_t* rocksdb_writebatch_create() {
  return rocksdb_writebatch_create_with_params(0, 0, 0, 0);
}

rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* rep, size_t size) {
  return varve::c::Try([&] {
    return new rocksdb_writebatch_t{WriteBatch(std::string(rep, rep == nullptr ? 0 : size)), {}};
  });
}

rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                            size_t protection_bytes_per_key,
                                                            size_t default_cf_ts_sz) {
  return varve::c::Try([&] {
    return new rocksdb_writebatch_t{
        WriteBatch(reserved_bytes, max_bytes, varve::c::BatchProtection(protection_bytes_per_key),
                   default_cf_ts_sz),
        {}};
  });
}

void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch) {
  varve::c::Clear(batch);
}

int rocksdb_writebatch_count(rocksdb_writebatch_t* batch) {
  if (batch == nullptr) return 0;
  const uint32_t count = batch->rep.Count();
  return count > INT_MAX ? INT_MAX : static_cast<int>(count);
}

void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key, size_t klen,
                            const char* val, size_t vlen) {
  Add(batch, [&](WriteBatch* b) { return b->Put(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family,
                               const char* key, size_t klen, const char* val, size_t vlen) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Put(f, Slice(key, klen), Slice(val, vlen));
  });
}

void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t* batch,
                                       rocksdb_column_family_handle_t* family, const char* key,
                                       size_t klen, const char* ts, size_t tslen, const char* val,
                                       size_t vlen) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Put(f, Slice(key, klen), Slice(ts, tslen), Slice(val, vlen));
  });
}

void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                             const size_t* key_sizes, int num_values, const char* const* values,
                             const size_t* value_sizes) {
  Add(batch, [&](WriteBatch* b) {
    return b->Put(Pieces(num_keys, keys, key_sizes).parts(),
                  Pieces(num_values, values, value_sizes).parts());
  });
}

void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family,
                                int num_keys, const char* const* keys, const size_t* key_sizes,
                                int num_values, const char* const* values,
                                const size_t* value_sizes) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Put(f, Pieces(num_keys, keys, key_sizes).parts(),
                  Pieces(num_values, values, value_sizes).parts());
  });
}

void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* key, size_t klen,
                              const char* val, size_t vlen) {
  Add(batch, [&](WriteBatch* b) { return b->Merge(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch,
                                 rocksdb_column_family_handle_t* family, const char* key,
                                 size_t klen, const char* val, size_t vlen) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Merge(f, Slice(key, klen), Slice(val, vlen));
  });
}

void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                               const size_t* key_sizes, int num_values, const char* const* values,
                               const size_t* value_sizes) {
  Add(batch, [&](WriteBatch* b) {
    return b->Merge(Pieces(num_keys, keys, key_sizes).parts(),
                    Pieces(num_values, values, value_sizes).parts());
  });
}

void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch,
                                  rocksdb_column_family_handle_t* family, int num_keys,
                                  const char* const* keys, const size_t* key_sizes, int num_values,
                                  const char* const* values, const size_t* value_sizes) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Merge(f, Pieces(num_keys, keys, key_sizes).parts(),
                    Pieces(num_values, values, value_sizes).parts());
  });
}

void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key, size_t klen) {
  Add(batch, [&](WriteBatch* b) { return b->Delete(Slice(key, klen)); });
}

void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t klen) {
  AddIn(batch, family,
        [&](WriteBatch* b, ColumnFamilyHandle* f) { return b->Delete(f, Slice(key, klen)); });
}

void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t* batch,
                                          rocksdb_column_family_handle_t* family, const char* key,
                                          size_t klen, const char* ts, size_t tslen) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Delete(f, Slice(key, klen), Slice(ts, tslen));
  });
}

void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                                const size_t* key_sizes) {
  Add(batch, [&](WriteBatch* b) { return b->Delete(Pieces(num_keys, keys, key_sizes).parts()); });
}

void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch,
                                   rocksdb_column_family_handle_t* family, int num_keys,
                                   const char* const* keys, const size_t* key_sizes) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->Delete(f, Pieces(num_keys, keys, key_sizes).parts());
  });
}

void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key, size_t klen) {
  Add(batch, [&](WriteBatch* b) { return b->SingleDelete(Slice(key, klen)); });
}

void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch,
                                        rocksdb_column_family_handle_t* family, const char* key,
                                        size_t klen) {
  AddIn(batch, family,
        [&](WriteBatch* b, ColumnFamilyHandle* f) { return b->SingleDelete(f, Slice(key, klen)); });
}

void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t* batch,
                                                rocksdb_column_family_handle_t* family,
                                                const char* key, size_t klen, const char* ts,
                                                size_t tslen) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->SingleDelete(f, Slice(key, klen), Slice(ts, tslen));
  });
}

void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* start_key,
                                     size_t start_key_len, const char* end_key,
                                     size_t end_key_len) {
  Add(batch, [&](WriteBatch* b) {
    return b->DeleteRange(Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch,
                                        rocksdb_column_family_handle_t* family,
                                        const char* start_key, size_t start_key_len,
                                        const char* end_key, size_t end_key_len) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return b->DeleteRange(f, Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int num_keys,
                                      const char* const* start_keys, const size_t* start_sizes,
                                      const char* const* end_keys, const size_t* end_sizes) {
  Add(batch, [&](WriteBatch* b) {
    return DeletePiecewise(b, nullptr, num_keys, start_keys, start_sizes, end_keys, end_sizes);
  });
}

void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch,
                                         rocksdb_column_family_handle_t* family, int num_keys,
                                         const char* const* start_keys, const size_t* start_sizes,
                                         const char* const* end_keys, const size_t* end_sizes) {
  AddIn(batch, family, [&](WriteBatch* b, ColumnFamilyHandle* f) {
    return DeletePiecewise(b, f, num_keys, start_keys, start_sizes, end_keys, end_sizes);
  });
}

void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob, size_t len) {
  Add(batch, [&](WriteBatch* b) { return b->PutLogData(Slice(blob, len)); });
}

void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch) {
  varve::c::SetSavePoint(batch);
}

void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch, char** errptr) {
  Run(errptr, [&] { return varve::c::RollbackToSavePoint(batch); });
}

void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr) {
  Run(errptr, [&] { return varve::c::PopSavePoint(batch); });
}

void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v,
                                            size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  if (batch != nullptr) varve::c::IteratePlain(batch->rep, state, put, deleted);
}

void rocksdb_writebatch_iterate_ld(rocksdb_writebatch_t* batch, void* state,
                                   void (*put)(void*, const char* k, size_t klen, const char* v,
                                               size_t vlen),
                                   void (*deleted)(void*, const char* k, size_t klen),
                                   void (*log_data)(void*, const char* blob, size_t blob_len)) {
  PlainHandler handler(state, put, deleted, log_data);
  Iterate(batch, &handler);
}

void rocksdb_writebatch_iterate_cf(rocksdb_writebatch_t* batch, void* state,
                                   void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen,
                                                  const char* v, size_t vlen),
                                   void (*deleted_cf)(void*, uint32_t cfid, const char* k,
                                                      size_t klen),
                                   void (*merge_cf)(void*, uint32_t cfid, const char* k,
                                                    size_t klen, const char* v, size_t vlen)) {
  FamilyHandler handler(state, put_cf, deleted_cf, merge_cf, nullptr);
  Iterate(batch, &handler);
}

void rocksdb_writebatch_iterate_cf_ld(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*log_data)(void*, const char* blob, size_t blob_len)) {
  FamilyHandler handler(state, put_cf, deleted_cf, merge_cf, log_data);
  Iterate(batch, &handler);
}

const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size) {
  varve::c::StoreSize(size, batch == nullptr ? 0 : batch->rep.GetDataSize());
  return batch == nullptr ? nullptr : batch->rep.Data().data();
}

void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t* batch, char** errptr) {
  Run(errptr,
      [&] { return batch == nullptr ? NullArgument("batch") : batch->rep.VerifyChecksum(); });
}

void rocksdb_writebatch_update_timestamps(rocksdb_writebatch_t* batch, const char* ts, size_t tslen,
                                          void* state, size_t (*get_ts_size)(void*, uint32_t),
                                          char** errptr) {
  Run(errptr, [&] {
    return varve::c::UpdateTimestamps(batch == nullptr ? nullptr : &batch->rep, Slice(ts, tslen),
                                      state, get_ts_size);
  });
}
