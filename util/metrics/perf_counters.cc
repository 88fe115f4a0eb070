// SPDX-License-Identifier: Apache-2.0
// Holds the calling thread's PerfContext: its storage, text form, reset and copy.

#include "util/metrics/perf_counters.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "util/base/declared_names.h"

namespace varve {

namespace {

// The printing order is the field order; the size checks below catch a field without an entry.
using Perf = PerfContextBase;
constexpr auto& kPerfCounters = kNamedValues<
    &Perf::user_key_comparison_count, &Perf::block_cache_hit_count, &Perf::block_read_count,
    &Perf::block_read_byte, &Perf::block_read_time, &Perf::block_read_cpu_time,
    &Perf::block_cache_index_hit_count, &Perf::block_cache_standalone_handle_count,
    &Perf::block_cache_real_handle_count, &Perf::index_block_read_count,
    &Perf::block_cache_filter_hit_count, &Perf::filter_block_read_count,
    &Perf::compression_dict_block_read_count, &Perf::block_cache_index_read_byte,
    &Perf::block_cache_filter_read_byte, &Perf::block_cache_compression_dict_read_byte,
    &Perf::block_cache_read_byte, &Perf::secondary_cache_hit_count,
    &Perf::compressed_sec_cache_insert_real_count, &Perf::compressed_sec_cache_insert_dummy_count,
    &Perf::compressed_sec_cache_uncompressed_bytes, &Perf::compressed_sec_cache_compressed_bytes,
    &Perf::block_checksum_time, &Perf::block_decompress_time, &Perf::get_read_bytes,
    &Perf::multiget_read_bytes, &Perf::iter_read_bytes, &Perf::blob_cache_hit_count,
    &Perf::blob_cache_read_byte, &Perf::blob_read_count, &Perf::blob_read_byte,
    &Perf::blob_read_time, &Perf::blob_checksum_time, &Perf::blob_decompress_time,
    &Perf::internal_key_skipped_count, &Perf::internal_delete_skipped_count,
    &Perf::internal_recent_skipped_count, &Perf::internal_merge_count,
    &Perf::internal_merge_point_lookup_count, &Perf::internal_range_del_reseek_count,
    &Perf::get_snapshot_time, &Perf::get_from_memtable_time, &Perf::get_from_memtable_count,
    &Perf::get_post_process_time, &Perf::get_from_output_files_time, &Perf::seek_on_memtable_time,
    &Perf::seek_on_memtable_count, &Perf::next_on_memtable_count, &Perf::prev_on_memtable_count,
    &Perf::seek_child_seek_time, &Perf::seek_child_seek_count, &Perf::seek_min_heap_time,
    &Perf::seek_max_heap_time, &Perf::seek_internal_seek_time, &Perf::find_next_user_entry_time,
    &Perf::write_wal_time, &Perf::write_memtable_time, &Perf::write_delay_time,
    &Perf::write_scheduling_flushes_compactions_time, &Perf::write_pre_and_post_process_time,
    &Perf::write_thread_wait_nanos, &Perf::db_mutex_lock_nanos, &Perf::db_condition_wait_nanos,
    &Perf::merge_operator_time_nanos, &Perf::read_index_block_nanos, &Perf::read_filter_block_nanos,
    &Perf::new_table_block_iter_nanos, &Perf::new_table_iterator_nanos, &Perf::block_seek_nanos,
    &Perf::find_table_nanos, &Perf::bloom_memtable_hit_count, &Perf::bloom_memtable_miss_count,
    &Perf::bloom_sst_hit_count, &Perf::bloom_sst_miss_count, &Perf::key_lock_wait_time,
    &Perf::key_lock_wait_count, &Perf::env_new_sequential_file_nanos,
    &Perf::env_new_random_access_file_nanos, &Perf::env_new_writable_file_nanos,
    &Perf::env_reuse_writable_file_nanos, &Perf::env_new_random_rw_file_nanos,
    &Perf::env_new_directory_nanos, &Perf::env_file_exists_nanos, &Perf::env_get_children_nanos,
    &Perf::env_get_children_file_attributes_nanos, &Perf::env_delete_file_nanos,
    &Perf::env_create_dir_nanos, &Perf::env_create_dir_if_missing_nanos,
    &Perf::env_delete_dir_nanos, &Perf::env_get_file_size_nanos,
    &Perf::env_get_file_modification_time_nanos, &Perf::env_rename_file_nanos,
    &Perf::env_link_file_nanos, &Perf::env_lock_file_nanos, &Perf::env_unlock_file_nanos,
    &Perf::env_new_logger_nanos, &Perf::get_cpu_nanos, &Perf::iter_next_cpu_nanos,
    &Perf::iter_prev_cpu_nanos, &Perf::iter_seek_cpu_nanos, &Perf::iter_next_count,
    &Perf::iter_prev_count, &Perf::iter_seek_count, &Perf::encrypt_data_nanos,
    &Perf::decrypt_data_nanos, &Perf::number_async_seek, &Perf::file_ingestion_nanos,
    &Perf::file_ingestion_blocking_live_writes_nanos>;
static_assert(kPerfCounters.size() * sizeof(uint64_t) == sizeof(PerfContextBase),
              "kPerfCounters must name every counter");

using ByLevel = PerfContextByLevel;
constexpr auto& kLevelCounters =
    kNamedValues<&ByLevel::bloom_filter_useful, &ByLevel::bloom_filter_full_positive,
                 &ByLevel::bloom_filter_full_true_positive, &ByLevel::user_key_return_count,
                 &ByLevel::get_from_table_nanos, &ByLevel::block_cache_hit_count,
                 &ByLevel::block_cache_miss_count>;
static_assert(kLevelCounters.size() * sizeof(uint64_t) == sizeof(PerfContextByLevel),
              "kLevelCounters must name every counter");

using LevelMap = std::map<uint32_t, PerfContextByLevel>;

LevelMap* CopyLevels(const LevelMap* levels) {
  return levels == nullptr ? nullptr : std::make_unique<LevelMap>(*levels).release();
}

// Frees what CopyLevels or EnablePerLevelPerfContext made. The public struct has a raw pointer,
// because programs read the field.
void FreeLevels(LevelMap* levels) {
  std::unique_ptr<LevelMap>(levels).reset();
}

void AppendCounter(std::string* out, std::string_view name, uint64_t value) {
  out->append(name).append(" = ").append(std::to_string(value)).append(", ");
}

// Frees the thread's context when the thread exits; the thread then counts no more. The context is
// not in thread-local storage itself: under the fast access model all of a library's must fit into
// the few hundred bytes that a process reserves for libraries loaded at run time.
struct ContextOwner {
  const std::unique_ptr<PerfContext> context;
  ~ContextOwner() { thread_perf = {kDisable, nullptr}; }
};

}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadPerf thread_perf = {kEnableCount,
                                                                                    nullptr};

PerfContext* CreateThreadPerfContext() {
  // A call after the owner's end creates another context, which is never freed.
  PerfContext* const context = std::make_unique<PerfContext>().release();
  // Constructed once a thread, by the first call.
  thread_local const ContextOwner owner{std::unique_ptr<PerfContext>(context)};
  thread_perf.context = context;
  return context;
}

uint64_t PerfClockNanos() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

uint64_t PerfCpuNanos() {
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// A program may have cleared the map and left the switch on.
void AddPerfLevelCountSlow(uint32_t level, uint64_t PerfContextByLevel::*counter, uint64_t n) {
  LevelMap* const levels = ThreadPerfContext()->level_to_perf_context;
  if (levels != nullptr) (*levels)[level].*counter += n;
}

// A level out of range is ignored: the fast path compares levels as numbers and checks nothing.
void SetPerfLevel(PerfLevel level) {
  if (level > kUninitialized && level < kOutOfBounds) thread_perf.level = level;
}

PerfLevel GetPerfLevel() {
  return thread_perf.level;
}

uint64_t PerfContextBase::*FindPerfCounter(std::string_view name) {
  const auto it = std::ranges::find(kPerfCounters, name, &NamedValue<uint64_t Perf::*>::name);
  return it == kPerfCounters.end() ? nullptr : it->value;
}

PerfContext* get_perf_context() {
  return ThreadPerfContext();
}

void PerfContextByLevel::Reset() {
  *this = PerfContextByLevel();
}

PerfContext::~PerfContext() {
  FreeLevels(level_to_perf_context);
}

PerfContext::PerfContext(const PerfContext& other)
    : PerfContextBase(other),
      level_to_perf_context(CopyLevels(other.level_to_perf_context)),
      per_level_perf_context_enabled(other.per_level_perf_context_enabled) {}

// Copies the map before it frees the old one: copying may throw.
PerfContext& PerfContext::operator=(const PerfContext& other) {
  if (this == &other) return *this;
  PerfContextBase::operator=(other);
  FreeLevels(std::exchange(level_to_perf_context, CopyLevels(other.level_to_perf_context)));
  per_level_perf_context_enabled = other.per_level_perf_context_enabled;
  return *this;
}

PerfContext::PerfContext(PerfContext&& other) noexcept
    : PerfContextBase(other),
      level_to_perf_context(std::exchange(other.level_to_perf_context, nullptr)),
      per_level_perf_context_enabled(std::exchange(other.per_level_perf_context_enabled, false)) {}

// Keeps the map with its levels and the switch, so that counting goes on.
void PerfContext::Reset() {
  static_cast<PerfContextBase&>(*this) = PerfContextBase();
  if (level_to_perf_context == nullptr) return;
  for (auto& [level, counters] : *level_to_perf_context) counters.Reset();
}

std::string PerfContext::ToString(bool exclude_zero_counters) const {
  std::string out;
  for (const auto& [field, name] : kPerfCounters) {
    if (!exclude_zero_counters || this->*field != 0) AppendCounter(&out, name, this->*field);
  }
  if (level_to_perf_context != nullptr && per_level_perf_context_enabled) {
    for (const auto& [field, name] : kLevelCounters) {
      std::string values;
      for (const auto& [level, counters] : *level_to_perf_context) {
        if (counters.*field == 0) continue;
        if (!values.empty()) values.append(", ");
        values.append(std::to_string(counters.*field)).append("@level");
        values.append(std::to_string(level));
      }
      if (!values.empty() || !exclude_zero_counters) {
        out.append(name).append(" = ").append(values).append(", ");
      }
    }
  }
  if (out.size() >= 2) out.resize(out.size() - 2);
  return out;
}

void PerfContext::EnablePerLevelPerfContext() {
  if (level_to_perf_context == nullptr) {
    level_to_perf_context = std::make_unique<LevelMap>().release();
  }
  per_level_perf_context_enabled = true;
}

void PerfContext::DisablePerLevelPerfContext() {
  per_level_perf_context_enabled = false;
}

void PerfContext::ClearPerLevelPerfContext() {
  FreeLevels(std::exchange(level_to_perf_context, nullptr));
  per_level_perf_context_enabled = false;
}

}  // namespace varve
