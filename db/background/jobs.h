// SPDX-License-Identifier: Apache-2.0
#pragma once

// All background jobs of one open database, connected to the engine and to each other.

#include "db/background/compaction_work.h"
#include "db/background/error_recovery.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/periodic_work.h"
#include "db/background/scrubber.h"
#include "db/background/space_reserve.h"
#include "db/background/statistics_noter.h"
#include "db/background/work_pressure.h"

namespace varve {

struct Engine;

struct Jobs {
  explicit Jobs(Engine* engine);
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Cancels jobs that wait for a thread of the environment. Requires that the shutdown has begun.
  // Does not throw.
  void TakeBack() VARVE_REQUIRES(kDbMutex);
  // True if a job is scheduled, or works in a caller's thread.
  bool AnyLeft() const VARVE_REQUIRES(kDbMutex) {
    return flush.scheduled() > 0 || compaction.Running() > 0;
  }

  SpaceReserve reserve;
  ObsoleteFiles obsolete;
  FlushWork flush;
  CompactionWork compaction;
  StatisticsNoter noter;
  PeriodicWork periodic;
  OptionsKeeper options_keeper;
  ErrorRecovery recovery;
  Scrubber scrubber;
  WorkPressure pressure;
};

}  // namespace varve
