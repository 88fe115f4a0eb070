// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/close.h"

#include <set>
#include <string>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/recovery/families.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Flushes unlogged data, also when background work was paused or cancelled before. Also flushes
// data in logs that RocksDB before 8.4 cannot read; a failure of that loses nothing.
Status FlushForClose(Engine* engine) {
  {
    DbLock lock(&engine->state.mu);
    if (engine->options.current()->avoid_flush_during_shutdown) return Status::OK();
  }
  FlushWork& flush = engine->jobs->flush;
  Status s;
  if (engine->log_gate.has_unlogged()) {
    s = Guarded([&flush] { return flush.FlushAllHere(FlushReason::kShutDown); });
  }
  if (VARVE_CANARY(kLeaveStampedLog)) return s;
  const Status left = Guarded([&flush] { return flush.LeaveStampedLogs(); });
  if (!left.ok()) {
    LogWarn(engine->context.info_log(),
            "closing leaves logs that RocksDB before 8.4 cannot read whole: %s",
            left.ToString().c_str());
  }
  return s;
}

// Returns an error if something prevents closing.
Status CheckNothingHeld(Engine* engine) VARVE_REQUIRES(kDbMutex) {
  const LiveSnapshots& snapshots = engine->state.snapshots;
  if (snapshots.count() > 0) {
    return Status::Aborted("close: unreleased", engine->lifecycle.OutstandingReferences(snapshots));
  }
  if (engine->log_gate.locked()) return Status::Aborted("close: LockWAL is in force");
  return Status::OK();
}

// Returns true to the caller that closes, when no call can enter any more. All other callers wait
// until that is done, or get the error that prevents closing.
bool BeginClose(Engine* engine, WhenHeld when, Status* status) try {
  using Closing = Lifecycle::Closing;
  Lifecycle& lifecycle = engine->lifecycle;
  DbLock lock(&engine->state.mu);
  while (lifecycle.closing() == Closing::kUnderWay ||
         (lifecycle.closing() == Closing::kNo && when == WhenHeld::kRefuse &&
          engine->log_gate.locking())) {
    engine->state.work.Wait();
  }
  if (lifecycle.closing() == Closing::kOver) {
    *status = lifecycle.close_status();
    return false;
  }
  if (when == WhenHeld::kRefuse) *status = CheckNothingHeld(engine);
  if (!status->ok()) return false;
  lifecycle.BeginClosing();
  return true;
} catch (...) {
  *status = CaughtException();
  return false;
}

// Discards file ingestions that were not committed.
void DiscardStaged(Engine* engine) {
  Engine& e = *engine;
  e.staged_ingestions->DiscardAll();
  if (!e.staged_ingestions->any_directory()) return;
  BestEffort([&e] {
    std::set<std::string> directories;
    {
      DbLock lock(&e.state.mu);
      for (const auto& [id, family] : e.state.families.all())
        directories.insert(family->table_paths().directory(0));
    }
    for (const std::string& directory : directories) {
      e.context.fs()
          ->DeleteDir(StagingDirectory(directory), IOOptions(), nullptr)
          .PermitUncheckedError();
    }
  });
}

// Waits until all calls that were inside when Close began have ended, writes included.
Status EndCalls(Engine* engine) {
  Engine& e = *engine;
  // The remaining writes are flushed.
  VARVE_ASSERT(e.lifecycle.closed());
  e.state.commit->Shutdown();
  Status s;
  if (!e.context.read_only()) s = Guarded([engine] { return FlushForClose(engine); });
  {
    DbLock lock(&e.state.mu);
    e.lifecycle.ShutDown();
    e.jobs->TakeBack();
    e.errors.WriteRefusal().PermitUncheckedError();
    e.state.work.SignalAll();
  }
  if (!VARVE_CANARY(kCallsBesideClose)) e.lifecycle.calls().WaitUntilAllLeft();
  DiscardStaged(engine);
  return s;
}

Status EndJobs(Engine* engine) {
  VARVE_ASSERT(engine->lifecycle.shutting_down());
  Jobs& jobs = *engine->jobs;
  jobs.scrubber.Stop();
  jobs.periodic.Stop();
  jobs.noter.Stop();
  const Status s = jobs.options_keeper.Stop();
  jobs.recovery.Stop();
  engine->context.write_buffer_manager()->Leave(&jobs.flush);
  {
    DbLock lock(&engine->state.mu);
    while (jobs.AnyLeft()) engine->state.work.Wait();
  }
  // Queued families are released while their files can still be deleted.
  BestEffort([&jobs] { jobs.flush.ClearQueue(); });
  BestEffort([&jobs] { jobs.compaction.ClearQueue(); });
  return engine->context.options().fail_if_options_file_error ? s : Status::OK();
}

Status CloseFiles(Engine* engine) {
  Engine& e = *engine;
  VARVE_ASSERT(!e.context.read_only());
  e.jobs->obsolete.Stop();
  Status s = Guarded([&e] { return e.state.logs->CloseAll(/*sync=*/true); });
  s.UpdateIfOk(Guarded([&e] { e.jobs->obsolete.DeleteKeptLogs(); }));
  s.UpdateIfOk(Guarded([&e] {
    DbLock lock(&e.state.mu);
    return e.state.versions->CloseManifest();
  }));
  return s;
}

}  // namespace

Status CloseEngine(Engine* engine, WhenHeld when) noexcept {
  Engine& e = *engine;
  Status s;
  if (!BeginClose(engine, when, &s)) return s;
  const ActiveWork active(ActiveWork::kBackground, &e.lifecycle, "the closing of the database,");
  e.context.LiftRateLimit();
  s = EndCalls(engine);
  s.UpdateIfOk(EndJobs(engine));
  if (!e.context.read_only()) s.UpdateIfOk(CloseFiles(engine));
  ForgetTables(engine);
  s.UpdateIfOk(Guarded([&e] { return e.context.Unlock(); }));
  BestEffort([&] { LogInfo(e.context.info_log(), "closed: %s", s.ToString().c_str()); });
  DbLock lock(&e.state.mu);
  e.lifecycle.EndClosing(s);
  // A closed database makes no work urgent.
  e.stalls.Calm();
  e.state.work.SignalAll();
  return s;
}

}  // namespace varve
