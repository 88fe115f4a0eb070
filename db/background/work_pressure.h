// SPDX-License-Identifier: Apache-2.0
#pragma once

// WorkPressure reports to listeners how much background work is waiting, and how near writes are to
// a stall (OnBackgroundJobPressureChanged).

#include "db/db_mutex.h"

namespace varve {

struct Engine;
struct Jobs;

// Thread safety: as annotated.
class WorkPressure {
 public:
  WorkPressure(Engine& engine, const Jobs& jobs) : engine_(engine), jobs_(jobs) {}
  WorkPressure(const WorkPressure&) = delete;
  WorkPressure& operator=(const WorkPressure&) = delete;

  // Called by a job that has done its work, but still counts as running. May release the mutex.
  // Does not throw.
  void TellAfterFlush() const VARVE_REQUIRES(kDbMutex) { Tell(/*flushes=*/1, /*compactions=*/0); }
  void TellAfterCompaction() const VARVE_REQUIRES(kDbMutex) { Tell(0, 1); }

 private:
  // Notifies the listeners. `flushes` and `compactions` are the numbers of running jobs that are
  // excluded from the counts, as they are about to end.
  void Tell(int flushes, int compactions) const VARVE_REQUIRES(kDbMutex);

  // Borrowed; both must outlive this.
  Engine& engine_;
  const Jobs& jobs_;
};

}  // namespace varve
