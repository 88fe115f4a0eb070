// SPDX-License-Identifier: Apache-2.0
// Implements options of transactions for the C API.
#include "db/api/c/c_transactions.h"

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

VARVE_C_HANDLE(optimistictransaction_options);
VARVE_C_FIELD(optimistictransaction_options, set_snapshot, unsigned char);

VARVE_C_HANDLE(optimistictransactiondb_options);
VARVE_C_FIELD(optimistictransactiondb_options, occ_lock_buckets, uint32_t);

// Any number is kept, and checked when a database is opened.
int rocksdb_transactiondb_options_get_write_policy(rocksdb_transactiondb_options_t* options) {
  return options == nullptr ? 0 : options->write_policy;
}

void rocksdb_transactiondb_options_set_write_policy(rocksdb_transactiondb_options_t* options,
                                                    int value) {
  if (options != nullptr) options->write_policy = value;
}

int rocksdb_optimistictransactiondb_options_get_validate_policy(
    rocksdb_optimistictransactiondb_options_t* options) {
  return options == nullptr ? 0 : static_cast<int>(options->rep.validate_policy);
}

void rocksdb_optimistictransactiondb_options_set_validate_policy(
    rocksdb_optimistictransactiondb_options_t* options, int value) {
  if (options == nullptr) return;
  options->rep.validate_policy = static_cast<varve::OccValidationPolicy>(value);
}

rocksdb_optimistictransactiondb_lock_buckets_t* rocksdb_optimistictransactiondb_lock_buckets_create(
    size_t bucket_count, unsigned char cache_aligned) {
  return varve::c::Try([&] {
    auto buckets = varve::MakeSharedOccLockBuckets(bucket_count, cache_aligned != 0);
    return new rocksdb_optimistictransactiondb_lock_buckets_t{std::move(buckets)};
  });
}

size_t rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  return lock_buckets == nullptr ? 0 : lock_buckets->rep->ApproximateMemoryUsage();
}

void rocksdb_optimistictransactiondb_lock_buckets_destroy(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  delete lock_buckets;
}

void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(
    rocksdb_optimistictransactiondb_options_t* options,
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  if (options == nullptr) return;
  options->rep.shared_lock_buckets = lock_buckets == nullptr ? nullptr : lock_buckets->rep;
}
