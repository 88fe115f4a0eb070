// SPDX-License-Identifier: Apache-2.0
// Holds the calling thread's IOStatsContext, its text form and its reset.

#include "util/metrics/iostats.h"

#include <cstdint>
#include <string>

#include "util/base/declared_names.h"

namespace varve {

constinit thread_local IOStatsContext* thread_iostats = nullptr;

namespace {

// Too large for the thread-local storage that is accessed without a call.
constinit thread_local IOStatsContext context_of_thread;

// Gives the printing order. These names are RocksDB's.
using Io = IOStatsContext;
constexpr auto& kIoCounters =
    kNamedValues<&Io::thread_pool_id, &Io::bytes_written, &Io::bytes_read, &Io::open_nanos,
                 &Io::allocate_nanos, &Io::write_nanos, &Io::read_nanos, &Io::range_sync_nanos,
                 &Io::fsync_nanos, &Io::prepare_write_nanos, &Io::logger_nanos,
                 &Io::cpu_write_nanos, &Io::cpu_read_nanos>;

using ByTemperature = FileIOByTemperature;
constexpr auto& kTemperatureCounters =
    kNamedValues<&ByTemperature::hot_file_bytes_read, &ByTemperature::warm_file_bytes_read,
                 &ByTemperature::cool_file_bytes_read, &ByTemperature::cold_file_bytes_read,
                 &ByTemperature::ice_file_bytes_read, &ByTemperature::hot_file_read_count,
                 &ByTemperature::warm_file_read_count, &ByTemperature::cool_file_read_count,
                 &ByTemperature::cold_file_read_count, &ByTemperature::ice_file_read_count>;
static_assert(kTemperatureCounters.size() * sizeof(uint64_t) == sizeof(FileIOByTemperature),
              "kTemperatureCounters must name every counter");

template <typename Owner, typename Counters>
void AppendIoCounters(const Owner& owner, const Counters& counters, bool exclude_zero,
                      std::string* out) {
  for (const auto& [field, name] : counters) {
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
