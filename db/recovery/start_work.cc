// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/start_work.h"

#include <utility>
#include <vector>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "util/base/assert.h"

namespace varve {

// The caller has its handles already, so user code that jobs call may use the database.
void StartBackgroundWork(Engine* engine, DB* db, PeriodicStatistics statistics) {
  Engine& e = *engine;
  Jobs& jobs = *e.jobs;
  VARVE_ASSERT(e.state.commit != nullptr && e.admission != nullptr);
  e.context.set_db(db);
  if (e.context.read_only()) return;
  // The opening cannot fail any more, so the shared manager may request flushes from now on.
  e.context.write_buffer_manager()->Join(&jobs.flush);
  jobs.reserve.Start();
  {
    DbLock lock(&e.state.mu);
    e.context.env()->IncBackgroundThreadsIfNeeded(e.options.MaxFlushes(), Env::Priority::HIGH);
    e.context.env()->IncBackgroundThreadsIfNeeded(e.options.MaxCompactions(), Env::Priority::LOW);
    jobs.obsolete.StartListening();
    jobs.obsolete.Purge();
    jobs.compaction.ScheduleAll();
    // A promoted secondary has immutable memtables.
    std::vector<ColumnFamily*> frozen;
    for (const auto& [id, family] : e.state.families.all()) {
      if (family->unpicked_count() > 0) frozen.push_back(family.get());
    }
    if (!frozen.empty()) jobs.flush.Request(frozen, FlushReason::kOthers);
    e.stalls.Tell();  // Reports the state that the opening found.
  }
  jobs.scrubber.Start();
  if (statistics.describe == nullptr) return;
  jobs.recorder.Start(std::move(statistics.store));
  jobs.periodic.Start(std::move(statistics.describe));
}

}  // namespace varve
