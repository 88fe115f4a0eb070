// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what background work of all column families has done since the database was opened, for
// users. The work for one family is in db/column_family/family_work.h.

#include <atomic>
#include <cstdint>

#include "db/db_mutex.h"
#include "db/write/commit_path.h"
#include "util/metrics/cache_entry_stats.h"
#include "util/sync/give_way.h"

namespace varve {

// The figures of the whole database at one moment, from which the properties and the LOG compute
// those of an interval.
struct DatabaseReading {
  uint64_t micros = 0;  // Monotonic time of the reading; 0: it was never taken.
  CommitTotals writes;
  uint64_t syncs = 0;  // Requests for a durable log.
  uint64_t stall_micros = 0;
};

// Thread safety: any thread may call methods without an annotation.
class WorkStatistics {
 public:
  WorkStatistics() = default;
  WorkStatistics(const WorkStatistics&) = delete;
  WorkStatistics& operator=(const WorkStatistics&) = delete;

  // Adds how often a job yielded, and for how long. Any thread.
  void CountPauses(const WorkPace& pace) {
    pauses_.fetch_add(pace.pauses(), std::memory_order_relaxed);
    paused_nanos_.fetch_add(pace.paused_nanos(), std::memory_order_relaxed);
  }
  // Returns how often jobs yielded.
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  // Returns for how long in all, in nanoseconds.
  uint64_t paused_nanos() const { return paused_nanos_.load(std::memory_order_relaxed); }

  // Returns the statistics of block caches; thread-safe.
  CacheEntryStatsCollector& cache_entries() { return cache_entries_; }

  // The reading at which cumulative figures begin: that of the last ResetStats.
  const DatabaseReading& base() const VARVE_REQUIRES(kDbMutex) { return base_; }
  void set_base(const DatabaseReading& reading) VARVE_REQUIRES(kDbMutex) { base_ = reading; }
  // The reading of the last such text, at which the next one's interval begins.
  const DatabaseReading& reported() const VARVE_REQUIRES(kDbMutex) { return reported_; }
  void set_reported(const DatabaseReading& reading) VARVE_REQUIRES(kDbMutex) {
    reported_ = reading;
  }

 private:
  DatabaseReading base_ VARVE_GUARDED_BY(kDbMutex);
  DatabaseReading reported_ VARVE_GUARDED_BY(kDbMutex);
  // Sums over all jobs that have ended. Relaxed, as they publish nothing.
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_nanos_{0};
  CacheEntryStatsCollector cache_entries_;
};

}  // namespace varve
