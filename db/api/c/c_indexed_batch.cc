// SPDX-License-Identifier: Apache-2.0
// Implements write batches with an index for the C API.
//
// The handle of a batch is one of two kinds: it owns its batch (`owned`), or it is a view of a
// transaction's. Programs free the second kind by rocksdb_free, so both are allocated by malloc and
// have nothing to destroy themselves.
#include <array>
#include <climits>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "varve/utilities/write_batch_with_index.h"

#include "db/api/c/c_batch.h"
#include "db/api/c/c_results.h"
#include "db/api/c/c_types.h"
#include "db/api/c/value_handle_pool.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::Iterator;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::WriteOptions;
using varve::c::Add;
using varve::c::AddIn;
using varve::c::DeletePiecewise;
using varve::c::Family;
using varve::c::kDefaultFamily;
using varve::c::NullArgument;
using varve::c::Pieces;
using varve::c::Run;
using varve::c::RunOnDb;
using varve::c::SingleResult;
using varve::c::StoreSize;
using varve::c::ValueHandlePool;

namespace {

Status CheckHandles(const rocksdb_writebatch_wi_t* batch,
                    const rocksdb_column_family_handle_t* family) {
  if (batch == nullptr) return NullArgument("batch");
  return family == nullptr ? NullArgument("family") : Status::OK();
}

// Returns a copy of the value that `read` puts into its argument; null if there is none.
template <typename Read>
char* CopyFound(size_t* vallen, char** errptr, const char* call, Read read) {
  StoreSize(vallen, 0);
  char* copy = nullptr;
  const auto run = [&]() -> Status {
    std::string value;
    Status s = read(&value);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    copy = varve::c::CopyBytes(value);
    if (copy == nullptr) return Status::MemoryLimit();
    StoreSize(vallen, value.size());
    return Status::OK();
  };
  Run(errptr, run, call);
  return copy;
}

// Returns a malloc'ed copy of the value that the batch alone has for the key; null if it has none.
char* GetFromBatch(rocksdb_writebatch_wi_t* batch, const rocksdb_options_t* options,
                   const rocksdb_column_family_handle_t* family, const Slice& key, size_t* vallen,
                   char** errptr, const char* call = __builtin_FUNCTION()) {
  return CopyFound(vallen, errptr, call, [&](std::string* value) -> Status {
    Status s = CheckHandles(batch, family);
    if (!s.ok()) return s;
    if (options == nullptr) return NullArgument("options");
    return batch->rep.GetFromBatch(Family(family), options->rep, key, value);
  });
}

// Reads a key from the batch and the database together.
Status Read(rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
            const rocksdb_column_family_handle_t* family, const Slice& key, PinnableSlice* value) {
  Status s = CheckHandles(batch, family);
  if (!s.ok()) return s;
  if (db == nullptr) return NullArgument("db");
  if (options == nullptr) return NullArgument("options");
  return batch->rep.GetFromBatchAndDB(db->rep.get(), options->rep, Family(family), key, value);
}

// Does Read, and returns a malloc'ed copy of the value; null if there is none.
char* GetFromBatchAndDB(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                        const rocksdb_readoptions_t* options,
                        const rocksdb_column_family_handle_t* family, const Slice& key,
                        size_t* vallen, char** errptr, const char* call = __builtin_FUNCTION()) {
  return CopyFound(vallen, errptr, call, [&](std::string* value) {
    PinnableSlice pinned(value);
    Status s = Read(batch, db, options, family, key, &pinned);
    if (s.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
    return s;
  });
}

// Does Read, and returns a handle that holds the value; null if there is none.
rocksdb_pinnableslice_t* GetPinned(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                                   const rocksdb_readoptions_t* options,
                                   const rocksdb_column_family_handle_t* family, const Slice& key,
                                   char** errptr, const char* call = __builtin_FUNCTION()) {
  SingleResult* found = nullptr;
  const auto read = [&]() -> Status {
    // The handle goes back to the pool by itself unless it is given out.
    auto pinned = ValueHandlePool<SingleResult>::Take();
    Status s = Read(batch, db, options, family, key, &pinned->rep);
    if (s.IsNotFound()) return Status::OK();
    if (s.ok()) found = pinned.release();
    return s;
  };
  Run(errptr, read, call);
  return found;
}

// Takes the iterator out of the base's handle; objects that its options point to live as long as
// it.
std::unique_ptr<Iterator> TakeOver(std::unique_ptr<rocksdb_iterator_t> handle) {
  using Keys = std::array<varve::c::SharedKey, std::extent_v<decltype(handle->keys)>>;
  auto keys = std::make_unique<Keys>();
  std::move(std::begin(handle->keys), std::end(handle->keys), keys->begin());
  std::unique_ptr<Iterator> base = std::move(handle->rep);
  // The base goes into another iterator, without its handle. The keys that its options point to are
  // destroyed with it.
  base->RegisterCleanup([](void* held, void* /*unused*/) { delete static_cast<Keys*>(held); },
                        keys.get(), nullptr);
  // The cleanup owns the keys now, and nothing can fail between the two.
  keys.release();
  return base;
}

// Returns an iterator over the batch and the base, or one that has only an error; null without
// memory. Takes the base over in every case. `options` is null if the function has none.
rocksdb_iterator_t* IteratorWithBase(rocksdb_writebatch_wi_t* batch,
                                     rocksdb_iterator_t* base_iterator,
                                     const rocksdb_column_family_handle_t* family,
                                     const rocksdb_readoptions_t* options) {
  // The base belongs to this call from here on, also if it fails: so the ABI says, and programs do
  // not free it.
  std::unique_ptr<rocksdb_iterator_t> base(base_iterator);
  return varve::c::Try([&] {
    auto iter = std::make_unique<rocksdb_iterator_t>();
    const Status s = CheckHandles(batch, family);
    if (!s.ok()) {
      iter->rep.reset(varve::NewErrorIterator(s));
      return iter.release();
    }
    if (options != nullptr) varve::c::HoldOptions(iter.get(), options);
    // Values are read late if the base was made so, whatever the options of this call say.
    iter->lazy = base != nullptr && base->lazy;
    iter->rep.reset(batch->rep.NewIteratorWithBase(
        Family(family), base == nullptr ? nullptr : TakeOver(std::move(base)).release(),
        options == nullptr ? nullptr : &options->rep));
    return iter.release();
  });
}

// Returns an iterator with the error that the options are null, and destroys the base.
rocksdb_iterator_t* WithoutOptions(rocksdb_iterator_t* base_iterator) {
  const std::unique_ptr<rocksdb_iterator_t> base(base_iterator);
  return varve::c::Try([&] {
    auto iter = std::make_unique<rocksdb_iterator_t>();
    iter->rep.reset(varve::NewErrorIterator(NullArgument("options")));
    return iter.release();
  });
}

}  // namespace

namespace varve::c {

rocksdb_writebatch_wi_t* NewIndexedBatchHandle(WriteBatchWithIndex* batch, BatchFailure* failure,
                                               OwnedIndexedBatch* owned) noexcept {
  static_assert(std::is_trivially_destructible_v<rocksdb_writebatch_wi_t>);
  void* const place = std::malloc(sizeof(rocksdb_writebatch_wi_t));
  return place == nullptr ? nullptr : new (place) rocksdb_writebatch_wi_t{*batch, *failure, owned};
}

}  // namespace varve::c

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t reserved_bytes,
                                                      unsigned char overwrite_keys) {
  return rocksdb_writebatch_wi_create_with_params(nullptr, reserved_bytes, overwrite_keys, 0, 0);
}

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(
    rocksdb_comparator_t* backup_index_comparator, size_t reserved_bytes,
    unsigned char overwrite_key, size_t max_bytes, size_t protection_bytes_per_key) {
  return varve::c::Try([&] {
    std::shared_ptr<const varve::Comparator> comparator;
    if (backup_index_comparator != nullptr) comparator = backup_index_comparator->rep;
    varve::WriteBatchWithIndex batch(comparator.get(), reserved_bytes, overwrite_key != 0,
                                     max_bytes,
                                     varve::c::BatchProtection(protection_bytes_per_key));
    std::unique_ptr<OwnedIndexedBatch> owned(
        new OwnedIndexedBatch{std::move(batch), {}, std::move(comparator)});
    rocksdb_writebatch_wi_t* const handle =
        varve::c::NewIndexedBatchHandle(&owned->rep, &owned->failure, owned.get());
    if (handle != nullptr) (void)owned.release();
    return handle;
  });
}

void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* batch) {
  if (batch == nullptr) return;
  delete batch->owned;
  std::free(batch);
}

void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_wi_t* wbwi, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) -> Status {
    if (wbwi == nullptr) return NullArgument("batch");
    if (!wbwi->failure.status().ok()) return wbwi->failure.status();
    return d->Write(o, wbwi->rep.GetWriteBatch());
  });
}

// ---- Filling ----

void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* batch) {
  varve::c::Clear(batch);
}

int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* batch) {
  if (batch == nullptr) return 0;
  const uint32_t count = batch->rep.GetWriteBatch()->Count();
  return count > INT_MAX ? INT_MAX : static_cast<int>(count);
}

const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* batch, size_t* size) {
  StoreSize(size, batch == nullptr ? 0 : batch->rep.GetDataSize());
  return batch == nullptr ? nullptr : batch->rep.GetWriteBatch()->Data().data();
}

void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* batch, void* state,
                                   void (*put)(void*, const char* k, size_t klen, const char* v,
                                               size_t vlen),
                                   void (*deleted)(void*, const char* k, size_t klen)) {
  if (batch != nullptr) {
    varve::c::IteratePlain(*batch->rep.GetWriteBatch(), state, put, deleted);
  }
}

void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen,
                               const char* value, size_t vlen) {
  Add(batch, [&](auto* b) { return b->Put(Slice(key, klen), Slice(value, vlen)); });
}

void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t* batch,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t klen, const char* value, size_t vlen) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->Put(f, Slice(key, klen), Slice(value, vlen));
  });
}

void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* batch, int num_keys,
                                const char* const* keys_list, const size_t* keys_list_sizes,
                                int num_values, const char* const* values_list,
                                const size_t* values_list_sizes) {
  Add(batch, [&](auto* b) {
    return b->Put(Pieces(num_keys, keys_list, keys_list_sizes).parts(),
                  Pieces(num_values, values_list, values_list_sizes).parts());
  });
}

void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* batch,
                                   rocksdb_column_family_handle_t* family, int num_keys,
                                   const char* const* keys_list, const size_t* keys_list_sizes,
                                   int num_values, const char* const* values_list,
                                   const size_t* values_list_sizes) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->Put(f, Pieces(num_keys, keys_list, keys_list_sizes).parts(),
                  Pieces(num_values, values_list, values_list_sizes).parts());
  });
}

void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen,
                                 const char* value, size_t vlen) {
  Add(batch, [&](auto* b) { return b->Merge(Slice(key, klen), Slice(value, vlen)); });
}

void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t* batch,
                                    rocksdb_column_family_handle_t* family, const char* key,
                                    size_t klen, const char* value, size_t vlen) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->Merge(f, Slice(key, klen), Slice(value, vlen));
  });
}

void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes,
                                  int num_values, const char* const* values_list,
                                  const size_t* values_list_sizes) {
  Add(batch, [&](auto* b) {
    return b->Merge(Pieces(num_keys, keys_list, keys_list_sizes).parts(),
                    Pieces(num_values, values_list, values_list_sizes).parts());
  });
}

void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* batch,
                                     rocksdb_column_family_handle_t* family, int num_keys,
                                     const char* const* keys_list, const size_t* keys_list_sizes,
                                     int num_values, const char* const* values_list,
                                     const size_t* values_list_sizes) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->Merge(f, Pieces(num_keys, keys_list, keys_list_sizes).parts(),
                    Pieces(num_values, values_list, values_list_sizes).parts());
  });
}

void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen) {
  Add(batch, [&](auto* b) { return b->Delete(Slice(key, klen)); });
}

void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t* batch,
                                     rocksdb_column_family_handle_t* family, const char* key,
                                     size_t klen) {
  AddIn(batch, family,
        [&](auto* b, ColumnFamilyHandle* f) { return b->Delete(f, Slice(key, klen)); });
}

void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                   const char* const* keys_list, const size_t* keys_list_sizes) {
  Add(batch,
      [&](auto* b) { return b->Delete(Pieces(num_keys, keys_list, keys_list_sizes).parts()); });
}

void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* batch,
                                      rocksdb_column_family_handle_t* family, int num_keys,
                                      const char* const* keys_list, const size_t* keys_list_sizes) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->Delete(f, Pieces(num_keys, keys_list, keys_list_sizes).parts());
  });
}

void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t* batch, const char* key,
                                        size_t klen) {
  Add(batch, [&](auto* b) { return b->SingleDelete(Slice(key, klen)); });
}

void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t* batch,
                                           rocksdb_column_family_handle_t* family, const char* key,
                                           size_t klen) {
  AddIn(batch, family,
        [&](auto* b, ColumnFamilyHandle* f) { return b->SingleDelete(f, Slice(key, klen)); });
}

void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* batch, const char* start_key,
                                        size_t start_key_len, const char* end_key,
                                        size_t end_key_len) {
  Add(batch, [&](auto* b) {
    return b->DeleteRange(Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* batch,
                                           rocksdb_column_family_handle_t* family,
                                           const char* start_key, size_t start_key_len,
                                           const char* end_key, size_t end_key_len) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return b->DeleteRange(f, Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                         const char* const* start_keys_list,
                                         const size_t* start_keys_list_sizes,
                                         const char* const* end_keys_list,
                                         const size_t* end_keys_list_sizes) {
  Add(batch, [&](auto* b) {
    return DeletePiecewise(b, nullptr, num_keys, start_keys_list, start_keys_list_sizes,
                           end_keys_list, end_keys_list_sizes);
  });
}

void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t* batch,
                                            rocksdb_column_family_handle_t* family, int num_keys,
                                            const char* const* start_keys_list,
                                            const size_t* start_keys_list_sizes,
                                            const char* const* end_keys_list,
                                            const size_t* end_keys_list_sizes) {
  AddIn(batch, family, [&](auto* b, ColumnFamilyHandle* f) {
    return DeletePiecewise(b, f, num_keys, start_keys_list, start_keys_list_sizes, end_keys_list,
                           end_keys_list_sizes);
  });
}

void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t* batch, const char* blob,
                                        size_t len) {
  Add(batch, [&](auto* b) { return b->PutLogData(Slice(blob, len)); });
}

void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* batch) {
  varve::c::SetSavePoint(batch);
}

void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* batch, char** errptr) {
  Run(errptr, [&] { return varve::c::RollbackToSavePoint(batch); });
}

void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t* batch, const char* ts,
                                             size_t tslen, void* state,
                                             size_t (*get_ts_size)(void*, uint32_t),
                                             char** errptr) {
  Run(errptr, [&] {
    return varve::c::UpdateTimestamps(batch == nullptr ? nullptr : batch->rep.GetWriteBatch(),
                                      Slice(ts, tslen), state, get_ts_size);
  });
}

// ---- Reading ----

char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t* batch,
                                           const rocksdb_options_t* options, const char* key,
                                           size_t keylen, size_t* vallen, char** errptr) {
  return GetFromBatch(batch, options, &kDefaultFamily, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t* batch,
                                              const rocksdb_options_t* options,
                                              rocksdb_column_family_handle_t* family,
                                              const char* key, size_t keylen, size_t* vallen,
                                              char** errptr) {
  return GetFromBatch(batch, options, family, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options,
                                                  const char* key, size_t keylen, size_t* vallen,
                                                  char** errptr) {
  return GetFromBatchAndDB(batch, db, options, &kDefaultFamily, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t* batch, rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     rocksdb_column_family_handle_t* family,
                                                     const char* key, size_t keylen, size_t* vallen,
                                                     char** errptr) {
  return GetFromBatchAndDB(batch, db, options, family, Slice(key, keylen), vallen, errptr);
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    const char* key, size_t keylen, char** errptr) {
  return GetPinned(batch, db, options, &kDefaultFamily, Slice(key, keylen), errptr);
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen, char** errptr) {
  return GetPinned(batch, db, options, family, Slice(key, keylen), errptr);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator) {
  return IteratorWithBase(batch, base_iterator, &kDefaultFamily, nullptr);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* family) {
  return IteratorWithBase(batch, base_iterator, family, nullptr);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    const rocksdb_readoptions_t* options) {
  return options == nullptr ? WithoutOptions(base_iterator)
                            : IteratorWithBase(batch, base_iterator, &kDefaultFamily, options);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* family, const rocksdb_readoptions_t* options) {
  return options == nullptr ? WithoutOptions(base_iterator)
                            : IteratorWithBase(batch, base_iterator, family, options);
}
