// SPDX-License-Identifier: Apache-2.0
// Write batches with an index in the C API, without the index: they are filled and written as plain
// ones; what would read them says that it cannot.
#include "db/api/c/c_types.h"

using varve::Status;

struct rocksdb_writebatch_wi_t : rocksdb_writebatch_t {};

namespace {

using Bytes = char*;

constexpr char kNoIndex[] = "this engine does not have reads of write batches";

bool HasBatch(const rocksdb_writebatch_wi_t* batch, char** errptr,
              const char* call = __builtin_FUNCTION()) {
  if (batch == nullptr) varve::c::SetError(errptr, varve::c::NullArgument("batch"), call);
  return batch != nullptr;
}

Status NoIndex() {
  return Status::NotSupported("C API", kNoIndex);
}

}  // namespace

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t reserved_bytes,
                                                      unsigned char overwrite_keys) {
  return rocksdb_writebatch_wi_create_with_params(nullptr, reserved_bytes, overwrite_keys, 0, 0);
}

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(
    rocksdb_comparator_t* /*backup_index_comparator*/, size_t reserved_bytes,
    unsigned char /*overwrite_key*/, size_t max_bytes, size_t protection_bytes_per_key) {
  return varve::c::Try([&] {
    return new rocksdb_writebatch_wi_t{
        {varve::WriteBatch(reserved_bytes, max_bytes,
                           varve::c::BatchProtection(protection_bytes_per_key), 0),
         Status()}};
  });
}

void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* batch) {
  delete batch;
}

void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_wi_t* wbwi, char** errptr) {
  if (HasBatch(wbwi, errptr)) rocksdb_write(db, options, wbwi, errptr);
}

// ---- As of plain batches ----

void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* batch) {
  rocksdb_writebatch_clear(batch);
}

int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* batch) {
  return rocksdb_writebatch_count(batch);
}

const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* batch, size_t* size) {
  return rocksdb_writebatch_data(batch, size);
}

void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen) {
  rocksdb_writebatch_delete(batch, key, klen);
}

void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t* batch,
                                     rocksdb_column_family_handle_t* family, const char* key,
                                     size_t klen) {
  rocksdb_writebatch_delete_cf(batch, family, key, klen);
}

void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* batch, const char* start_key,
                                        size_t start_key_len, const char* end_key,
                                        size_t end_key_len) {
  rocksdb_writebatch_delete_range(batch, start_key, start_key_len, end_key, end_key_len);
}

void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* batch,
                                           rocksdb_column_family_handle_t* family,
                                           const char* start_key, size_t start_key_len,
                                           const char* end_key, size_t end_key_len) {
  rocksdb_writebatch_delete_range_cf(batch, family, start_key, start_key_len, end_key, end_key_len);
}

void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                         const char* const* start_keys_list,
                                         const size_t* start_keys_list_sizes,
                                         const char* const* end_keys_list,
                                         const size_t* end_keys_list_sizes) {
  rocksdb_writebatch_delete_rangev(batch, num_keys, start_keys_list, start_keys_list_sizes,
                                   end_keys_list, end_keys_list_sizes);
}

void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t* batch,
                                            rocksdb_column_family_handle_t* family, int num_keys,
                                            const char* const* start_keys_list,
                                            const size_t* start_keys_list_sizes,
                                            const char* const* end_keys_list,
                                            const size_t* end_keys_list_sizes) {
  rocksdb_writebatch_delete_rangev_cf(batch, family, num_keys, start_keys_list,
                                      start_keys_list_sizes, end_keys_list, end_keys_list_sizes);
}

void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                   const char* const* keys_list, const size_t* keys_list_sizes) {
  rocksdb_writebatch_deletev(batch, num_keys, keys_list, keys_list_sizes);
}

void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* batch,
                                      rocksdb_column_family_handle_t* family, int num_keys,
                                      const char* const* keys_list, const size_t* keys_list_sizes) {
  rocksdb_writebatch_deletev_cf(batch, family, num_keys, keys_list, keys_list_sizes);
}

void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* batch, void* state,
                                   void (*put)(void*, const char* k, size_t klen, const char* v,
                                               size_t vlen),
                                   void (*deleted)(void*, const char* k, size_t klen)) {
  rocksdb_writebatch_iterate(batch, state, put, deleted);
}

void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen,
                                 const char* value, size_t vlen) {
  rocksdb_writebatch_merge(batch, key, klen, value, vlen);
}

void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t* batch,
                                    rocksdb_column_family_handle_t* family, const char* key,
                                    size_t klen, const char* value, size_t vlen) {
  rocksdb_writebatch_merge_cf(batch, family, key, klen, value, vlen);
}

void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes,
                                  int num_values, const char* const* values_list,
                                  const size_t* values_list_sizes) {
  rocksdb_writebatch_mergev(batch, num_keys, keys_list, keys_list_sizes, num_values, values_list,
                            values_list_sizes);
}

void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* batch,
                                     rocksdb_column_family_handle_t* family, int num_keys,
                                     const char* const* keys_list, const size_t* keys_list_sizes,
                                     int num_values, const char* const* values_list,
                                     const size_t* values_list_sizes) {
  rocksdb_writebatch_mergev_cf(batch, family, num_keys, keys_list, keys_list_sizes, num_values,
                               values_list, values_list_sizes);
}

void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t* batch, const char* key, size_t klen,
                               const char* value, size_t vlen) {
  rocksdb_writebatch_put(batch, key, klen, value, vlen);
}

void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t* batch,
                                  rocksdb_column_family_handle_t* family, const char* key,
                                  size_t klen, const char* value, size_t vlen) {
  rocksdb_writebatch_put_cf(batch, family, key, klen, value, vlen);
}

void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t* batch, const char* blob,
                                        size_t len) {
  rocksdb_writebatch_put_log_data(batch, blob, len);
}

void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* batch, int num_keys,
                                const char* const* keys_list, const size_t* keys_list_sizes,
                                int num_values, const char* const* values_list,
                                const size_t* values_list_sizes) {
  rocksdb_writebatch_putv(batch, num_keys, keys_list, keys_list_sizes, num_values, values_list,
                          values_list_sizes);
}

void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* batch,
                                   rocksdb_column_family_handle_t* family, int num_keys,
                                   const char* const* keys_list, const size_t* keys_list_sizes,
                                   int num_values, const char* const* values_list,
                                   const size_t* values_list_sizes) {
  rocksdb_writebatch_putv_cf(batch, family, num_keys, keys_list, keys_list_sizes, num_values,
                             values_list, values_list_sizes);
}

void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* batch, char** errptr) {
  if (HasBatch(batch, errptr)) rocksdb_writebatch_rollback_to_save_point(batch, errptr);
}

void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* batch) {
  rocksdb_writebatch_set_save_point(batch);
}

void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t* batch, const char* key,
                                        size_t klen) {
  rocksdb_writebatch_singledelete(batch, key, klen);
}

void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t* batch,
                                           rocksdb_column_family_handle_t* family, const char* key,
                                           size_t klen) {
  rocksdb_writebatch_singledelete_cf(batch, family, key, klen);
}

void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t* batch, const char* ts,
                                             size_t tslen, void* state,
                                             size_t (*get_ts_size)(void*, uint32_t),
                                             char** errptr) {
  if (!HasBatch(batch, errptr)) return;
  rocksdb_writebatch_update_timestamps(batch, ts, tslen, state, get_ts_size, errptr);
}

// ---- What needs the index ----

VARVE_C_REFUSES_VALUE(Bytes, rocksdb_writebatch_wi_get_from_batch, NoIndex,
                      (rocksdb_writebatch_wi_t*, const rocksdb_options_t*, const char*, size_t,
                       size_t* size, char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_writebatch_wi_get_from_batch_and_db, NoIndex,
                      (rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*,
                       const char*, size_t, size_t* size, char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_writebatch_wi_get_from_batch_and_db_cf, NoIndex,
                      (rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*,
                       rocksdb_column_family_handle_t*, const char*, size_t, size_t* size,
                       char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_writebatch_wi_get_from_batch_cf, NoIndex,
                      (rocksdb_writebatch_wi_t*, const rocksdb_options_t*,
                       rocksdb_column_family_handle_t*, const char*, size_t, size_t* size,
                       char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_writebatch_wi_get_pinned_from_batch_and_db,
                NoIndex,
                (rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*, const char*,
                 size_t, char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf,
                NoIndex,
                (rocksdb_writebatch_wi_t*, rocksdb_t*, const rocksdb_readoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, char** errptr));

// As in RocksDB, the base iterator is taken over.
rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(
    rocksdb_writebatch_wi_t* /*batch*/, rocksdb_iterator_t* base_iterator) {
  rocksdb_iter_destroy(base_iterator);
  return varve::c::FailedIterator(__func__, kNoIndex);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(
    rocksdb_writebatch_wi_t* /*batch*/, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* /*family*/) {
  rocksdb_iter_destroy(base_iterator);
  return varve::c::FailedIterator(__func__, kNoIndex);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* /*batch*/, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* /*family*/, const rocksdb_readoptions_t* /*options*/) {
  rocksdb_iter_destroy(base_iterator);
  return varve::c::FailedIterator(__func__, kNoIndex);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t* /*batch*/, rocksdb_iterator_t* base_iterator,
    const rocksdb_readoptions_t* /*options*/) {
  rocksdb_iter_destroy(base_iterator);
  return varve::c::FailedIterator(__func__, kNoIndex);
}
