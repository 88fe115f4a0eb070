// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the functions of transactions. Part of varve/c.h, which states the general rules.
//
// varve/utilities/transaction.h describes transactions, varve/utilities/checkpoint.h checkpoints.
// The handle of a base database must be released before its database; rocksdb_free frees the
// snapshot of a transaction.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Databases with locks ----

// Functions of this section with the name of one for a plain database, such as
// rocksdb_transactiondb_put, work like that (varve/c/db.h). Writes are transactions of one update:
// they take the locks of their keys, and fail with Busy or TimedOut if another transaction keeps
// one.
//
// Returns a handle for functions of plain databases. Writes through it take no locks. It is freed
// by rocksdb_transactiondb_close_base_db, which leaves the database open.
VARVE_C_API rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* db);
VARVE_C_API char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* db,
                                               const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family,
                                               const char* key, size_t keylen, size_t* vallen,
                                               char** errptr);
// Returns an object that makes checkpoints of the database, to be freed with
// rocksdb_checkpoint_object_destroy.
VARVE_C_API rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(
    rocksdb_transactiondb_t* db, char** errptr);
// Frees the handle of a base database, not the database.
VARVE_C_API void rocksdb_transactiondb_close_base_db(rocksdb_t* base_db);
// Closes the database. Transactions, iterators, snapshots and handles must be freed before.
VARVE_C_API void rocksdb_transactiondb_close(rocksdb_transactiondb_t* db);
VARVE_C_API rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(
    rocksdb_transactiondb_t* db, const rocksdb_options_t* column_family_options,
    const char* column_family_name, char** errptr);
VARVE_C_API rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family);
VARVE_C_API rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options);
// Takes a snapshot, which must be released with rocksdb_transactiondb_release_snapshot.
VARVE_C_API const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(
    rocksdb_transactiondb_t* db);
VARVE_C_API void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* db,
                                                 const rocksdb_writeoptions_t* options,
                                                 rocksdb_column_family_handle_t* family,
                                                 const char* key, size_t keylen, char** errptr);
VARVE_C_API void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* db,
                                              const rocksdb_writeoptions_t* options,
                                              const char* key, size_t klen, char** errptr);
VARVE_C_API void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* db,
                                                const rocksdb_flushoptions_t* options,
                                                rocksdb_column_family_handle_t* family,
                                                char** errptr);
VARVE_C_API void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* db,
                                                 const rocksdb_flushoptions_t* options,
                                                 rocksdb_column_family_handle_t** column_families,
                                                 int num_column_families, char** errptr);
VARVE_C_API void rocksdb_transactiondb_flush_wal_with_options(
    rocksdb_transactiondb_t* db, const rocksdb_flushwaloptions_t* options, char** errptr);
VARVE_C_API void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* db, unsigned char sync,
                                                 char** errptr);
VARVE_C_API void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* db,
                                             const rocksdb_flushoptions_t* options, char** errptr);
VARVE_C_API char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* db,
                                            const rocksdb_readoptions_t* options, const char* key,
                                            size_t klen, size_t* vlen, char** errptr);
VARVE_C_API void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* db,
                                                const rocksdb_writeoptions_t* options,
                                                rocksdb_column_family_handle_t* family,
                                                const char* key, size_t klen, const char* value,
                                                size_t vlen, char** errptr);
VARVE_C_API void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* db,
                                             const rocksdb_writeoptions_t* options, const char* key,
                                             size_t klen, const char* value, size_t vlen,
                                             char** errptr);
// Read keys at one moment, as rocksdb_multi_get does.
VARVE_C_API void rocksdb_transactiondb_multi_get_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs);
VARVE_C_API void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* db,
                                                 const rocksdb_readoptions_t* options,
                                                 size_t num_keys, const char* const* keys_list,
                                                 const size_t* keys_list_sizes, char** values_list,
                                                 size_t* values_list_sizes, char** errs);
// Open a database. The first one opens these column families, all that exist, and stores a handle
// for each. Return null after an error.
VARVE_C_API rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* txn_db_options,
    const char* name, int num_column_families, const char* const* column_family_names,
    const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr);
VARVE_C_API rocksdb_transactiondb_t* rocksdb_transactiondb_open(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* txn_db_options,
    const char* name, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t keylen, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(
    rocksdb_transactiondb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t klen,
    char** errptr);
// Returns one handle for each prepared transaction, which the caller destroys when it is decided,
// and a list to be freed by rocksdb_free. A transaction for which the program already has a handle
// gets a second one: destroy only one of them.
VARVE_C_API rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(
    rocksdb_transactiondb_t* db, size_t* cnt);
// Stores a number and returns 0, or returns -1 if there is no such property.
VARVE_C_API int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* db,
                                                   const char* propname, uint64_t* out_val);
// Returns a malloc'ed text; null if there is no such property.
VARVE_C_API char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* db,
                                                       const char* propname);
VARVE_C_API void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* db,
                                              const rocksdb_writeoptions_t* options,
                                              rocksdb_column_family_handle_t* family,
                                              const char* key, size_t keylen, const char* value,
                                              size_t vallen, char** errptr);
VARVE_C_API void rocksdb_transactiondb_put(rocksdb_transactiondb_t* db,
                                           const rocksdb_writeoptions_t* options, const char* key,
                                           size_t klen, const char* value, size_t vlen,
                                           char** errptr);
VARVE_C_API void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* db,
                                                        const rocksdb_snapshot_t* snapshot);
VARVE_C_API void rocksdb_transactiondb_write(rocksdb_transactiondb_t* db,
                                             const rocksdb_writeoptions_t* options,
                                             rocksdb_writebatch_t* batch, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Timeouts are in milliseconds; negative: a wait never ends. write_policy: see the enum.
// max_num_locks -1: no limit.
VARVE_C_API rocksdb_transactiondb_options_t* rocksdb_transactiondb_options_create(void);
VARVE_C_API void rocksdb_transactiondb_options_set_default_lock_timeout(rocksdb_transactiondb_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transactiondb_options_get_default_lock_timeout(rocksdb_transactiondb_options_t*);
VARVE_C_STORED void rocksdb_transactiondb_options_set_default_write_batch_flush_threshold(rocksdb_transactiondb_options_t*, int64_t);
VARVE_C_STORED int64_t rocksdb_transactiondb_options_get_default_write_batch_flush_threshold(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_enable_udt_validation(rocksdb_transactiondb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transactiondb_options_get_enable_udt_validation(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_max_num_deadlocks(rocksdb_transactiondb_options_t*, uint32_t);
VARVE_C_API uint32_t rocksdb_transactiondb_options_get_max_num_deadlocks(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_max_num_locks(rocksdb_transactiondb_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transactiondb_options_get_max_num_locks(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_num_stripes(rocksdb_transactiondb_options_t*, size_t);
VARVE_C_API size_t rocksdb_transactiondb_options_get_num_stripes(rocksdb_transactiondb_options_t*);
VARVE_C_STORED void rocksdb_transactiondb_options_set_rollback_merge_operands(rocksdb_transactiondb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_transactiondb_options_get_rollback_merge_operands(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_skip_concurrency_control(rocksdb_transactiondb_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transactiondb_options_get_skip_concurrency_control(rocksdb_transactiondb_options_t*);
VARVE_C_API void rocksdb_transactiondb_options_set_transaction_lock_timeout(rocksdb_transactiondb_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transactiondb_options_get_transaction_lock_timeout(rocksdb_transactiondb_options_t*);
VARVE_C_STORED void rocksdb_transactiondb_options_set_txn_commit_bypass_memtable_threshold(rocksdb_transactiondb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_transactiondb_options_get_txn_commit_bypass_memtable_threshold(rocksdb_transactiondb_options_t*);
VARVE_C_STORED void rocksdb_transactiondb_options_set_use_per_key_point_lock_mgr(rocksdb_transactiondb_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_transactiondb_options_get_use_per_key_point_lock_mgr(rocksdb_transactiondb_options_t*);
// clang-format on

// These pass a value of the enum in varve/c/types.h.
VARVE_C_API int rocksdb_transactiondb_options_get_write_policy(
    rocksdb_transactiondb_options_t* options);
VARVE_C_API void rocksdb_transactiondb_options_set_write_policy(
    rocksdb_transactiondb_options_t* options, int value);

// ---- Databases that check for conflicts at the end ----

// Begins a transaction, or reuses old_txn, if that is not null, for a new one. Returns null if an
// argument is null.
VARVE_C_API rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_optimistictransaction_options_t* otxn_options, rocksdb_transaction_t* old_txn);
// Returns a handle for functions of plain databases, whose writes conflict with transactions. The
// handle must be freed by rocksdb_optimistictransactiondb_close_base_db, which leaves the database
// open.
VARVE_C_API rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(
    rocksdb_optimistictransactiondb_t* db);
// Returns an object that makes checkpoints of the database.
VARVE_C_API rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* db, char** errptr);
VARVE_C_API void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base_db);
// Closes the database. Transactions, iterators, snapshots and handles must be freed before.
VARVE_C_API void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* db);
// Open a database. The forms with column families open these, all that exist, and store a handle
// for each. Return null after an error.
VARVE_C_API rocksdb_optimistictransactiondb_t*
rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const rocksdb_options_t* options,
    const rocksdb_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr);
VARVE_C_API rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr);
VARVE_C_API rocksdb_optimistictransactiondb_t*
rocksdb_optimistictransactiondb_open_with_otxn_db_options(
    const rocksdb_options_t* options,
    const rocksdb_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    char** errptr);
VARVE_C_API rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(
    const rocksdb_options_t* options, const char* name, char** errptr);
// Work like the functions of plain databases with these names.
VARVE_C_API int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* db,
                                                             const char* propname,
                                                             uint64_t* out_val);
VARVE_C_API char* rocksdb_optimistictransactiondb_property_value(
    rocksdb_optimistictransactiondb_t* db, const char* propname);
VARVE_C_API void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* db,
                                                       const rocksdb_writeoptions_t* options,
                                                       rocksdb_writebatch_t* batch, char** errptr);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// validate_policy: 0 is serial, 1 is parallel.
VARVE_C_API rocksdb_optimistictransaction_options_t* rocksdb_optimistictransaction_options_create(void);
VARVE_C_API void rocksdb_optimistictransaction_options_destroy(rocksdb_optimistictransaction_options_t*);
VARVE_C_API void rocksdb_optimistictransaction_options_set_set_snapshot(rocksdb_optimistictransaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_optimistictransaction_options_get_set_snapshot(rocksdb_optimistictransaction_options_t*);
VARVE_C_API rocksdb_optimistictransactiondb_options_t* rocksdb_optimistictransactiondb_options_create(void);
VARVE_C_API void rocksdb_optimistictransactiondb_options_destroy(rocksdb_optimistictransactiondb_options_t*);
VARVE_C_STORED void rocksdb_optimistictransactiondb_options_set_occ_lock_buckets(rocksdb_optimistictransactiondb_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_optimistictransactiondb_options_get_occ_lock_buckets(rocksdb_optimistictransactiondb_options_t*);
// clang-format on

VARVE_C_STORED size_t rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets);
VARVE_C_STORED rocksdb_optimistictransactiondb_lock_buckets_t*
rocksdb_optimistictransactiondb_lock_buckets_create(size_t bucket_count,
                                                    unsigned char cache_aligned);
VARVE_C_STORED void rocksdb_optimistictransactiondb_lock_buckets_destroy(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets);
VARVE_C_STORED void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(
    rocksdb_optimistictransactiondb_options_t* options,
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets);
VARVE_C_STORED int rocksdb_optimistictransactiondb_options_get_validate_policy(
    rocksdb_optimistictransactiondb_options_t* options);
VARVE_C_STORED void rocksdb_optimistictransactiondb_options_set_validate_policy(
    rocksdb_optimistictransactiondb_options_t* options, int value);

// ---- Transactions ----

// Begins a transaction, or reuses old_txn, if that is not null, for a new one. The transaction must
// be destroyed before its database is closed.
VARVE_C_API rocksdb_transaction_t* rocksdb_transaction_begin(
    rocksdb_transactiondb_t* db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_transaction_options_t* txn_options, rocksdb_transaction_t* old_txn);
// Returns a malloc'ed copy of the value as the transaction sees it, its own updates included. Null
// for a missing key.
VARVE_C_API char* rocksdb_transaction_get_cf(rocksdb_transaction_t* transaction,
                                             const rocksdb_readoptions_t* options,
                                             rocksdb_column_family_handle_t* family,
                                             const char* key, size_t klen, size_t* vlen,
                                             char** errptr);
// If this call or rocksdb_transaction_set_read_timestamp_for_validation is refused, prepare and
// commit fail until that call succeeds or the transaction is rolled back.
VARVE_C_API void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t* transaction,
                                                          uint64_t commit_timestamp);
// Writes all updates atomically. After an error the transaction may be committed again or rolled
// back; an optimistic one fails with Busy if a key was changed by others.
VARVE_C_API void rocksdb_transaction_commit(rocksdb_transaction_t* transaction, char** errptr);
// Return an iterator over the family, or the default one, with the transaction's updates. It must
// be destroyed before the transaction ends.
VARVE_C_API rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family);
VARVE_C_API rocksdb_iterator_t* rocksdb_transaction_create_iterator(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options);
// Updates lock their key first, or track it in an optimistic transaction. Keys and values are
// copied.
VARVE_C_API void rocksdb_transaction_delete_cf(rocksdb_transaction_t* transaction,
                                               rocksdb_column_family_handle_t* family,
                                               const char* key, size_t klen, char** errptr);
VARVE_C_API void rocksdb_transaction_delete(rocksdb_transaction_t* transaction, const char* key,
                                            size_t klen, char** errptr);
// Rolls back what was not committed and was not prepared, and frees the transaction. Null is
// allowed.
VARVE_C_API void rocksdb_transaction_destroy(rocksdb_transaction_t* transaction);
// Return a copy of the value, and keep others from changing the key before the transaction ends;
// in an optimistic transaction the commit checks that none has. With exclusive 0, others may
// lock it for reading, too.
VARVE_C_API char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* transaction,
                                                        const rocksdb_readoptions_t* options,
                                                        rocksdb_column_family_handle_t* family,
                                                        const char* key, size_t klen, size_t* vlen,
                                                        unsigned char exclusive, char** errptr);
VARVE_C_API char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* transaction,
                                                     const rocksdb_readoptions_t* options,
                                                     const char* key, size_t klen, size_t* vlen,
                                                     unsigned char exclusive, char** errptr);
VARVE_C_API char* rocksdb_transaction_get(rocksdb_transaction_t* transaction,
                                          const rocksdb_readoptions_t* options, const char* key,
                                          size_t klen, size_t* vlen, char** errptr);
VARVE_C_API void rocksdb_transaction_merge_cf(rocksdb_transaction_t* transaction,
                                              rocksdb_column_family_handle_t* family,
                                              const char* key, size_t klen, const char* value,
                                              size_t vlen, char** errptr);
VARVE_C_API void rocksdb_transaction_merge(rocksdb_transaction_t* transaction, const char* key,
                                           size_t klen, const char* value, size_t vlen,
                                           char** errptr);
// Read keys, with an error and a value for each, as rocksdb_multi_get does. The forms for update
// lock all keys, or none.
VARVE_C_API void rocksdb_transaction_multi_get_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs);
VARVE_C_API void rocksdb_transaction_multi_get_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    const rocksdb_column_family_handle_t* const* column_families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs);
VARVE_C_API void rocksdb_transaction_multi_get_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs);
VARVE_C_API void rocksdb_transaction_multi_get(rocksdb_transaction_t* transaction,
                                               const rocksdb_readoptions_t* options,
                                               size_t num_keys, const char* const* keys_list,
                                               const size_t* keys_list_sizes, char** values_list,
                                               size_t* values_list_sizes, char** errs);
// Returns a malloc'ed copy of the name, without terminator.
VARVE_C_API char* rocksdb_transaction_get_name(rocksdb_transaction_t* transaction,
                                               size_t* name_len);
// Names the transaction, which must be done before it is prepared. Names of open transactions
// differ.
VARVE_C_API void rocksdb_transaction_set_name(rocksdb_transaction_t* transaction, const char* name,
                                              size_t name_len, char** errptr);
// Return the value without a copy; null for a missing key. Must be freed with
// rocksdb_pinnableslice_destroy.
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t klen, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* family, const char* key, size_t klen, unsigned char exclusive,
    char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t klen, unsigned char exclusive, char** errptr);
VARVE_C_API rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(
    rocksdb_transaction_t* transaction, const rocksdb_readoptions_t* options, const char* key,
    size_t klen, char** errptr);
// Logs the updates without showing them: from then on only commit or rollback can follow, also in
// a later opening. An error in an optimistic transaction.
VARVE_C_API void rocksdb_transaction_prepare(rocksdb_transaction_t* transaction, char** errptr);
VARVE_C_API void rocksdb_transaction_put_cf(rocksdb_transaction_t* transaction,
                                            rocksdb_column_family_handle_t* family, const char* key,
                                            size_t klen, const char* value, size_t vlen,
                                            char** errptr);
// Puts bytes into the log that no read sees.
VARVE_C_API void rocksdb_transaction_put_log_data(rocksdb_transaction_t* transaction,
                                                  const char* blob, size_t len);
VARVE_C_API void rocksdb_transaction_put(rocksdb_transaction_t* transaction, const char* key,
                                         size_t klen, const char* value, size_t vlen,
                                         char** errptr);
// Sets the timestamp beyond which a key must not have been changed by others.
VARVE_C_API void rocksdb_transaction_set_read_timestamp_for_validation(
    rocksdb_transaction_t* transaction, uint64_t read_timestamp);
// Add the updates of a batch to the transaction, and lock their keys.
VARVE_C_API void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* transaction,
                                                                rocksdb_writebatch_wi_t* wi,
                                                                char** errptr);
VARVE_C_API void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* transaction,
                                                             rocksdb_writebatch_t* writebatch,
                                                             char** errptr);
// Undoes everything since the last save point, which is removed. It is an error if there is none.
VARVE_C_API void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* transaction,
                                                           char** errptr);
// Drops all updates and releases the locks.
VARVE_C_API void rocksdb_transaction_rollback(rocksdb_transaction_t* transaction, char** errptr);
VARVE_C_API void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* transaction);
// Returns the snapshot of the transaction, in a handle that must be freed by rocksdb_free. The
// snapshot stays the transaction's.
VARVE_C_API const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(
    rocksdb_transaction_t* transaction);
// Returns the transaction's own batch, valid until the transaction ends. The handle must be freed
// by rocksdb_free.
VARVE_C_API rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(
    rocksdb_transaction_t* transaction);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Timeouts are in milliseconds, -1: the database's default; deadlock_timeout_us is in microseconds.
VARVE_C_STORED void rocksdb_transaction_options_set_commit_bypass_memtable(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_transaction_options_get_commit_bypass_memtable(rocksdb_transaction_options_t*);
VARVE_C_API rocksdb_transaction_options_t* rocksdb_transaction_options_create(void);
VARVE_C_API void rocksdb_transaction_options_set_deadlock_detect_depth(rocksdb_transaction_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transaction_options_get_deadlock_detect_depth(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_deadlock_detect(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transaction_options_get_deadlock_detect(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_deadlock_timeout_us(rocksdb_transaction_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transaction_options_get_deadlock_timeout_us(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_expiration(rocksdb_transaction_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transaction_options_get_expiration(rocksdb_transaction_options_t*);
VARVE_C_STORED void rocksdb_transaction_options_set_large_txn_commit_optimize_byte_threshold(rocksdb_transaction_options_t*, uint64_t);
VARVE_C_STORED uint64_t rocksdb_transaction_options_get_large_txn_commit_optimize_byte_threshold(rocksdb_transaction_options_t*);
VARVE_C_STORED void rocksdb_transaction_options_set_large_txn_commit_optimize_threshold(rocksdb_transaction_options_t*, uint32_t);
VARVE_C_STORED uint32_t rocksdb_transaction_options_get_large_txn_commit_optimize_threshold(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_lock_timeout(rocksdb_transaction_options_t*, int64_t);
VARVE_C_API int64_t rocksdb_transaction_options_get_lock_timeout(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_max_write_batch_size(rocksdb_transaction_options_t*, size_t);
VARVE_C_API size_t rocksdb_transaction_options_get_max_write_batch_size(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_set_snapshot(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transaction_options_get_set_snapshot(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_skip_concurrency_control(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transaction_options_get_skip_concurrency_control(rocksdb_transaction_options_t*);
VARVE_C_API void rocksdb_transaction_options_set_skip_prepare(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_API unsigned char rocksdb_transaction_options_get_skip_prepare(rocksdb_transaction_options_t*);
VARVE_C_STORED void rocksdb_transaction_options_set_use_only_the_last_commit_time_batch_for_recovery(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_transaction_options_get_use_only_the_last_commit_time_batch_for_recovery(rocksdb_transaction_options_t*);
VARVE_C_STORED void rocksdb_transaction_options_set_write_batch_flush_threshold(rocksdb_transaction_options_t*, int64_t);
VARVE_C_STORED int64_t rocksdb_transaction_options_get_write_batch_flush_threshold(rocksdb_transaction_options_t*);
VARVE_C_STORED void rocksdb_transaction_options_set_write_batch_track_timestamp_size(rocksdb_transaction_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_transaction_options_get_write_batch_track_timestamp_size(rocksdb_transaction_options_t*);
// clang-format on

#ifdef __cplusplus
}  // extern "C"
#endif
