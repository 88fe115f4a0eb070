// SPDX-License-Identifier: Apache-2.0
#pragma once

// Jobs owns the background work of one open database.
//
// An opening constructs them when the engine's state is complete, and starts them last; Close stops
// them first. Only the scrubber, and error recovery while an error is retried, have a thread of
// their own. Flushes and compactions run on threads of the Env, which databases may share, and
// periodic work on a timer of the process.

#include "db/background/compaction_work.h"
#include "db/background/error_recovery.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/periodic_work.h"
#include "db/background/scrubber.h"
#include "db/background/space_reserve.h"
#include "db/background/statistics_recorder.h"
#include "db/background/work_pressure.h"

namespace varve {

struct Engine;

// The engine owns it, and Close ends its work (recovery/close.cc). Thread safety: see each member.
struct Jobs {
  explicit Jobs(Engine* engine);
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Cancels jobs that wait for a thread of the Env. Requires that the shutdown has begun. Does not
  // throw.
  void TakeBack() VARVE_REQUIRES(kDbMutex);
  // Returns true if a job is scheduled, or a call compacts on its own thread.
  bool AnyLeft() const VARVE_REQUIRES(kDbMutex) {
    return flush.scheduled() > 0 || compaction.Running() > 0;
  }

  // Members may use earlier ones. Only `periodic` refers to a later one, options_keeper, which it
  // uses after Start.
  SpaceReserve reserve;
  ObsoleteFiles obsolete;
  FlushWork flush;
  CompactionWork compaction;
  StatisticsRecorder recorder;
  PeriodicWork periodic;
  OptionsKeeper options_keeper;
  ErrorRecovery recovery;
  Scrubber scrubber;
  WorkPressure pressure;
};

}  // namespace varve
