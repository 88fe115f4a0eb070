// SPDX-License-Identifier: Apache-2.0
// Transactions in the C API: options are kept, opening a database for them says that there are
// none. Every function is here, so that whoever brings transactions finds them in one place.
#include "db/api/c/c_types.h"

using varve::Status;

namespace {

using Bytes = char*;

constexpr char kNoTransactions[] = "this engine does not have transactions";

Status NoTransactions() {
  return Status::NotSupported("C API", kNoTransactions);
}

// Keys that are read together have an error each.
void RefuseEach(size_t num_keys, char** values, size_t* sizes, char** errs, const char* call) {
  for (size_t i = 0; i < num_keys; ++i) {
    if (values != nullptr) values[i] = nullptr;
    if (sizes != nullptr) sizes[i] = 0;
    if (errs == nullptr) continue;
    errs[i] = nullptr;
    varve::c::SetError(&errs[i], NoTransactions(), call);
  }
}

}  // namespace

// ---- Options ----

struct rocksdb_transactiondb_options_t {
  struct {
    int64_t default_lock_timeout = 1000;
    int64_t default_write_batch_flush_threshold = 0;
    bool enable_udt_validation = true;
    uint32_t max_num_deadlocks = 5;
    int64_t max_num_locks = -1;
    size_t num_stripes = 16;
    bool rollback_merge_operands = false;
    bool skip_concurrency_control = false;
    int64_t transaction_lock_timeout = 1000;
    uint32_t txn_commit_bypass_memtable_threshold = UINT32_MAX;
    bool use_per_key_point_lock_mgr = false;
    int write_policy = 0;
  } rep;
};

VARVE_C_HANDLE(transactiondb_options);
VARVE_C_FIELD(transactiondb_options, default_lock_timeout, int64_t);
VARVE_C_FIELD(transactiondb_options, default_write_batch_flush_threshold, int64_t);
VARVE_C_FIELD(transactiondb_options, enable_udt_validation, unsigned char);
VARVE_C_FIELD(transactiondb_options, max_num_deadlocks, uint32_t);
VARVE_C_FIELD(transactiondb_options, max_num_locks, int64_t);
VARVE_C_FIELD(transactiondb_options, num_stripes, size_t);
VARVE_C_FIELD(transactiondb_options, rollback_merge_operands, unsigned char);
VARVE_C_FIELD(transactiondb_options, skip_concurrency_control, unsigned char);
VARVE_C_FIELD(transactiondb_options, transaction_lock_timeout, int64_t);
VARVE_C_FIELD(transactiondb_options, txn_commit_bypass_memtable_threshold, uint32_t);
VARVE_C_FIELD(transactiondb_options, use_per_key_point_lock_mgr, unsigned char);
VARVE_C_FIELD(transactiondb_options, write_policy, int);

struct rocksdb_transaction_options_t {
  struct {
    bool commit_bypass_memtable = false;
    bool deadlock_detect = false;
    int64_t deadlock_detect_depth = 50;
    int64_t deadlock_timeout_us = 500;
    int64_t expiration = -1;
    uint64_t large_txn_commit_optimize_byte_threshold = 0;
    uint32_t large_txn_commit_optimize_threshold = 0;
    int64_t lock_timeout = -1;
    size_t max_write_batch_size = 0;
    bool set_snapshot = false;
    bool skip_concurrency_control = false;
    bool skip_prepare = true;
    bool use_only_the_last_commit_time_batch_for_recovery = false;
    int64_t write_batch_flush_threshold = -1;
    bool write_batch_track_timestamp_size = false;
  } rep;
};

VARVE_C_HANDLE(transaction_options);
VARVE_C_FIELD(transaction_options, commit_bypass_memtable, unsigned char);
VARVE_C_FIELD(transaction_options, deadlock_detect, unsigned char);
VARVE_C_FIELD(transaction_options, deadlock_detect_depth, int64_t);
VARVE_C_FIELD(transaction_options, deadlock_timeout_us, int64_t);
VARVE_C_FIELD(transaction_options, expiration, int64_t);
VARVE_C_FIELD(transaction_options, large_txn_commit_optimize_byte_threshold, uint64_t);
VARVE_C_FIELD(transaction_options, large_txn_commit_optimize_threshold, uint32_t);
VARVE_C_FIELD(transaction_options, lock_timeout, int64_t);
VARVE_C_FIELD(transaction_options, max_write_batch_size, size_t);
VARVE_C_FIELD(transaction_options, set_snapshot, unsigned char);
VARVE_C_FIELD(transaction_options, skip_concurrency_control, unsigned char);
VARVE_C_FIELD(transaction_options, skip_prepare, unsigned char);
VARVE_C_FIELD(transaction_options, use_only_the_last_commit_time_batch_for_recovery, unsigned char);
VARVE_C_FIELD(transaction_options, write_batch_flush_threshold, int64_t);
VARVE_C_FIELD(transaction_options, write_batch_track_timestamp_size, unsigned char);

struct rocksdb_optimistictransaction_options_t {
  struct {
    bool set_snapshot = false;
  } rep;
};

VARVE_C_HANDLE(optimistictransaction_options);
VARVE_C_FIELD(optimistictransaction_options, set_snapshot, unsigned char);

struct rocksdb_optimistictransactiondb_options_t {
  struct {
    uint32_t occ_lock_buckets = 1 << 20;
    int validate_policy = 1;
  } rep;
};

VARVE_C_HANDLE(optimistictransactiondb_options);
VARVE_C_FIELD(optimistictransactiondb_options, occ_lock_buckets, uint32_t);
VARVE_C_FIELD(optimistictransactiondb_options, validate_policy, int);

struct rocksdb_optimistictransactiondb_lock_buckets_t {
  size_t bucket_count;
  bool cache_aligned;
};

rocksdb_optimistictransactiondb_lock_buckets_t* rocksdb_optimistictransactiondb_lock_buckets_create(
    size_t bucket_count, unsigned char cache_aligned) {
  return varve::c::Make<rocksdb_optimistictransactiondb_lock_buckets_t>(bucket_count,
                                                                        cache_aligned != 0);
}

// Of the buckets that there would be: there are none.
size_t rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    rocksdb_optimistictransactiondb_lock_buckets_t* /*lock_buckets*/) {
  return 0;
}

void rocksdb_optimistictransactiondb_lock_buckets_destroy(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  delete lock_buckets;
}

void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(
    rocksdb_optimistictransactiondb_options_t* /*options*/,
    rocksdb_optimistictransactiondb_lock_buckets_t* /*lock_buckets*/) {}

// ---- Databases and transactions, of which there are none ----

VARVE_C_REFUSES(rocksdb_checkpoint_t*, rocksdb_transactiondb_checkpoint_object_create,
                NoTransactions, (rocksdb_transactiondb_t*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transactiondb_close, (rocksdb_transactiondb_t*));
VARVE_C_DOES_NOTHING(void, rocksdb_transactiondb_close_base_db, (rocksdb_t*));
VARVE_C_REFUSES(rocksdb_column_family_handle_t*, rocksdb_transactiondb_create_column_family,
                NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_options_t*, const char*, char** errptr));
VARVE_C_DOES_NOTHING(const rocksdb_snapshot_t*, rocksdb_transactiondb_create_snapshot,
                     (rocksdb_transactiondb_t*));
VARVE_C_REFUSES(void, rocksdb_transactiondb_delete, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                 char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_delete_cf, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_flush, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_flush_cf, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*,
                 rocksdb_column_family_handle_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_flush_cfs, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_flushoptions_t*,
                 rocksdb_column_family_handle_t**, int, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_flush_wal, NoTransactions,
                (rocksdb_transactiondb_t*, unsigned char, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_flush_wal_with_options, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_flushwaloptions_t*, char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transactiondb_get, NoTransactions,
                      (rocksdb_transactiondb_t*, const rocksdb_readoptions_t*, const char*, size_t,
                       size_t* size, char** errptr));
VARVE_C_DOES_NOTHING(rocksdb_t*, rocksdb_transactiondb_get_base_db, (rocksdb_transactiondb_t*));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transactiondb_get_cf, NoTransactions,
                      (rocksdb_transactiondb_t*, const rocksdb_readoptions_t*,
                       rocksdb_column_family_handle_t*, const char*, size_t, size_t* size,
                       char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transactiondb_get_pinned, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_readoptions_t*, const char*, size_t,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transactiondb_get_pinned_cf, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_readoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, char** errptr));
VARVE_C_GIVES_NOTHING(rocksdb_transaction_t**, rocksdb_transactiondb_get_prepared_transactions,
                      (rocksdb_transactiondb_t*, size_t* size));
VARVE_C_REFUSES(void, rocksdb_transactiondb_merge, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                 const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_merge_cf, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, const char*, size_t,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_transactiondb_t*, rocksdb_transactiondb_open, NoTransactions,
                (const rocksdb_options_t*, const rocksdb_transactiondb_options_t*, const char*,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_transactiondb_t*, rocksdb_transactiondb_open_column_families,
                NoTransactions,
                (const rocksdb_options_t*, const rocksdb_transactiondb_options_t*, const char*, int,
                 const char* const*, const rocksdb_options_t* const*,
                 rocksdb_column_family_handle_t**, char** errptr));
VARVE_C_DOES_NOTHING(Bytes, rocksdb_transactiondb_property_value,
                     (rocksdb_transactiondb_t*, const char*));
VARVE_C_REFUSES(void, rocksdb_transactiondb_put, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*, const char*, size_t,
                 const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transactiondb_put_cf, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, const char*, size_t,
                 char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transactiondb_release_snapshot,
                     (rocksdb_transactiondb_t*, const rocksdb_snapshot_t*));
VARVE_C_REFUSES(void, rocksdb_transactiondb_write, NoTransactions,
                (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*, rocksdb_writebatch_t*,
                 char** errptr));
VARVE_C_DOES_NOTHING(rocksdb_transaction_t*, rocksdb_optimistictransaction_begin,
                     (rocksdb_optimistictransactiondb_t*, const rocksdb_writeoptions_t*,
                      const rocksdb_optimistictransaction_options_t*, rocksdb_transaction_t*));
VARVE_C_REFUSES(rocksdb_checkpoint_t*, rocksdb_optimistictransactiondb_checkpoint_object_create,
                NoTransactions, (rocksdb_optimistictransactiondb_t*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_optimistictransactiondb_close,
                     (rocksdb_optimistictransactiondb_t*));
VARVE_C_DOES_NOTHING(void, rocksdb_optimistictransactiondb_close_base_db, (rocksdb_t*));
VARVE_C_DOES_NOTHING(rocksdb_t*, rocksdb_optimistictransactiondb_get_base_db,
                     (rocksdb_optimistictransactiondb_t*));
VARVE_C_REFUSES(rocksdb_optimistictransactiondb_t*, rocksdb_optimistictransactiondb_open,
                NoTransactions, (const rocksdb_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(rocksdb_optimistictransactiondb_t*,
                rocksdb_optimistictransactiondb_open_column_families, NoTransactions,
                (const rocksdb_options_t*, const char*, int, const char* const*,
                 const rocksdb_options_t* const*, rocksdb_column_family_handle_t**, char** errptr));
VARVE_C_REFUSES(rocksdb_optimistictransactiondb_t*,
                rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options,
                NoTransactions,
                (const rocksdb_options_t*, const rocksdb_optimistictransactiondb_options_t*,
                 const char*, int, const char* const*, const rocksdb_options_t* const*,
                 rocksdb_column_family_handle_t**, char** errptr));
VARVE_C_REFUSES(rocksdb_optimistictransactiondb_t*,
                rocksdb_optimistictransactiondb_open_with_otxn_db_options, NoTransactions,
                (const rocksdb_options_t*, const rocksdb_optimistictransactiondb_options_t*,
                 const char*, char** errptr));
VARVE_C_DOES_NOTHING(Bytes, rocksdb_optimistictransactiondb_property_value,
                     (rocksdb_optimistictransactiondb_t*, const char*));
VARVE_C_REFUSES(void, rocksdb_optimistictransactiondb_write, NoTransactions,
                (rocksdb_optimistictransactiondb_t*, const rocksdb_writeoptions_t*,
                 rocksdb_writebatch_t*, char** errptr));
VARVE_C_DOES_NOTHING(rocksdb_transaction_t*, rocksdb_transaction_begin,
                     (rocksdb_transactiondb_t*, const rocksdb_writeoptions_t*,
                      const rocksdb_transaction_options_t*, rocksdb_transaction_t*));
VARVE_C_REFUSES(void, rocksdb_transaction_commit, NoTransactions,
                (rocksdb_transaction_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_delete, NoTransactions,
                (rocksdb_transaction_t*, const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_delete_cf, NoTransactions,
                (rocksdb_transaction_t*, rocksdb_column_family_handle_t*, const char*, size_t,
                 char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transaction_destroy, (rocksdb_transaction_t*));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transaction_get, NoTransactions,
                      (rocksdb_transaction_t*, const rocksdb_readoptions_t*, const char*, size_t,
                       size_t* size, char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transaction_get_cf, NoTransactions,
                      (rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                       rocksdb_column_family_handle_t*, const char*, size_t, size_t* size,
                       char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transaction_get_for_update, NoTransactions,
                      (rocksdb_transaction_t*, const rocksdb_readoptions_t*, const char*, size_t,
                       size_t* size, unsigned char, char** errptr));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_transaction_get_for_update_cf, NoTransactions,
                      (rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                       rocksdb_column_family_handle_t*, const char*, size_t, size_t* size,
                       unsigned char, char** errptr));
VARVE_C_GIVES_NOTHING(Bytes, rocksdb_transaction_get_name, (rocksdb_transaction_t*, size_t* size));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transaction_get_pinned, NoTransactions,
                (rocksdb_transaction_t*, const rocksdb_readoptions_t*, const char*, size_t,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transaction_get_pinned_cf, NoTransactions,
                (rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transaction_get_pinned_for_update, NoTransactions,
                (rocksdb_transaction_t*, const rocksdb_readoptions_t*, const char*, size_t,
                 unsigned char, char** errptr));
VARVE_C_REFUSES(rocksdb_pinnableslice_t*, rocksdb_transaction_get_pinned_for_update_cf,
                NoTransactions,
                (rocksdb_transaction_t*, const rocksdb_readoptions_t*,
                 rocksdb_column_family_handle_t*, const char*, size_t, unsigned char,
                 char** errptr));
VARVE_C_DOES_NOTHING(const rocksdb_snapshot_t*, rocksdb_transaction_get_snapshot,
                     (rocksdb_transaction_t*));
VARVE_C_DOES_NOTHING(rocksdb_writebatch_wi_t*, rocksdb_transaction_get_writebatch_wi,
                     (rocksdb_transaction_t*));
VARVE_C_REFUSES(void, rocksdb_transaction_merge, NoTransactions,
                (rocksdb_transaction_t*, const char*, size_t, const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_merge_cf, NoTransactions,
                (rocksdb_transaction_t*, rocksdb_column_family_handle_t*, const char*, size_t,
                 const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_prepare, NoTransactions,
                (rocksdb_transaction_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_put, NoTransactions,
                (rocksdb_transaction_t*, const char*, size_t, const char*, size_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_put_cf, NoTransactions,
                (rocksdb_transaction_t*, rocksdb_column_family_handle_t*, const char*, size_t,
                 const char*, size_t, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transaction_put_log_data,
                     (rocksdb_transaction_t*, const char*, size_t));
VARVE_C_REFUSES(void, rocksdb_transaction_rebuild_from_writebatch, NoTransactions,
                (rocksdb_transaction_t*, rocksdb_writebatch_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_rebuild_from_writebatch_wi, NoTransactions,
                (rocksdb_transaction_t*, rocksdb_writebatch_wi_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_rollback, NoTransactions,
                (rocksdb_transaction_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_transaction_rollback_to_savepoint, NoTransactions,
                (rocksdb_transaction_t*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transaction_set_commit_timestamp,
                     (rocksdb_transaction_t*, uint64_t));
VARVE_C_REFUSES(void, rocksdb_transaction_set_name, NoTransactions,
                (rocksdb_transaction_t*, const char*, size_t, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_transaction_set_read_timestamp_for_validation,
                     (rocksdb_transaction_t*, uint64_t));
VARVE_C_DOES_NOTHING(void, rocksdb_transaction_set_savepoint, (rocksdb_transaction_t*));

// -1: unknown.
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* /*db*/,
                                                 const char* /*propname*/, uint64_t* /*out_val*/) {
  return -1;
}

// -1: unknown.
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* /*db*/, const char* /*propname*/,
                                       uint64_t* /*out_val*/) {
  return -1;
}

void rocksdb_transaction_multi_get(rocksdb_transaction_t* /*transaction*/,
                                   const rocksdb_readoptions_t* /*options*/, size_t num_keys,
                                   const char* const* /*keys_list*/,
                                   const size_t* /*keys_list_sizes*/, char** values_list,
                                   size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

void rocksdb_transaction_multi_get_cf(
    rocksdb_transaction_t* /*transaction*/, const rocksdb_readoptions_t* /*options*/,
    const rocksdb_column_family_handle_t* const* /*column_families*/, size_t num_keys,
    const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/, char** values_list,
    size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t* /*transaction*/,
                                              const rocksdb_readoptions_t* /*options*/,
                                              size_t num_keys, const char* const* /*keys_list*/,
                                              const size_t* /*keys_list_sizes*/, char** values_list,
                                              size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

void rocksdb_transaction_multi_get_for_update_cf(
    rocksdb_transaction_t* /*transaction*/, const rocksdb_readoptions_t* /*options*/,
    const rocksdb_column_family_handle_t* const* /*column_families*/, size_t num_keys,
    const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/, char** values_list,
    size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* /*db*/,
                                     const rocksdb_readoptions_t* /*options*/, size_t num_keys,
                                     const char* const* /*keys_list*/,
                                     const size_t* /*keys_list_sizes*/, char** values_list,
                                     size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

void rocksdb_transactiondb_multi_get_cf(
    rocksdb_transactiondb_t* /*db*/, const rocksdb_readoptions_t* /*options*/,
    const rocksdb_column_family_handle_t* const* /*column_families*/, size_t num_keys,
    const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/, char** values_list,
    size_t* values_list_sizes, char** errs) {
  RefuseEach(num_keys, values_list, values_list_sizes, errs, __func__);
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t*,
                                                        const rocksdb_readoptions_t*) {
  return varve::c::FailedIterator(__func__, kNoTransactions);
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t*,
                                                           const rocksdb_readoptions_t*,
                                                           rocksdb_column_family_handle_t*) {
  return varve::c::FailedIterator(__func__, kNoTransactions);
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t*,
                                                          const rocksdb_readoptions_t*) {
  return varve::c::FailedIterator(__func__, kNoTransactions);
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t*,
                                                             const rocksdb_readoptions_t*,
                                                             rocksdb_column_family_handle_t*) {
  return varve::c::FailedIterator(__func__, kNoTransactions);
}
