// SPDX-License-Identifier: Apache-2.0
#pragma once

// StatisticsRecorder records the growth of the tickers of DBOptions::statistics periodically: in
// memory or, with persist_stats_to_disk, in the database, by a separate job, as that may wait for a
// disk.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/lifecycle.h"
#include "db/engine/statistics_history.h"

namespace varve {

// Thread safety: Start and Stop are called by the threads that open and close; Record only by the
// timer's thread. The parts must outlive it.
class StatisticsRecorder {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    const Lifecycle& lifecycle;
    StatisticsHistory& history;
  };
  // Stores one record in the database.
  using Store = std::function<Status(uint64_t seconds, const StatisticsHistory::Counts& growth)>;

  explicit StatisticsRecorder(const Parts& parts) : with_(parts) {}
  StatisticsRecorder(const StatisticsRecorder&) = delete;
  StatisticsRecorder& operator=(const StatisticsRecorder&) = delete;

  // Begins the first interval, which the first Record ends. An empty `store` means that records are
  // kept in memory.
  void Start(Store store);
  // Records the growth since the last record. With a Store, a job does so, and a call while that
  // runs does nothing. Requires DBOptions::statistics. If records are kept in memory, the oldest
  // are removed when all together have more than `most_bytes`.
  void Record(size_t most_bytes) VARVE_EXCLUDES(kDbMutex);
  // Must be called after the last Record. Returns when no job runs any more.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  // Entry point of the job on a thread of the Env; calls StoreRecord, then EndJob.
  static void RunJob(void* self);
  // Makes a record and stores it, which may write to a disk.
  void StoreRecord();
  // Marks the job as ended, so that the next Record can schedule one, and Stop returns.
  void EndJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  // Empty if records are kept in memory.
  Store store_;
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;  // a job has not ended
};

}  // namespace varve
