// SPDX-License-Identifier: Apache-2.0
#pragma once

// All background jobs of one open database, connected to the engine and to each other.
//
// An opening makes them when the state is whole, and starts them last. Closing stops them first.
// None has a thread of its own except error recovery, while an error is retried, and the scrubber;
// flushes and compactions run on the threads of the environment, which several databases may share,
// and the periodic work on a timer that the process shares.

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

// The engine owns them, and must outlive their work: Close ends it (recovery/close.cc). Thread
// safety: that of each job.
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

  // Members are constructed in this order, and use earlier ones. Only `periodic` refers to a later
  // one, options_keeper, which it uses once it has started.
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
