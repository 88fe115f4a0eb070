// SPDX-License-Identifier: Apache-2.0
// Implements options of single calls for the C API: reads, writes, flushes, compactions.
//
// C++ options point to keys that the caller keeps. In C the options keep copies of them, which
// iterators share (OwnedKey): a program may change or free the options while an iterator made from
// them lives.
#include <chrono>

#include "db/api/c/c_types.h"

using varve::Slice;
using varve::c::Make;
using varve::c::OwnedKey;
using varve::c::SharedKey;

namespace {

// Keeps a copy of the key, and points the C++ option to the copy; for a null key drops the copy,
// and clears the option.
void SetKey(const char* key, size_t size, SharedKey* owned, const Slice** option) {
  varve::c::TryVoid([&] {
    *owned = key == nullptr ? nullptr : std::make_shared<const OwnedKey>(Slice(key, size));
    *option = *owned == nullptr ? nullptr : &(*owned)->slice;
  });
}

// C has unsigned numbers for times; 0 means no limit in both.
uint64_t Micros(std::chrono::microseconds duration) {
  return static_cast<uint64_t>(duration.count());
}

std::chrono::microseconds ToMicros(uint64_t micros) {
  return std::chrono::microseconds(static_cast<int64_t>(micros));
}

}  // namespace

void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options,
                                      const rocksdb_snapshot_t* snapshot) {
  if (options != nullptr) options->rep.snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}

void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t keylen) {
  if (options == nullptr) return;
  SetKey(key, keylen, &options->upper_bound, &options->rep.iterate_upper_bound);
}

void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t keylen) {
  if (options == nullptr) return;
  SetKey(key, keylen, &options->lower_bound, &options->rep.iterate_lower_bound);
}

void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t* options, const char* ts,
                                       size_t tslen) {
  if (options == nullptr) return;
  SetKey(ts, tslen, &options->timestamp, &options->rep.timestamp);
}

void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t* options, const char* ts,
                                           size_t tslen) {
  if (options == nullptr) return;
  SetKey(ts, tslen, &options->iter_start_ts, &options->rep.iter_start_ts);
}

void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options, uint64_t microseconds) {
  if (options != nullptr) options->rep.deadline = ToMicros(microseconds);
}

uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options) {
  return options == nullptr ? 0 : Micros(options->rep.deadline);
}

void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options, uint64_t microseconds) {
  if (options != nullptr) options->rep.io_timeout = ToMicros(microseconds);
}

uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options) {
  return options == nullptr ? 0 : Micros(options->rep.io_timeout);
}

void rocksdb_readoptions_set_merge_operand_count_threshold(rocksdb_readoptions_t* options,
                                                           size_t threshold) {
  if (options != nullptr) options->rep.merge_operand_count_threshold = threshold;
}

void rocksdb_readoptions_clear_merge_operand_count_threshold(rocksdb_readoptions_t* options) {
  if (options != nullptr) options->rep.merge_operand_count_threshold.reset();
}

unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) {
  return options != nullptr && options->rep.merge_operand_count_threshold.has_value() ? 1 : 0;
}

size_t rocksdb_readoptions_get_merge_operand_count_threshold(rocksdb_readoptions_t* options) {
  return options == nullptr ? 0 : options->rep.merge_operand_count_threshold.value_or(0);
}

void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t* options, char* ts,
                                                    size_t tslen) {
  if (options == nullptr) return;
  SetKey(ts, tslen, &options->full_history_ts_low, &options->rep.full_history_ts_low);
}

void rocksdb_wait_for_compact_options_set_timeout(rocksdb_wait_for_compact_options_t* options,
                                                  uint64_t microseconds) {
  if (options != nullptr) options->rep.timeout = ToMicros(microseconds);
}

uint64_t rocksdb_wait_for_compact_options_get_timeout(rocksdb_wait_for_compact_options_t* options) {
  return options == nullptr ? 0 : Micros(options->rep.timeout);
}

// ---- Fields that only RocksDB has ----

void rocksdb_readoptions_set_managed(rocksdb_readoptions_t* /*options*/, unsigned char /*value*/) {}

void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t* options, const char* request_id,
                                        size_t request_id_len) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->request_id =
        request_id == nullptr ? nullptr : std::make_unique<std::string>(request_id, request_id_len);
  });
}

const char* rocksdb_readoptions_get_request_id(rocksdb_readoptions_t* options,
                                               size_t* request_id_len) {
  varve::c::StoreSize(request_id_len, 0);
  if (options == nullptr || options->request_id == nullptr) return nullptr;
  varve::c::StoreSize(request_id_len, options->request_id->size());
  return options->request_id->c_str();
}

void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t* options) {
  if (options != nullptr) options->request_id = nullptr;
}

// There are no indexes but Varve's.
void rocksdb_readoptions_set_table_index_factory_from_string(rocksdb_readoptions_t* options,
                                                             const char* value,
                                                             size_t /*value_len*/, char** errptr) {
  varve::c::Run(errptr, [&]() -> varve::Status {
    if (options == nullptr) return varve::c::NullArgument("options");
    if (value == nullptr) return varve::c::NullArgument("value");
    return varve::Status::NotSupported("C API: this engine does not have it",
                                       "table_index_factory");
  });
}

const char* rocksdb_readoptions_get_table_index_factory_name(
    const rocksdb_readoptions_t* /*options*/, size_t* name_len) {
  varve::c::StoreSize(name_len, 0);
  return nullptr;
}

void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t* /*options*/) {}
