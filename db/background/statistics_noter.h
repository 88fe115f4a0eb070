// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes how the tickers of the statistics grew: in memory, or where the database keeps such notes,
// by a job of its own, as that may wait for a disk.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/statistics_history.h"

namespace varve {

// Thread safety: Start and Stop by the threads that open and close; Note by one thread.
class StatisticsNoter {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    StatisticsHistory& history;
  };
  // Keeps one note; empty: it goes to memory.
  using Store = std::function<Status(uint64_t seconds, const StatisticsHistory::Counts& growth)>;

  explicit StatisticsNoter(const Parts& parts) : with_(parts) {}
  StatisticsNoter(const StatisticsNoter&) = delete;
  StatisticsNoter& operator=(const StatisticsNoter&) = delete;

  // Growth is counted from here on.
  void Start(Store store);
  // In memory notes are kept up to so many bytes.
  void Note(size_t most_bytes) VARVE_EXCLUDES(kDbMutex);
  // After the last Note. Returns when no job is left.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  static void RunJob(void* self);
  void StoreNote();
  void EndJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  Store store_;
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;  // a job that has not ended
};

}  // namespace varve
