// SPDX-License-Identifier: Apache-2.0
#pragma once

// What background work has done since the database was opened, for people.

#include <atomic>
#include <cstdint>
#include <vector>

#include "db/db_mutex.h"
#include "util/base/assert.h"
#include "util/metrics/cache_entry_stats.h"
#include "util/sync/give_way.h"

namespace varve {

// Of one level's compactions.
struct LevelCompactionStats {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_moved = 0;
  uint64_t micros = 0;
  uint64_t count = 0;
  uint64_t entries_in = 0;
  uint64_t entries_dropped = 0;
};

class WorkStatistics {
 public:
  WorkStatistics() : levels_(kLevels) {}
  WorkStatistics(const WorkStatistics&) = delete;
  WorkStatistics& operator=(const WorkStatistics&) = delete;

  LevelCompactionStats& level(int level) VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(level >= 0);
    const auto at = static_cast<size_t>(level);
    if (levels_.size() <= at) levels_.resize(at + 1);
    return levels_[at];
  }

  void CountFlush(uint64_t bytes) VARVE_REQUIRES(kDbMutex) {
    flushes_++;
    flush_bytes_ += bytes;
  }
  uint64_t flushes() const VARVE_REQUIRES(kDbMutex) { return flushes_; }
  uint64_t flush_bytes() const VARVE_REQUIRES(kDbMutex) { return flush_bytes_; }

  void Reset() VARVE_REQUIRES(kDbMutex) {
    for (LevelCompactionStats& stats : levels_) stats = LevelCompactionStats();
    flushes_ = 0;
    flush_bytes_ = 0;
  }

  // How often a job gave way, and for how long others had its processors. Any thread.
  void CountPauses(const WorkPace& pace) {
    pauses_.fetch_add(pace.pauses(), std::memory_order_relaxed);
    paused_nanos_.fetch_add(pace.paused_nanos(), std::memory_order_relaxed);
  }
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  uint64_t paused_nanos() const { return paused_nanos_.load(std::memory_order_relaxed); }

  // Of block caches; thread-safe.
  CacheEntryStatsCollector& cache_entries() { return cache_entries_; }

 private:
  static constexpr size_t kLevels = 64;

  std::vector<LevelCompactionStats> levels_ VARVE_GUARDED_BY(kDbMutex);
  uint64_t flushes_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t flush_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_nanos_{0};
  CacheEntryStatsCollector cache_entries_;
};

}  // namespace varve
