// SPDX-License-Identifier: Apache-2.0
#include "db/background/work_pressure.h"

#include <utility>

#include "varve/listener.h"

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/events.h"
#include "util/base/caught_exception.h"

namespace varve {

void WorkPressure::Tell(int flushes, int compactions) {
  bool again = true;
  while (again && events::Wanted(engine_.context) && !engine_.lifecycle.shutting_down()) {
    const BackgroundJobPressure pressure = Measure(flushes, compactions);
    if (telling_ > 0) overlapped_ = true;
    telling_++;
    BestEffort([&] {
      engine_.state.mu.AssertHeld();
      DbUnlock unlock(&engine_.state.mu);
      events::JobPressureChanged(engine_.context, pressure);
    });
    telling_--;
    again = telling_ == 0 && std::exchange(overlapped_, false);
  }
}

BackgroundJobPressure WorkPressure::Measure(int flushes, int compactions) const {
  BackgroundJobPressure pressure;
  pressure.flush_scheduled = jobs_.flush.waiting();
  pressure.flush_running = jobs_.flush.running() - flushes;
  pressure.compaction_scheduled = jobs_.compaction.waiting();
  pressure.compaction_running = jobs_.compaction.running() - compactions;
  // There is one pool for compactions of all levels.
  pressure.compaction_low_scheduled = pressure.compaction_scheduled;
  pressure.compaction_low_running = pressure.compaction_running;
  pressure.write_stall_proximity_pct = engine_.stalls.proximity();
  pressure.compaction_speedup_active = engine_.stalls.compactions_hurry();
  return pressure;
}

}  // namespace varve
