// SPDX-License-Identifier: Apache-2.0
#pragma once

// WorkPressure reports to listeners how much background work is waiting, and how near writes are to
// a stall (OnBackgroundJobPressureChanged).
//
// The pressure is measured under the mutex, and listeners are called without it. So two jobs may
// tell at the same time, and the older measurement may come last. The rule: when calls have
// overlapped, the job whose call returns last measures again and tells that, so that the last call
// that a listener gets is no older than any before. Each such call follows the call of another job,
// so this ends.

#include "db/db_mutex.h"

namespace varve {

struct BackgroundJobPressure;
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
  void TellAfterFlush() VARVE_REQUIRES(kDbMutex) { Tell(/*flushes=*/1, /*compactions=*/0); }
  void TellAfterCompaction() VARVE_REQUIRES(kDbMutex) { Tell(0, 1); }

 private:
  // Notifies the listeners. `flushes` and `compactions` are the numbers of running jobs that are
  // excluded from the counts, as they are about to end.
  void Tell(int flushes, int compactions) VARVE_REQUIRES(kDbMutex);
  BackgroundJobPressure Measure(int flushes, int compactions) const VARVE_REQUIRES(kDbMutex);

  // Borrowed; both must outlive this.
  Engine& engine_;
  const Jobs& jobs_;
  // The number of jobs that are calling listeners, and whether two of them have been at it at the
  // same time since it was 0.
  int telling_ VARVE_GUARDED_BY(kDbMutex) = 0;
  bool overlapped_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
