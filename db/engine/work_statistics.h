// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what background work of all column families has done since the database was opened, for
// users. The work for one family is in db/column_family/family_work.h.

#include <atomic>
#include <cstdint>

#include "util/metrics/cache_entry_stats.h"
#include "util/sync/give_way.h"

namespace varve {

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
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  uint64_t paused_nanos() const { return paused_nanos_.load(std::memory_order_relaxed); }

  // Returns the statistics of block caches; thread-safe.
  CacheEntryStatsCollector& cache_entries() { return cache_entries_; }

 private:
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_nanos_{0};
  CacheEntryStatsCollector cache_entries_;
};

}  // namespace varve
