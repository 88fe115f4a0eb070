// SPDX-License-Identifier: Apache-2.0
#pragma once

// PeriodicWork does the timed work of an open database: writes statistics to the LOG, stores them,
// retries failed deletions, deletes old archived logs, schedules the writing of a large OPTIONS
// file and the compaction of files that have become old, and retries compactions that were
// postponed for lack of space.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/statistics_recorder.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Thread safety: Start and Stop are called by the threads that open and close; Wake is thread-safe.
class PeriodicWork final : public JobTimer, private SharedTimer::Client {
 public:
  // The parts of the database that the work uses; must outlive it.
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const Lifecycle& lifecycle;
    ObsoleteFiles& obsolete;
    OptionsKeeper& options_keeper;
    CompactionWork& compaction;
    StatisticsRecorder& recorder;
  };
  explicit PeriodicWork(const Parts& parts) : with_(parts) {}
  ~PeriodicWork() override { Stop(); }
  PeriodicWork(const PeriodicWork&) = delete;
  PeriodicWork& operator=(const PeriodicWork&) = delete;

  // Registers with the process's timer, which calls OnTime until Stop. `statistics` returns the
  // text for the LOG, and is called without locks. Must be called at most once.
  void Start(std::function<std::string()> statistics);
  // May be called repeatedly.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // Returns true if the timer calls OnTime: it was started, and the timer's thread could be
  // created.
  bool ticks() const override { return ticks_.load(std::memory_order_relaxed); }
  // Makes the timer call OnTime soon. Must be called when periods in the options may have changed.
  void Wake() override;

 private:
  // Called by the timer. Does the work that is due, and returns the microseconds until the next
  // call.
  uint64_t OnTime() noexcept override VARVE_EXCLUDES(kDbMutex);
  // Returns true if `period` microseconds have passed since *last, and sets *last to `now` then.
  // Lowers *wait to the microseconds until the next time. A period of 0 means never: nothing is
  // changed.
  static bool Due(uint64_t now, uint64_t period, uint64_t* last, uint64_t* wait);
  // Writes the statistics into the LOG.
  void TellStatistics() VARVE_EXCLUDES(kDbMutex);
  // Queues families with files that have become old. Returns the microseconds until the next call.
  uint64_t ScheduleAged() VARVE_REQUIRES(kDbMutex);

  const Parts with_;
  // Returns the text for the LOG; set by Start.
  std::function<std::string()> statistics_;
  std::atomic<bool> ticks_{false};  // relaxed, as it publishes no other data
  // Monotonic times at which each kind of work was last done. Set by Start, then used only by the
  // timer's thread.
  uint64_t told_micros_ = 0;      // statistics were written to the LOG
  uint64_t recorded_micros_ = 0;  // statistics were recorded (StatisticsRecorder)
  uint64_t purged_micros_ = 0;    // obsolete files were deleted
  uint64_t archive_micros_ = 0;   // archived logs were deleted, and idle positions expired
};

}  // namespace varve
