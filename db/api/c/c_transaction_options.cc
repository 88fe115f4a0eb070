// SPDX-License-Identifier: Apache-2.0
// Implements options of transactions for the C API.
#include "db/api/c/c_transactions.h"

// Any number is kept, and checked when a database is opened.
int rocksdb_transactiondb_options_get_write_policy(rocksdb_transactiondb_options_t* options) {
  return options == nullptr ? 0 : options->write_policy;
}

void rocksdb_transactiondb_options_set_write_policy(rocksdb_transactiondb_options_t* options,
                                                    int value) {
  if (options != nullptr) options->write_policy = value;
}

// Any number is kept, and given back: nothing reads it, as both policies give the same results.
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
