// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes how the tickers of the statistics grew: in memory, or, if the database stores such notes,
// by a separate job, as that may wait for a disk.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/statistics_history.h"

namespace varve {

// Thread safety: Start and Stop are called by the threads that open and close; Note by the timer's
// thread alone. The parts must outlive it.
class StatisticsNoter {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    StatisticsHistory& history;
  };
  // Stores one note; empty: notes are kept in memory.
  using Store = std::function<Status(uint64_t seconds, const StatisticsHistory::Counts& growth)>;

  explicit StatisticsNoter(const Parts& parts) : with_(parts) {}
  StatisticsNoter(const StatisticsNoter&) = delete;
  StatisticsNoter& operator=(const StatisticsNoter&) = delete;

  // Begins the first interval, whose growth the first Note notes. Must be called before that.
  void Start(Store store);
  // Notes the growth since the last note; with a Store, a job does so, and a call while that has
  // not ended does nothing. Requires that the options have statistics. If notes are kept in memory,
  // the oldest go as soon as all take more than `most_bytes`.
  void Note(size_t most_bytes) VARVE_EXCLUDES(kDbMutex);
  // Must be called after the last Note. Returns when no job is left.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  // Called on a thread of the environment; calls StoreNote, then EndJob.
  static void RunJob(void* self);
  // Takes a note and stores it, which may write to a disk.
  void StoreNote();
  // Marks the job as ended, so that the next note can start one and Stop returns.
  void EndJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  // Empty: notes are kept in memory.
  Store store_;
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;  // a job has not ended
};

}  // namespace varve
