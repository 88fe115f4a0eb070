// SPDX-License-Identifier: Apache-2.0
#pragma once

// IOStatsContext counts the file I/O of one thread: that of calls on the caller's thread, that of
// flushes and compactions on theirs. Counters are always active, times from the PerfLevel on that
// measures times (kEnableTimeExceptForMutex; CPU times: kEnableTimeAndCPUTimeExceptForMutex).

#include <cstdint>
#include <string>

#include "varve/export.h"
#include "varve/perf_level.h"

namespace varve {

// Reads by temperature of the file.
struct VARVE_EXPORT FileIOByTemperature {
  uint64_t hot_file_bytes_read = 0;
  uint64_t warm_file_bytes_read = 0;
  uint64_t cool_file_bytes_read = 0;
  uint64_t cold_file_bytes_read = 0;
  uint64_t ice_file_bytes_read = 0;
  uint64_t hot_file_read_count = 0;
  uint64_t warm_file_read_count = 0;
  uint64_t cool_file_read_count = 0;
  uint64_t cold_file_read_count = 0;
  uint64_t ice_file_read_count = 0;

  void Reset() { *this = FileIOByTemperature(); }
};

struct VARVE_EXPORT IOStatsContext {
  // Sets every counter to zero, but not thread_pool_id and disable_iostats.
  void Reset();

  // Returns "name = value, ..." in field order.
  std::string ToString(bool exclude_zero_counters = false) const;

  // The thread's background pool as Env::Priority; meaningless on user threads.
  uint64_t thread_pool_id = 0;

  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  uint64_t open_nanos = 0;
  uint64_t allocate_nanos = 0;
  uint64_t write_nanos = 0;
  uint64_t read_nanos = 0;
  uint64_t range_sync_nanos = 0;
  uint64_t fsync_nanos = 0;
  uint64_t prepare_write_nanos = 0;
  uint64_t logger_nanos = 0;
  uint64_t cpu_write_nanos = 0;
  uint64_t cpu_read_nanos = 0;

  FileIOByTemperature file_io_stats_by_temperature;

  // Set during I/O that should not be counted.
  bool disable_iostats = false;
};

// Returns the calling thread's context, never null, valid until the thread ends.
VARVE_EXPORT IOStatsContext* get_iostats_context();

}  // namespace varve
