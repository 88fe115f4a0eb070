// SPDX-License-Identifier: Apache-2.0
// Holds the calling thread's PerfContext: its storage, text form, reset and copy.

#include "util/metrics/perf_counters.h"

#include <time.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace varve {

namespace {

template <typename Owner>
struct PerfCounter {
  const char* name;
  uint64_t Owner::*field;
};

// The printing order is the field order; the size check below catches a field without an entry.
constexpr PerfCounter<PerfContextBase> kPerfCounters[] = {
    {"user_key_comparison_count", &PerfContextBase::user_key_comparison_count},
    {"block_cache_hit_count", &PerfContextBase::block_cache_hit_count},
    {"block_read_count", &PerfContextBase::block_read_count},
    {"block_read_byte", &PerfContextBase::block_read_byte},
    {"block_read_time", &PerfContextBase::block_read_time},
    {"block_read_cpu_time", &PerfContextBase::block_read_cpu_time},
    {"block_cache_index_hit_count", &PerfContextBase::block_cache_index_hit_count},
    {"block_cache_standalone_handle_count", &PerfContextBase::block_cache_standalone_handle_count},
    {"block_cache_real_handle_count", &PerfContextBase::block_cache_real_handle_count},
    {"index_block_read_count", &PerfContextBase::index_block_read_count},
    {"block_cache_filter_hit_count", &PerfContextBase::block_cache_filter_hit_count},
    {"filter_block_read_count", &PerfContextBase::filter_block_read_count},
    {"compression_dict_block_read_count", &PerfContextBase::compression_dict_block_read_count},
    {"block_cache_index_read_byte", &PerfContextBase::block_cache_index_read_byte},
    {"block_cache_filter_read_byte", &PerfContextBase::block_cache_filter_read_byte},
    {"block_cache_compression_dict_read_byte",
     &PerfContextBase::block_cache_compression_dict_read_byte},
    {"block_cache_read_byte", &PerfContextBase::block_cache_read_byte},
    {"secondary_cache_hit_count", &PerfContextBase::secondary_cache_hit_count},
    {"compressed_sec_cache_insert_real_count",
     &PerfContextBase::compressed_sec_cache_insert_real_count},
    {"compressed_sec_cache_insert_dummy_count",
     &PerfContextBase::compressed_sec_cache_insert_dummy_count},
    {"compressed_sec_cache_uncompressed_bytes",
     &PerfContextBase::compressed_sec_cache_uncompressed_bytes},
    {"compressed_sec_cache_compressed_bytes",
     &PerfContextBase::compressed_sec_cache_compressed_bytes},
    {"block_checksum_time", &PerfContextBase::block_checksum_time},
    {"block_decompress_time", &PerfContextBase::block_decompress_time},
    {"get_read_bytes", &PerfContextBase::get_read_bytes},
    {"multiget_read_bytes", &PerfContextBase::multiget_read_bytes},
    {"iter_read_bytes", &PerfContextBase::iter_read_bytes},
    {"blob_cache_hit_count", &PerfContextBase::blob_cache_hit_count},
    {"blob_cache_read_byte", &PerfContextBase::blob_cache_read_byte},
    {"blob_read_count", &PerfContextBase::blob_read_count},
    {"blob_read_byte", &PerfContextBase::blob_read_byte},
    {"blob_read_time", &PerfContextBase::blob_read_time},
    {"blob_checksum_time", &PerfContextBase::blob_checksum_time},
    {"blob_decompress_time", &PerfContextBase::blob_decompress_time},
    {"internal_key_skipped_count", &PerfContextBase::internal_key_skipped_count},
    {"internal_delete_skipped_count", &PerfContextBase::internal_delete_skipped_count},
    {"internal_recent_skipped_count", &PerfContextBase::internal_recent_skipped_count},
    {"internal_merge_count", &PerfContextBase::internal_merge_count},
    {"internal_merge_point_lookup_count", &PerfContextBase::internal_merge_point_lookup_count},
    {"internal_range_del_reseek_count", &PerfContextBase::internal_range_del_reseek_count},
    {"get_snapshot_time", &PerfContextBase::get_snapshot_time},
    {"get_from_memtable_time", &PerfContextBase::get_from_memtable_time},
    {"get_from_memtable_count", &PerfContextBase::get_from_memtable_count},
    {"get_post_process_time", &PerfContextBase::get_post_process_time},
    {"get_from_output_files_time", &PerfContextBase::get_from_output_files_time},
    {"seek_on_memtable_time", &PerfContextBase::seek_on_memtable_time},
    {"seek_on_memtable_count", &PerfContextBase::seek_on_memtable_count},
    {"next_on_memtable_count", &PerfContextBase::next_on_memtable_count},
    {"prev_on_memtable_count", &PerfContextBase::prev_on_memtable_count},
    {"seek_child_seek_time", &PerfContextBase::seek_child_seek_time},
    {"seek_child_seek_count", &PerfContextBase::seek_child_seek_count},
    {"seek_min_heap_time", &PerfContextBase::seek_min_heap_time},
    {"seek_max_heap_time", &PerfContextBase::seek_max_heap_time},
    {"seek_internal_seek_time", &PerfContextBase::seek_internal_seek_time},
    {"find_next_user_entry_time", &PerfContextBase::find_next_user_entry_time},
    {"write_wal_time", &PerfContextBase::write_wal_time},
    {"write_memtable_time", &PerfContextBase::write_memtable_time},
    {"write_delay_time", &PerfContextBase::write_delay_time},
    {"write_scheduling_flushes_compactions_time",
     &PerfContextBase::write_scheduling_flushes_compactions_time},
    {"write_pre_and_post_process_time", &PerfContextBase::write_pre_and_post_process_time},
    {"write_thread_wait_nanos", &PerfContextBase::write_thread_wait_nanos},
    {"db_mutex_lock_nanos", &PerfContextBase::db_mutex_lock_nanos},
    {"db_condition_wait_nanos", &PerfContextBase::db_condition_wait_nanos},
    {"merge_operator_time_nanos", &PerfContextBase::merge_operator_time_nanos},
    {"read_index_block_nanos", &PerfContextBase::read_index_block_nanos},
    {"read_filter_block_nanos", &PerfContextBase::read_filter_block_nanos},
    {"new_table_block_iter_nanos", &PerfContextBase::new_table_block_iter_nanos},
    {"new_table_iterator_nanos", &PerfContextBase::new_table_iterator_nanos},
    {"block_seek_nanos", &PerfContextBase::block_seek_nanos},
    {"find_table_nanos", &PerfContextBase::find_table_nanos},
    {"bloom_memtable_hit_count", &PerfContextBase::bloom_memtable_hit_count},
    {"bloom_memtable_miss_count", &PerfContextBase::bloom_memtable_miss_count},
    {"bloom_sst_hit_count", &PerfContextBase::bloom_sst_hit_count},
    {"bloom_sst_miss_count", &PerfContextBase::bloom_sst_miss_count},
    {"key_lock_wait_time", &PerfContextBase::key_lock_wait_time},
    {"key_lock_wait_count", &PerfContextBase::key_lock_wait_count},
    {"env_new_sequential_file_nanos", &PerfContextBase::env_new_sequential_file_nanos},
    {"env_new_random_access_file_nanos", &PerfContextBase::env_new_random_access_file_nanos},
    {"env_new_writable_file_nanos", &PerfContextBase::env_new_writable_file_nanos},
    {"env_reuse_writable_file_nanos", &PerfContextBase::env_reuse_writable_file_nanos},
    {"env_new_random_rw_file_nanos", &PerfContextBase::env_new_random_rw_file_nanos},
    {"env_new_directory_nanos", &PerfContextBase::env_new_directory_nanos},
    {"env_file_exists_nanos", &PerfContextBase::env_file_exists_nanos},
    {"env_get_children_nanos", &PerfContextBase::env_get_children_nanos},
    {"env_get_children_file_attributes_nanos",
     &PerfContextBase::env_get_children_file_attributes_nanos},
    {"env_delete_file_nanos", &PerfContextBase::env_delete_file_nanos},
    {"env_create_dir_nanos", &PerfContextBase::env_create_dir_nanos},
    {"env_create_dir_if_missing_nanos", &PerfContextBase::env_create_dir_if_missing_nanos},
    {"env_delete_dir_nanos", &PerfContextBase::env_delete_dir_nanos},
    {"env_get_file_size_nanos", &PerfContextBase::env_get_file_size_nanos},
    {"env_get_file_modification_time_nanos",
     &PerfContextBase::env_get_file_modification_time_nanos},
    {"env_rename_file_nanos", &PerfContextBase::env_rename_file_nanos},
    {"env_link_file_nanos", &PerfContextBase::env_link_file_nanos},
    {"env_lock_file_nanos", &PerfContextBase::env_lock_file_nanos},
    {"env_unlock_file_nanos", &PerfContextBase::env_unlock_file_nanos},
    {"env_new_logger_nanos", &PerfContextBase::env_new_logger_nanos},
    {"get_cpu_nanos", &PerfContextBase::get_cpu_nanos},
    {"iter_next_cpu_nanos", &PerfContextBase::iter_next_cpu_nanos},
    {"iter_prev_cpu_nanos", &PerfContextBase::iter_prev_cpu_nanos},
    {"iter_seek_cpu_nanos", &PerfContextBase::iter_seek_cpu_nanos},
    {"iter_next_count", &PerfContextBase::iter_next_count},
    {"iter_prev_count", &PerfContextBase::iter_prev_count},
    {"iter_seek_count", &PerfContextBase::iter_seek_count},
    {"encrypt_data_nanos", &PerfContextBase::encrypt_data_nanos},
    {"decrypt_data_nanos", &PerfContextBase::decrypt_data_nanos},
    {"number_async_seek", &PerfContextBase::number_async_seek},
    {"file_ingestion_nanos", &PerfContextBase::file_ingestion_nanos},
    {"file_ingestion_blocking_live_writes_nanos",
     &PerfContextBase::file_ingestion_blocking_live_writes_nanos},
};
static_assert(sizeof(kPerfCounters) / sizeof(kPerfCounters[0]) * sizeof(uint64_t) ==
                  sizeof(PerfContextBase),
              "kPerfCounters must name every counter");

constexpr PerfCounter<PerfContextByLevel> kLevelCounters[] = {
    {"bloom_filter_useful", &PerfContextByLevel::bloom_filter_useful},
    {"bloom_filter_full_positive", &PerfContextByLevel::bloom_filter_full_positive},
    {"bloom_filter_full_true_positive", &PerfContextByLevel::bloom_filter_full_true_positive},
    {"user_key_return_count", &PerfContextByLevel::user_key_return_count},
    {"get_from_table_nanos", &PerfContextByLevel::get_from_table_nanos},
    {"block_cache_hit_count", &PerfContextByLevel::block_cache_hit_count},
    {"block_cache_miss_count", &PerfContextByLevel::block_cache_miss_count},
};
static_assert(sizeof(kLevelCounters) / sizeof(kLevelCounters[0]) * sizeof(uint64_t) ==
                  sizeof(PerfContextByLevel),
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

void AppendCounter(std::string* out, const char* name, uint64_t value) {
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
  for (const auto& [name, field] : kPerfCounters) {
    if (!exclude_zero_counters || this->*field != 0) AppendCounter(&out, name, this->*field);
  }
  if (level_to_perf_context != nullptr && per_level_perf_context_enabled) {
    for (const auto& [name, field] : kLevelCounters) {
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
