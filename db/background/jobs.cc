// SPDX-License-Identifier: Apache-2.0
#include "db/background/jobs.h"

#include "db/engine/engine.h"
#include "util/base/caught_exception.h"

namespace varve {

// Thread-safety analysis is off because TreeAdmission is guarded by the DB mutex, which is not held
// here: only a reference to it is passed on.
Jobs::Jobs(Engine* e) VARVE_NO_THREAD_SAFETY_ANALYSIS
    : reserve(e->context, e->lifecycle),
      obsolete({e->context, e->state, e->lifecycle, e->deletions, e->new_logs, e->errors}),
      flush({e->context, e->options, e->state, e->lifecycle, e->errors, e->stalls, e->log_gate,
             e->new_logs, e->tree, e->statistics, obsolete, reserve}),
      compaction({e->context, e->options, e->state, e->lifecycle, e->errors, e->stalls, e->tree,
                  e->statistics, flush, obsolete}),
      recorder({e->context, e->state, e->lifecycle, e->history}),
      periodic({e->context, e->options, e->state, e->lifecycle, obsolete, options_keeper,
                compaction, recorder}),
      options_keeper({e->context, e->options, e->state, e->deletions, periodic}),
      recovery({e->context, e->state, e->lifecycle, e->errors, e->stalls, e->new_logs, flush,
                compaction, obsolete, reserve, e->tree}),
      scrubber({e->context, e->state, e->lifecycle, obsolete}),
      pressure(*e, *this) {
  flush.set_compaction(&compaction);
  flush.set_pressure(&pressure);
  compaction.set_pressure(&pressure);
  compaction.set_timer(&periodic);
  e->errors.set_recovery(&recovery);
}

void Jobs::TakeBack() {
  // If an allocation fails, jobs that were not cancelled run, and find nothing to do.
  BestEffort([this] {
    AssumeDbMutexHeld();
    flush.CancelScheduledJobs();
  });
  BestEffort([this] {
    AssumeDbMutexHeld();
    compaction.CancelScheduledJobs();
  });
}

}  // namespace varve
