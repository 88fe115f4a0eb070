// SPDX-License-Identifier: Apache-2.0
#pragma once

// IOStatsContext counts the file I/O of one thread: that of calls on the caller's thread, that of
// flushes and compactions on theirs. A program that wants the I/O of one call resets the calling
// thread's context, calls, and reads it.
//
// Counters are always active, times from the PerfLevel on that measures times
// (kEnableTimeExceptForMutex; CPU times: kEnableTimeAndCPUTimeExceptForMutex). Logs that are
// mapped into memory are written by stores, which are no calls and are not counted as such.
//
//   varve::SetPerfLevel(varve::PerfLevel::kEnableTimeExceptForMutex);
//   varve::get_iostats_context()->Reset();
//   varve::Status s = db->Get(varve::ReadOptions(), "key", &value);
//   printf("%s\n", varve::get_iostats_context()->ToString(true).c_str());

#include <cstdint>
#include <string>

#include "varve/export.h"
#include "varve/perf_level.h"

namespace varve {

// Reads by temperature of the file; files of unknown temperature are not in it.
struct VARVE_EXPORT FileIOByTemperature {
  // Bytes read from files of each temperature.
  uint64_t hot_file_bytes_read = 0;
  uint64_t warm_file_bytes_read = 0;
  uint64_t cool_file_bytes_read = 0;
  uint64_t cold_file_bytes_read = 0;
  uint64_t ice_file_bytes_read = 0;
  // Number of reads of files of each temperature.
  uint64_t hot_file_read_count = 0;
  uint64_t warm_file_read_count = 0;
  uint64_t cool_file_read_count = 0;
  uint64_t cold_file_read_count = 0;
  uint64_t ice_file_read_count = 0;

  // Sets every counter to zero.
  void Reset() { *this = FileIOByTemperature(); }
};

// The counters of one thread. Only that thread reads or changes them.
struct VARVE_EXPORT IOStatsContext {
  // Sets every counter to zero, but not thread_pool_id and disable_iostats.
  void Reset();

  // Returns "name = value, ..." in field order.
  std::string ToString(bool exclude_zero_counters = false) const;

  // The thread's background pool as Env::Priority; meaningless on user threads.
  uint64_t thread_pool_id = 0;

  // Bytes written to and read from files by this thread, as requested from the file system.
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  // Wall time in nanoseconds of: opening and creating files, allocating their space, writing,
  // reading, starting write-back, syncing, reserving space before a write, and writing the LOG.
  uint64_t open_nanos = 0;
  uint64_t allocate_nanos = 0;
  uint64_t write_nanos = 0;
  uint64_t read_nanos = 0;
  uint64_t range_sync_nanos = 0;
  uint64_t fsync_nanos = 0;
  uint64_t prepare_write_nanos = 0;
  uint64_t logger_nanos = 0;
  // CPU time in nanoseconds of writing and reading.
  uint64_t cpu_write_nanos = 0;
  uint64_t cpu_read_nanos = 0;

  // The part of the reads whose file has a known temperature.
  FileIOByTemperature file_io_stats_by_temperature;

  // Set during I/O that should not be counted.
  bool disable_iostats = false;
};

// Returns the calling thread's context, never null, valid until the thread ends.
VARVE_EXPORT IOStatsContext* get_iostats_context();

}  // namespace varve
