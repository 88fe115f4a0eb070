// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports to listeners how much work background jobs have left, and how near writes are to a stall.

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

  // Called by a job that has done its work, and counts as running until this returns. May release
  // the mutex. Does not throw.
  void TellAfterFlush() const VARVE_REQUIRES(kDbMutex) { Tell(/*flushes=*/1, /*compactions=*/0); }
  void TellAfterCompaction() const VARVE_REQUIRES(kDbMutex) { Tell(0, 1); }

 private:
  // Excludes this many running jobs from the count.
  void Tell(int flushes, int compactions) const VARVE_REQUIRES(kDbMutex);

  // Borrowed; both outlive this.
  Engine& engine_;
  const Jobs& jobs_;
};

}  // namespace varve
