// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares entities: values that consist of named columns. These functions are Varve's own, as
// RocksDB's C API has none for entities. Part of varve/c.h, which states the general rules.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Writing ----

// Set a key to an entity of num_columns columns, in any order: column i has the name names[i] and
// the value values[i]. The column whose name is empty is what plain reads of the key see. An error
// if two columns have one name, or if the column family has timestamps; then nothing changes.
VARVE_C_API void rocksdb_put_entity(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                    const char* key, size_t keylen, size_t num_columns,
                                    const char* const* names, const size_t* name_sizes,
                                    const char* const* values, const size_t* value_sizes,
                                    char** errptr);
VARVE_C_API void rocksdb_put_entity_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                       rocksdb_column_family_handle_t* family, const char* key,
                                       size_t keylen, size_t num_columns, const char* const* names,
                                       const size_t* name_sizes, const char* const* values,
                                       const size_t* value_sizes, char** errptr);

// Add such an update to a batch. The batch must be given to a database with the column family.
VARVE_C_API void rocksdb_writebatch_put_entity_cf(
    rocksdb_writebatch_t* batch, rocksdb_column_family_handle_t* family, const char* key,
    size_t keylen, size_t num_columns, const char* const* names, const size_t* name_sizes,
    const char* const* values, const size_t* value_sizes, char** errptr);
VARVE_C_API void rocksdb_writebatch_wi_put_entity_cf(
    rocksdb_writebatch_wi_t* batch, rocksdb_column_family_handle_t* family, const char* key,
    size_t keylen, size_t num_columns, const char* const* names, const size_t* name_sizes,
    const char* const* values, const size_t* value_sizes, char** errptr);
VARVE_C_API void rocksdb_transaction_put_entity_cf(
    rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* family, const char* key,
    size_t keylen, size_t num_columns, const char* const* names, const size_t* name_sizes,
    const char* const* values, const size_t* value_sizes, char** errptr);

// ---- Reading ----

// Return the columns of a key; of a plain value, its value as the column with the empty name. Null
// without an error if the key is missing. Destroy the result before the database is closed.
VARVE_C_API rocksdb_widecolumns_t* rocksdb_get_entity(rocksdb_t* db,
                                                      const rocksdb_readoptions_t* options,
                                                      const char* key, size_t keylen,
                                                      char** errptr);
VARVE_C_API rocksdb_widecolumns_t* rocksdb_get_entity_cf(rocksdb_t* db,
                                                         const rocksdb_readoptions_t* options,
                                                         rocksdb_column_family_handle_t* family,
                                                         const char* key, size_t keylen,
                                                         char** errptr);
VARVE_C_API rocksdb_widecolumns_t* rocksdb_transaction_get_entity_cf(
    rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen, char** errptr);

// Does the same for many keys, from one state of the database. columns[i] and errs[i] are set for
// each key: to the result or null, and to an error or null. With sorted_input the keys must ascend.
VARVE_C_API void rocksdb_multi_get_entity_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                             rocksdb_column_family_handle_t* family,
                                             size_t num_keys, const char* const* keys,
                                             const size_t* key_sizes,
                                             rocksdb_widecolumns_t** columns, char** errs,
                                             unsigned char sorted_input);

// Returns the columns of the entry at which a valid iterator is. They point into the iterator, and
// are valid until its next move. The caller destroys the handle, at any time. Null if the iterator
// is not valid.
VARVE_C_API rocksdb_widecolumns_t* rocksdb_iter_columns(const rocksdb_iterator_t* iter);

// ---- Columns ----

// Columns ascend by name. A column with too large an index has null for name and value, of size 0.
VARVE_C_API size_t rocksdb_widecolumns_count(const rocksdb_widecolumns_t* columns);
VARVE_C_API const char* rocksdb_widecolumns_name(const rocksdb_widecolumns_t* columns, size_t index,
                                                 size_t* size);
VARVE_C_API const char* rocksdb_widecolumns_value(const rocksdb_widecolumns_t* columns,
                                                  size_t index, size_t* size);
VARVE_C_API void rocksdb_widecolumns_destroy(rocksdb_widecolumns_t* columns);

#ifdef __cplusplus
}  // extern "C"
#endif
