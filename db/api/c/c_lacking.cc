// SPDX-License-Identifier: Apache-2.0
// Lists options of the C API that Varve has no field for, makes setters and getters from the rows,
// and says what opening does with them. util/options/foreign_options.cc decides which of them only
// tune a mechanism that Varve lacks, as for OPTIONS files.
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
  for (const auto& [option, value] : values_) {
    if (value == option->default_value) continue;
    // The value "(set)" is harmless for no option that asks for something.
    const ForeignVerdict verdict = JudgeForeignOption(option->struct_name, option->name, "(set)");
    if (verdict == ForeignVerdict::kHarmless) continue;
    return Status::NotSupported("C API: this engine does not have it", option->name);
  }
  return Status::OK();
}

}  // namespace varve::c

// Makes a row and its functions: rocksdb_options_set_ and _get_`name`.
#define VARVE_C_LACKING(struct_name, name, c_type, default_value)                                 \
  namespace {                                                                                     \
  const LackingOption kLacking_##name{#struct_name, #name, default_value};                        \
  }                                                                                               \
  void rocksdb_options_set_##name(rocksdb_options_t* options, c_type value) {                     \
    if (options == nullptr) return;                                                               \
    TryVoid(                                                                                      \
        [&] { options->lacking.Set(kLacking_##name, static_cast<varve::c::AnyNumber>(value)); }); \
  }                                                                                               \
  c_type rocksdb_options_get_##name(rocksdb_options_t* options) {                                 \
    if (options == nullptr) return 0;                                                             \
    return static_cast<c_type>(options->lacking.Get(kLacking_##name));                            \
  }                                                                                               \
  static_assert(true)
#define VARVE_C_LACKING_DB(name, c_type, default_value) \
  VARVE_C_LACKING(DBOptions, name, c_type, default_value)
#define VARVE_C_LACKING_CF(name, c_type, default_value) \
  VARVE_C_LACKING(ColumnFamilyOptions, name, c_type, default_value)

VARVE_C_LACKING_DB(access_hint_on_compaction_start, int, 1);
VARVE_C_LACKING_DB(async_wal_precreate, unsigned char, 0);
VARVE_C_LACKING_DB(background_close_inactive_wals, unsigned char, 0);
VARVE_C_LACKING_DB(enforce_write_buffer_manager_during_recovery, unsigned char, 1);
VARVE_C_LACKING_DB(fast_sst_open, unsigned char, 0);
VARVE_C_LACKING_DB(lowest_used_cache_tier, int, 2);
VARVE_C_LACKING_DB(max_compaction_trigger_wakeup_seconds, uint64_t, 43200);
VARVE_C_LACKING_DB(max_manifest_space_amp_pct, int, 500);
VARVE_C_LACKING_DB(metadata_write_temperature, int, 0);
VARVE_C_LACKING_DB(open_files_async, unsigned char, 0);
VARVE_C_LACKING_DB(optimize_manifest_for_recovery, unsigned char, 0);
VARVE_C_LACKING_DB(read_io_executor_threads, int, 1);
VARVE_C_LACKING_DB(reuse_manifest_on_open, unsigned char, 0);
VARVE_C_LACKING_DB(use_direct_io_for_compaction_reads, unsigned char, 0);
VARVE_C_LACKING_DB(verify_manifest_content_on_close, unsigned char, 0);
VARVE_C_LACKING_DB(wal_write_temperature, int, 0);

VARVE_C_LACKING_CF(blob_direct_write_partitions, uint32_t, 1);
VARVE_C_LACKING_CF(cf_allow_ingest_behind, unsigned char, 0);
VARVE_C_LACKING_CF(default_temperature, int, 0);
VARVE_C_LACKING_CF(default_write_temperature, int, 0);
VARVE_C_LACKING_CF(disallow_memtable_writes, unsigned char, 0);
VARVE_C_LACKING_CF(enable_blob_direct_write, unsigned char, 0);
VARVE_C_LACKING_CF(experimental_mempurge_threshold, double, 0);
VARVE_C_LACKING_CF(last_level_temperature, int, 0);
VARVE_C_LACKING_CF(max_write_buffer_number_to_maintain, int, 0);
VARVE_C_LACKING_CF(memtable_avg_op_scan_flush_trigger, uint32_t, 0);
VARVE_C_LACKING_CF(memtable_batch_lookup_optimization, unsigned char, 0);
VARVE_C_LACKING_CF(memtable_op_scan_flush_trigger, uint32_t, 0);
VARVE_C_LACKING_CF(memtable_verify_per_key_checksum_on_seek, unsigned char, 0);
VARVE_C_LACKING_CF(min_tombstones_for_range_conversion, uint32_t, 0);
VARVE_C_LACKING_CF(paranoid_memory_checks, unsigned char, 0);
VARVE_C_LACKING_CF(preclude_last_level_data_seconds, uint64_t, 0);
VARVE_C_LACKING_CF(prepopulate_blob_cache, int, 0);
VARVE_C_LACKING_CF(preserve_internal_time_seconds, uint64_t, 0);
VARVE_C_LACKING_CF(read_triggered_compaction_threshold, double, 0);
VARVE_C_LACKING_CF(target_file_size_is_upper_bound, unsigned char, 0);
VARVE_C_LACKING_CF(uncache_aggressiveness, uint32_t, 0);
VARVE_C_LACKING_CF(verify_output_flags, int, 0);

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

void rocksdb_options_set_blob_cache(rocksdb_options_t* /*options*/, rocksdb_cache_t* /*cache*/) {}

namespace {

void RefuseTables(rocksdb_options_t* options, const char* call = __builtin_FUNCTION()) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->table_lacking = {};
    options->table_lacking.Refuse(call);
  });
}

}  // namespace

void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t* options,
                                              rocksdb_cuckoo_table_options_t* /*table_options*/) {
  RefuseTables(options);
}

void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t /*user_key_len*/,
                                             int /*bloom_bits_per_key*/,
                                             double /*hash_table_ratio*/,
                                             size_t /*index_sparseness*/,
                                             size_t /*huge_page_tlb_size*/, char /*encoding_type*/,
                                             unsigned char /*full_scan_mode*/,
                                             unsigned char /*store_index_in_file*/) {
  RefuseTables(options);
}

void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options, size_t /*bucket_count*/) {
  RefuseObject(options, "rocksdb_options_set_hash_link_list_rep", true);
}

void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options, size_t /*bucket_count*/,
                                            int32_t /*height*/, int32_t /*branching_factor*/) {
  RefuseObject(options, "rocksdb_options_set_hash_skip_list_rep", true);
}

void rocksdb_options_set_wal_filter(rocksdb_options_t* options, rocksdb_walfilter_t* filter) {
  RefuseObject(options, "wal_filter", filter != nullptr);
}

void rocksdb_options_clear_wal_filter(rocksdb_options_t* options) {
  RefuseObject(options, "wal_filter", false);
}

void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* options,
                                                         uint64_t memtable_memory_budget) {
  if (options == nullptr) return;
  options->rep.write_buffer_size = memtable_memory_budget / 4;
  options->rep.min_write_buffer_number_to_merge = 2;
  options->rep.max_write_buffer_number = 6;
  options->rep.compaction_style = varve::kCompactionStyleUniversal;
  options->rep.compaction_options_universal.compression_size_percent = 80;
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
