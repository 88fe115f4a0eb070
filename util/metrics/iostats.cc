// SPDX-License-Identifier: Apache-2.0
// Holds the calling thread's IOStatsContext, its text form and its reset.

#include "util/metrics/iostats.h"

#include <cstdint>
#include <string>

namespace varve {

constinit thread_local IOStatsContext* thread_iostats = nullptr;

namespace {

// Too large for the thread-local storage that is accessed without a call.
constinit thread_local IOStatsContext context_of_thread;

template <typename Owner>
struct IoCounter {
  const char* name;
  uint64_t Owner::*field;
};

// Gives the printing order. These names are RocksDB's.
constexpr IoCounter<IOStatsContext> kIoCounters[] = {
    {"thread_pool_id", &IOStatsContext::thread_pool_id},
    {"bytes_written", &IOStatsContext::bytes_written},
    {"bytes_read", &IOStatsContext::bytes_read},
    {"open_nanos", &IOStatsContext::open_nanos},
    {"allocate_nanos", &IOStatsContext::allocate_nanos},
    {"write_nanos", &IOStatsContext::write_nanos},
    {"read_nanos", &IOStatsContext::read_nanos},
    {"range_sync_nanos", &IOStatsContext::range_sync_nanos},
    {"fsync_nanos", &IOStatsContext::fsync_nanos},
    {"prepare_write_nanos", &IOStatsContext::prepare_write_nanos},
    {"logger_nanos", &IOStatsContext::logger_nanos},
    {"cpu_write_nanos", &IOStatsContext::cpu_write_nanos},
    {"cpu_read_nanos", &IOStatsContext::cpu_read_nanos},
};

constexpr IoCounter<FileIOByTemperature> kTemperatureCounters[] = {
    {"hot_file_bytes_read", &FileIOByTemperature::hot_file_bytes_read},
    {"warm_file_bytes_read", &FileIOByTemperature::warm_file_bytes_read},
    {"cool_file_bytes_read", &FileIOByTemperature::cool_file_bytes_read},
    {"cold_file_bytes_read", &FileIOByTemperature::cold_file_bytes_read},
    {"ice_file_bytes_read", &FileIOByTemperature::ice_file_bytes_read},
    {"hot_file_read_count", &FileIOByTemperature::hot_file_read_count},
    {"warm_file_read_count", &FileIOByTemperature::warm_file_read_count},
    {"cool_file_read_count", &FileIOByTemperature::cool_file_read_count},
    {"cold_file_read_count", &FileIOByTemperature::cold_file_read_count},
    {"ice_file_read_count", &FileIOByTemperature::ice_file_read_count},
};
static_assert(sizeof(kTemperatureCounters) / sizeof(kTemperatureCounters[0]) * sizeof(uint64_t) ==
                  sizeof(FileIOByTemperature),
              "kTemperatureCounters must name every counter");

template <typename Owner, size_t kCount>
void AppendIoCounters(const Owner& owner, const IoCounter<Owner> (&counters)[kCount],
                      bool exclude_zero, std::string* out) {
  for (const auto& [name, field] : counters) {
    if (exclude_zero && owner.*field == 0) continue;
    if (!out->empty()) out->append(", ");
    out->append(name).append(" = ").append(std::to_string(owner.*field));
  }
}

}  // namespace

IOStatsContext* FirstThreadIOStats() {
  thread_iostats = &context_of_thread;
  return thread_iostats;
}

IOStatsContext* get_iostats_context() {
  return ThreadIOStats();
}

void CountFileRead(Temperature temperature, uint64_t bytes) {
  IOStatsContext* const stats = ThreadIOStats();
  if (stats->disable_iostats) return;
  stats->bytes_read += bytes;
  FileIOByTemperature* const of = &stats->file_io_stats_by_temperature;
  const auto add = [bytes](uint64_t* total, uint64_t* count) {
    *total += bytes;
    ++*count;
  };
  switch (temperature) {
    case Temperature::kHot:
      return add(&of->hot_file_bytes_read, &of->hot_file_read_count);
    case Temperature::kWarm:
      return add(&of->warm_file_bytes_read, &of->warm_file_read_count);
    case Temperature::kCool:
      return add(&of->cool_file_bytes_read, &of->cool_file_read_count);
    case Temperature::kCold:
      return add(&of->cold_file_bytes_read, &of->cold_file_read_count);
    case Temperature::kIce:
      return add(&of->ice_file_bytes_read, &of->ice_file_read_count);
    case Temperature::kUnknown:
    case Temperature::kLastTemperature:
      return;
  }
}

// The pool and the switch are no measurements: they belong to the thread, and stay.
void IOStatsContext::Reset() {
  IOStatsContext fresh;
  fresh.thread_pool_id = thread_pool_id;
  fresh.disable_iostats = disable_iostats;
  *this = fresh;
}

std::string IOStatsContext::ToString(bool exclude_zero_counters) const {
  std::string out;
  AppendIoCounters(*this, kIoCounters, exclude_zero_counters, &out);
  AppendIoCounters(file_io_stats_by_temperature, kTemperatureCounters, exclude_zero_counters, &out);
  return out;
}

}  // namespace varve
