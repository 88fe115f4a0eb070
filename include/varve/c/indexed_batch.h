// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares write batches that can be read before they are written. Part of varve/c.h, which states
// the general rules.
//
// Functions without a family use the default one. A batch holds up to 4 GiB.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// These work like the functions of rocksdb_writebatch_t without "_wi". rocksdb_write_writebatch_wi
// writes the batch.
VARVE_C_API void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                             rocksdb_writebatch_wi_t* batch, char** errptr);
VARVE_C_API void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* batch);
VARVE_C_API int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* batch);
// Makes an empty batch. With overwrite_keys an index keeps only the newest update of each key, and
// the merges above it. Reads return the same either way.
VARVE_C_API rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t reserved_bytes,
                                                                  unsigned char overwrite_keys);
// Returns the serialized batch, valid until it is changed.
VARVE_C_API const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* batch, size_t* size);
VARVE_C_API void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t* batch,
                                                 rocksdb_column_family_handle_t* family,
                                                 const char* key, size_t klen);
VARVE_C_API void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* batch,
                                                       rocksdb_column_family_handle_t* family,
                                                       const char* start_key, size_t start_key_len,
                                                       const char* end_key, size_t end_key_len);
VARVE_C_API void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* batch,
                                                    const char* start_key, size_t start_key_len,
                                                    const char* end_key, size_t end_key_len);
VARVE_C_API void rocksdb_writebatch_wi_delete_rangev_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family, int num_keys,
    const char* const* start_keys_list, const size_t* start_keys_list_sizes,
    const char* const* end_keys_list, const size_t* end_keys_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                                     const char* const* start_keys_list,
                                                     const size_t* start_keys_list_sizes,
                                                     const char* const* end_keys_list,
                                                     const size_t* end_keys_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* batch, const char* key,
                                              size_t klen);
VARVE_C_API void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* batch,
                                                  rocksdb_column_family_handle_t* family,
                                                  int num_keys, const char* const* keys_list,
                                                  const size_t* keys_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                               const char* const* keys_list,
                                               const size_t* keys_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* batch);
VARVE_C_API void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* batch, void* state,
                                               void (*put)(void*, const char* k, size_t klen,
                                                           const char* v, size_t vlen),
                                               void (*deleted)(void*, const char* k, size_t klen));
VARVE_C_API void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t* batch,
                                                rocksdb_column_family_handle_t* family,
                                                const char* key, size_t klen, const char* value,
                                                size_t vlen);
VARVE_C_API void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t* batch, const char* key,
                                             size_t klen, const char* value, size_t vlen);
VARVE_C_API void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* batch,
                                                 rocksdb_column_family_handle_t* family,
                                                 int num_keys, const char* const* keys_list,
                                                 const size_t* keys_list_sizes, int num_values,
                                                 const char* const* values_list,
                                                 const size_t* values_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* batch, int num_keys,
                                              const char* const* keys_list,
                                              const size_t* keys_list_sizes, int num_values,
                                              const char* const* values_list,
                                              const size_t* values_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t* batch,
                                              rocksdb_column_family_handle_t* family,
                                              const char* key, size_t klen, const char* value,
                                              size_t vlen);
VARVE_C_API void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t* batch,
                                                    const char* blob, size_t len);
VARVE_C_API void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t* batch, const char* key,
                                           size_t klen, const char* value, size_t vlen);
VARVE_C_API void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* batch,
                                               rocksdb_column_family_handle_t* family, int num_keys,
                                               const char* const* keys_list,
                                               const size_t* keys_list_sizes, int num_values,
                                               const char* const* values_list,
                                               const size_t* values_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* batch, int num_keys,
                                            const char* const* keys_list,
                                            const size_t* keys_list_sizes, int num_values,
                                            const char* const* values_list,
                                            const size_t* values_list_sizes);
VARVE_C_API void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* batch,
                                                              char** errptr);
VARVE_C_API void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* batch);
VARVE_C_API void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t* batch,
                                                       rocksdb_column_family_handle_t* family,
                                                       const char* key, size_t klen);
VARVE_C_API void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t* batch, const char* key,
                                                    size_t klen);
VARVE_C_API void rocksdb_writebatch_wi_update_timestamps(rocksdb_writebatch_wi_t* batch,
                                                         const char* ts, size_t tslen, void* state,
                                                         size_t (*get_ts_size)(void*, uint32_t),
                                                         char** errptr);

// backup_index_comparator, null for bytewise: the order of keys in families for which no call has
// passed a handle. It may be destroyed before the batch.
VARVE_C_API rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(
    rocksdb_comparator_t* backup_index_comparator, size_t reserved_bytes,
    unsigned char overwrite_key, size_t max_bytes, size_t protection_bytes_per_key);

// Return an iterator over the family as it would be after writing the batch over the contents of
// the base. They take ownership of the base in every case. Destroy the iterator before the batch,
// whose changes it follows. Of the options only the bounds are used. Merges need the forms with a
// family. A bad argument is reported as the iterator's error.
VARVE_C_API rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* family, const rocksdb_readoptions_t* options);
VARVE_C_API rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    rocksdb_column_family_handle_t* family);
VARVE_C_API rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator,
    const rocksdb_readoptions_t* options);
VARVE_C_API rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(
    rocksdb_writebatch_wi_t* batch, rocksdb_iterator_t* base_iterator);

// Return the value, to be freed with rocksdb_free or rocksdb_pinnableslice_destroy; null if there
// is none, which is no error. When reading the batch alone, merges whose base is not in it are
// MergeInProgress, and merges without a family InvalidArgument.
VARVE_C_API char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen, size_t* vallen,
    char** errptr);
VARVE_C_API char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t* batch,
                                                              rocksdb_t* db,
                                                              const rocksdb_readoptions_t* options,
                                                              const char* key, size_t keylen,
                                                              size_t* vallen, char** errptr);
VARVE_C_API char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t* batch,
                                                          const rocksdb_options_t* options,
                                                          rocksdb_column_family_handle_t* family,
                                                          const char* key, size_t keylen,
                                                          size_t* vallen, char** errptr);
VARVE_C_API char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t* batch,
                                                       const rocksdb_options_t* options,
                                                       const char* key, size_t keylen,
                                                       size_t* vallen, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    rocksdb_writebatch_wi_t* batch, rocksdb_t* db, const rocksdb_readoptions_t* options,
    const char* key, size_t keylen, char** errptr);

#ifdef __cplusplus
}  // extern "C"
#endif
