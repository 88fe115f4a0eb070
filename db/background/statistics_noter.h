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

// Thread safety: Start and Stop are called by the threads that open and close; Note by one thread.
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

  // Starts to count growth.
  void Start(Store store);
  // Takes a note. In memory, notes take up to this many bytes.
  void Note(size_t most_bytes) VARVE_EXCLUDES(kDbMutex);
  // Must be called after the last Note. Returns when no job is left.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  static void RunJob(void* self);
  void StoreNote();
  void EndJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  Store store_;
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;  // a job has not ended
};

}  // namespace varve
