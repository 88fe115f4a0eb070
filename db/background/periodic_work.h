// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an open database does at intervals: tells its statistics to the LOG, notes them, tries again
// to delete what could not be deleted, and logs that have become old in their archive, has a large
// OPTIONS file written, and compacts what has become old.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/statistics_noter.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Thread safety: Start and Stop by the threads that open and close; Wake from any thread.
class PeriodicWork final : public JobTimer, private SharedTimer::Client {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const Lifecycle& lifecycle;
    ObsoleteFiles& obsolete;
    OptionsKeeper& options_keeper;
    CompactionWork& compaction;
    StatisticsNoter& noter;
  };
  explicit PeriodicWork(const Parts& parts) : with_(parts) {}
  ~PeriodicWork() override { Stop(); }
  PeriodicWork(const PeriodicWork&) = delete;
  PeriodicWork& operator=(const PeriodicWork&) = delete;

  // `statistics` makes the text to be told. It is called without a lock.
  void Start(std::function<std::string()> statistics);
  // Idempotent.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // False: it has not started, or the system gives no thread.
  bool ticks() const override { return ticks_.load(std::memory_order_relaxed); }
  // Also when the periods may have changed.
  void Wake() override;

 private:
  uint64_t OnTime() noexcept override VARVE_EXCLUDES(kDbMutex);
  // Whether `period` has passed since *last (which is now then); if not, *wait is no longer than
  // the rest. 0 never passes.
  static bool Due(uint64_t now, uint64_t period, uint64_t* last, uint64_t* wait);
  void TellStatistics() VARVE_EXCLUDES(kDbMutex);
  uint64_t ScheduleAged() VARVE_REQUIRES(kDbMutex);

  const Parts with_;
  std::function<std::string()> statistics_;
  std::atomic<bool> ticks_{false};  // publishes nothing: the timer knows its clients
  // Of the timer's thread, once started.
  uint64_t told_micros_ = 0;
  uint64_t noted_micros_ = 0;
  uint64_t purged_micros_ = 0;
  uint64_t archive_micros_ = 0;
};

}  // namespace varve
