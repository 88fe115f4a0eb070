// SPDX-License-Identifier: Apache-2.0
// Says what opening does with options of the C API that Varve has no field for, which are rows
// LACKING of c_functions.inc, and implements those that are not numbers.
// util/options/foreign_options.cc decides which of them only tune a mechanism that Varve lacks, as
// for OPTIONS files.
#include "db/api/c/c_lacking.h"

#include <vector>

#include "db/api/c/c_types.h"
#include "util/options/foreign_options.h"

using varve::Status;
using varve::c::LackingOption;
using varve::c::TryVoid;

namespace varve::c {

Status LackingOptions::Check() const {
  for (const auto& [name, why] : refused_) {
    if (why.empty()) return Status::NotSupported("C API: this engine does not have it", name);
    return Status::InvalidArgument("C API: " + why, name);
  }
  // An option that was set to its default asks for nothing.
  for (const auto& [option, value] : values_) {
    if (value == option->default_value) continue;
    // No option of the table of foreign options lists "(set)" as a harmless value. So only options
    // of which every value is harmless, which just tune something, pass.
    const ForeignVerdict verdict = JudgeForeignOption(option->struct_name, option->name, "(set)");
    if (verdict == ForeignVerdict::kHarmless) continue;
    return Status::NotSupported("C API: this engine does not have it", option->name);
  }
  return Status::OK();
}

}  // namespace varve::c

// ---- Sets of numbers ----

// Has one bit for each number; larger ones have no meaning and are ignored.
#define VARVE_C_LACKING_SET(name, default_bits)                                                   \
  namespace {                                                                                     \
  const LackingOption kLacking_##name{"DBOptions", #name, default_bits};                          \
  uint32_t Bits_##name(const rocksdb_options_t* options) {                                        \
    return options == nullptr ? 0 : static_cast<uint32_t>(options->lacking.Get(kLacking_##name)); \
  }                                                                                               \
  void Store_##name(rocksdb_options_t* options, uint32_t bits) {                                  \
    if (options != nullptr) TryVoid([&] { options->lacking.Set(kLacking_##name, bits); });        \
  }                                                                                               \
  }                                                                                               \
  void rocksdb_options_##name##_add(rocksdb_options_t* options, int number) {                     \
    Store_##name(options, Bits_##name(options) | Bit(number));                                    \
  }                                                                                               \
  void rocksdb_options_##name##_remove(rocksdb_options_t* options, int number) {                  \
    Store_##name(options, Bits_##name(options) & ~Bit(number));                                   \
  }                                                                                               \
  unsigned char rocksdb_options_##name##_contains(rocksdb_options_t* options, int number) {       \
    return (Bits_##name(options) & Bit(number)) != 0 ? 1 : 0;                                     \
  }                                                                                               \
  size_t rocksdb_options_##name##_count(rocksdb_options_t* options) {                             \
    return static_cast<size_t>(__builtin_popcount(Bits_##name(options)));                         \
  }                                                                                               \
  void rocksdb_options_##name##_clear(rocksdb_options_t* options) {                               \
    Store_##name(options, 0);                                                                     \
  }                                                                                               \
  static_assert(true)

namespace {

uint32_t Bit(int number) {
  return number < 0 || number > 31 ? 0 : uint32_t{1} << number;
}

}  // namespace

VARVE_C_LACKING_SET(calculate_sst_write_lifetime_hint_set, 1);
VARVE_C_LACKING_SET(checksum_handoff_file_types, 0);

// ---- Text and objects ----

namespace {

// Notes that an object of a missing feature was wanted; the object itself is not kept.
void RefuseObject(rocksdb_options_t* options, const char* name, bool wanted) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (wanted) {
      options->lacking.Refuse(name);
    } else {
      options->lacking.Allow(name);
    }
  });
}

}  // namespace

void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t* options, const char* value) {
  if (options == nullptr) return;
  TryVoid([&] { options->daily_offpeak_time_utc = value == nullptr ? "" : value; });
  RefuseObject(options, "daily_offpeak_time_utc", !options->daily_offpeak_time_utc.empty());
}

const char* rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t* options, size_t* size) {
  varve::c::StoreSize(size, options == nullptr ? 0 : options->daily_offpeak_time_utc.size());
  return options == nullptr ? nullptr : options->daily_offpeak_time_utc.c_str();
}

namespace {

// Makes an opening refuse the table factory that the function `call` sets.
void RefuseTables(rocksdb_options_t* options, const char* call = __builtin_FUNCTION()) {
  if (options == nullptr) return;
  TryVoid([&] {
    // The last factory counts: it does not matter any more what an earlier one lacked.
    options->table_lacking = {};
    options->table_lacking.Refuse(call);
  });
}

}  // namespace

void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t* options,
                                              rocksdb_cuckoo_table_options_t* /*table_options*/) {
  RefuseTables(options);
}

void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* options,
                                                         uint64_t memtable_memory_budget) {
  if (options == nullptr) return;
  options->rep.OptimizeUniversalStyleCompaction(memtable_memory_budget);
}

// ---- Tables ----

void rocksdb_block_based_options_set_block_cache_compressed(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* block_cache_compressed) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (block_cache_compressed != nullptr) {
      options->lacking.Refuse("block_cache_compressed");
    } else {
      options->lacking.Allow("block_cache_compressed");
    }
  });
}

void rocksdb_block_based_options_set_user_defined_index_factory_from_string(
    rocksdb_block_based_table_options_t* options, const char* value, size_t /*value_len*/,
    char** errptr) {
  varve::c::Run(errptr, [&]() -> Status {
    if (options == nullptr) return varve::c::NullArgument("options");
    if (value == nullptr) return varve::c::NullArgument("value");
    return Status::NotSupported("C API: this engine does not have it", "user_defined_index");
  });
}

const char* rocksdb_block_based_options_get_user_defined_index_factory_name(
    const rocksdb_block_based_table_options_t* /*options*/, size_t* name_len) {
  varve::c::StoreSize(name_len, 0);
  return nullptr;
}

void rocksdb_block_based_options_clear_user_defined_index_factory(
    rocksdb_block_based_table_options_t* /*options*/) {}
