// SPDX-License-Identifier: Apache-2.0
#pragma once

// One open database: joins its parts, each of which knows only those that it works with. Openings,
// the API, and properties of the whole use it.
//
//      DbContext        what does not change: name, options as opened, file system, clock
//      DbState          the data: families, versions, logs, commit path, the DB mutex
//      Lifecycle, ErrorHandler, StallControl, ...   what acts on the data
//      Jobs             background work (db/background), which refers to all of the above
//
// The order of the members is that of their construction. A part is given references to earlier
// ones in its constructor, and never looks for others through the engine.

#include <memory>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/error_handler.h"
#include "db/engine/file_deletions.h"
#include "db/engine/lifecycle.h"
#include "db/engine/log_gate.h"
#include "db/engine/new_logs.h"
#include "db/engine/recovery_report.h"
#include "db/engine/staged_ingestions.h"
#include "db/engine/stall_control.h"
#include "db/engine/statistics_history.h"
#include "db/engine/tree_admission.h"
#include "db/engine/work_statistics.h"
#include "db/engine/write_admission.h"
#include "db/trace/query_trace.h"

namespace varve {

struct Jobs;  // db/background/jobs.h

// Ownership: shared by the DB and by its families, so that iterators and handles that outlive the
// DB still find what they point to. The families are released with the DB. Thread safety: that of
// each part; the pointers are set by the opening alone.
struct Engine : public std::enable_shared_from_this<Engine> {
  Engine(DbContext::Identity identity, const DBOptions& options,
         std::shared_ptr<const DBOptions> given_options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Constant facts and services, then state, then the parts that act on both. Members are destroyed
  // from the last one on.
  DbContext context;
  QueryTrace trace{context.clock()};
  std::unique_ptr<CommitHost> host;  // belongs to state.commit; made at the end of the opening
  DbState state;
  Lifecycle lifecycle;
  // The findings of the opening in the logs, for users.
  RecoveryReport recovery;
  // Options that SetDBOptions can change.
  DynamicOptions options;
  ErrorHandler errors{&state.mu, context, lifecycle, &state.work, [this] { stalls.WakeStopped(); }};
  StallControl stalls{&state.mu, context, state.families, errors.state(), &state.work};
  LogGate log_gate{&state, lifecycle, &stalls.slow_path()};
  NewLogs new_logs{context, options, &state};
  FileDeletions deletions;
  WorkStatistics statistics;
  StatisticsHistory history;
  // Says who may change which tree now.
  TreeAdmission tree VARVE_GUARDED_BY(kDbMutex){[this] { state.work.SignalAll(); }};
  std::shared_ptr<StagedIngestions> staged_ingestions = std::make_shared<StagedIngestions>();
  std::unique_ptr<WriteAdmission> admission;  // made together with `host`
  // Background work, made by the opening; see db/background/jobs.h.
  std::shared_ptr<Jobs> jobs;
};

}  // namespace varve
