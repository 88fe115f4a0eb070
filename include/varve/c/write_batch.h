// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares updates that are applied together. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif
// A batch collects updates that rocksdb_write applies together or not at all, in the order of the
// calls. Updates are copied. An update that cannot be added (size limit, null family, no memory)
// makes rocksdb_write fail. Not thread-safe.
//
// Functions named ..._cf take a column family, the others use "default"; those named ..._with_ts
// are for families with timestamps.
VARVE_C_API rocksdb_writebatch_t* rocksdb_writebatch_create(void);

// Makes a batch from the result of rocksdb_writebatch_data.
VARVE_C_API rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* rep, size_t size);

// max_bytes: limit of the size, 0: none. protection_bytes_per_key: 0 or 8.
VARVE_C_API rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(
    size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
    size_t default_cf_ts_sz);
// Free a batch; empty it for use again; return the number of its updates.
VARVE_C_API void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch);
VARVE_C_API void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch);
VARVE_C_API int rocksdb_writebatch_count(rocksdb_writebatch_t* batch);
// Sets the value of a key.
VARVE_C_API void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key, size_t klen,
                                        const char* val, size_t vlen);
VARVE_C_API void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch,
                                           rocksdb_column_family_handle_t* family, const char* key,
                                           size_t klen, const char* val, size_t vlen);
VARVE_C_API void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t* batch,
                                                   rocksdb_column_family_handle_t* family,
                                                   const char* key, size_t klen, const char* ts,
                                                   size_t tslen, const char* val, size_t vlen);

// In the ...v forms a key or value is the concatenation of pieces.
VARVE_C_API void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int num_keys,
                                         const char* const* keys, const size_t* key_sizes,
                                         int num_values, const char* const* values,
                                         const size_t* value_sizes);
VARVE_C_API void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch,
                                            rocksdb_column_family_handle_t* family, int num_keys,
                                            const char* const* keys, const size_t* key_sizes,
                                            int num_values, const char* const* values,
                                            const size_t* value_sizes);
// Adds an operand for the family's merge operator.
VARVE_C_API void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* key, size_t klen,
                                          const char* val, size_t vlen);
VARVE_C_API void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch,
                                             rocksdb_column_family_handle_t* family,
                                             const char* key, size_t klen, const char* val,
                                             size_t vlen);
VARVE_C_API void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int num_keys,
                                           const char* const* keys, const size_t* key_sizes,
                                           int num_values, const char* const* values,
                                           const size_t* value_sizes);
VARVE_C_API void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch,
                                              rocksdb_column_family_handle_t* family, int num_keys,
                                              const char* const* keys, const size_t* key_sizes,
                                              int num_values, const char* const* values,
                                              const size_t* value_sizes);
// Deletes a key, whether or not it exists.
VARVE_C_API void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key,
                                           size_t klen);
VARVE_C_API void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch,
                                              rocksdb_column_family_handle_t* family,
                                              const char* key, size_t klen);
VARVE_C_API void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t* batch,
                                                      rocksdb_column_family_handle_t* family,
                                                      const char* key, size_t klen, const char* ts,
                                                      size_t tslen);
VARVE_C_API void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int num_keys,
                                            const char* const* keys, const size_t* key_sizes);
VARVE_C_API void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch,
                                               rocksdb_column_family_handle_t* family, int num_keys,
                                               const char* const* keys, const size_t* key_sizes);
// Deletes a key that was put exactly once since it was last deleted.
VARVE_C_API void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key,
                                                 size_t klen);
VARVE_C_API void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch,
                                                    rocksdb_column_family_handle_t* family,
                                                    const char* key, size_t klen);
VARVE_C_API void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t* batch,
                                                            rocksdb_column_family_handle_t* family,
                                                            const char* key, size_t klen,
                                                            const char* ts, size_t tslen);

// Ranges exclude their end.
VARVE_C_API void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* start_key,
                                                 size_t start_key_len, const char* end_key,
                                                 size_t end_key_len);
VARVE_C_API void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch,
                                                    rocksdb_column_family_handle_t* family,
                                                    const char* start_key, size_t start_key_len,
                                                    const char* end_key, size_t end_key_len);
VARVE_C_API void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int num_keys,
                                                  const char* const* start_keys,
                                                  const size_t* start_sizes,
                                                  const char* const* end_keys,
                                                  const size_t* end_sizes);
VARVE_C_API void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch,
                                                     rocksdb_column_family_handle_t* family,
                                                     int num_keys, const char* const* start_keys,
                                                     const size_t* start_sizes,
                                                     const char* const* end_keys,
                                                     const size_t* end_sizes);

// Adds bytes that are written to the log only.
VARVE_C_API void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob,
                                                 size_t len);

// A stack of save points. Rolling back and popping fail when it is empty.
VARVE_C_API void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch);
VARVE_C_API void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch,
                                                           char** errptr);
VARVE_C_API void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr);

// Call the callbacks, any of which may be null, with the updates in order. Single deletions of the
// default family, and in the first two functions its merges, are passed over silently. The walk
// ends, without a report, at any other kind of update (range deletion, entity, ...), at a single
// deletion of another family, and in the first two at any update of another family.
VARVE_C_API void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state,
                                            void (*put)(void*, const char* k, size_t klen,
                                                        const char* v, size_t vlen),
                                            void (*deleted)(void*, const char* k, size_t klen));
VARVE_C_API void rocksdb_writebatch_iterate_ld(rocksdb_writebatch_t* batch, void* state,
                                               void (*put)(void*, const char* k, size_t klen,
                                                           const char* v, size_t vlen),
                                               void (*deleted)(void*, const char* k, size_t klen),
                                               void (*log_data)(void*, const char* blob,
                                                                size_t blob_len));
VARVE_C_API void rocksdb_writebatch_iterate_cf(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen));
VARVE_C_API void rocksdb_writebatch_iterate_cf_ld(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*log_data)(void*, const char* blob, size_t blob_len));

// Returns the serialized form, valid until the batch is changed.
VARVE_C_API const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size);

// Compares the entries with their checksums, if protection is on.
VARVE_C_API void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t* batch, char** errptr);

// Overwrites all timestamps; get_ts_size returns the bytes of a family's timestamps, 0 to skip it.
VARVE_C_API void rocksdb_writebatch_update_timestamps(rocksdb_writebatch_t* batch, const char* ts,
                                                      size_t tslen, void* state,
                                                      size_t (*get_ts_size)(void*, uint32_t),
                                                      char** errptr);

#ifdef __cplusplus
}  // extern "C"
#endif
