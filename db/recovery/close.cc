// SPDX-License-Identifier: Apache-2.0

// Closes a database in an order in which nothing that is still running loses what it needs:
//
//      1. no call enters any more (BeginClose), and writers are kept out for good
//      2. what is in no log is flushed; calls that were inside end
//      3. background work ends: it may have been what those calls waited for
//      4. files are closed: the logs with a sync, then the MANIFEST
//      5. the lock goes last, so that another process finds a closed database
//
// A failure of one step does not skip the later ones; the first error is returned. Close may be
// called by several threads; one does the work, and all get its result.

#include "db/recovery/close.h"

#include <set>
#include <string>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/log_archive.h"
#include "db/recovery/families.h"
#include "db/write/predecessor_log.h"
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
  // Readers of the logs that sleep look again, and find the database closed.
  engine->state.updates.Notify();
  return true;
} catch (...) {
  *status = CaughtException();
  return false;
}

// Discards file ingestions that were not committed.
void DiscardStaged(Engine* engine) {
  engine->staged_ingestions->DiscardAll();
  engine->staged_ingestions->RemoveDirectories(engine->context.fs().get());
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
    // Jobs that wait for a thread of the environment are withdrawn, as the thread may never come.
    e.jobs->TakeBack();
    e.errors.WriteRefusal().PermitUncheckedError();
    e.state.work.SignalAll();
  }
  if (!VARVE_CANARY(kCallsBesideClose)) e.lifecycle.calls().WaitUntilAllLeft();
  DiscardStaged(engine);
  return s;
}

// A trace is no part of the database, which is closed all the same if the trace failed.
void EndTrace(Engine* engine) {
  const Status s = Guarded([engine] { return engine->trace.Shutdown(); });
  if (s.ok()) return;
  BestEffort([&] {
    LogWarn(engine->context.info_log(), "the trace of calls is incomplete: %s",
            s.ToString().c_str());
  });
}

// Stops the threads and the timer first, as they give work to others; then it waits for the jobs
// that have begun.
Status EndJobs(Engine* engine) {
  VARVE_ASSERT(engine->lifecycle.shutting_down());
  Jobs& jobs = *engine->jobs;
  jobs.scrubber.Stop();
  jobs.periodic.Stop();
  jobs.noter.Stop();
  const Status s = jobs.options_keeper.Stop();
  jobs.recovery.Stop();
  // The manager may be shared with other databases, which must not ask this one any more.
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

// Tells later readers of the logs that this one is whole. Without the record they believe that a
// crash may have taken its end, so a failure matters little.
void EndLog(Engine* engine) {
  const DbState& state = engine->state;
  LogSet::LogView view;
  const bool kept = !state.positions.empty() || LogArchive(engine->context).wanted();
  if (!kept) return;
  if (!state.logs->View(state.logs->current_number(), &view) || view.doubtful) return;
  const std::string record = MakeEndRecord(state.versions->last_sequence() + 1);
  wal::LogReservation place;
  if (!state.logs->Reserve(record.size(), &place).ok()) return;
  place.log->Fill(place, record);
  place.log->WaitWhole(place).PermitUncheckedError();
}

// A failure does not skip the later files; the first error is returned.
Status CloseFiles(Engine* engine) {
  Engine& e = *engine;
  VARVE_ASSERT(!e.context.read_only());
  e.jobs->obsolete.Stop();
  BestEffort([engine] { EndLog(engine); });
  Status s = Guarded([&e] { return e.state.logs->CloseAll(/*sync=*/true); });
  s.UpdateIfOk(Guarded([&e] { e.jobs->obsolete.DeleteKeptLogs(); }));
  s.UpdateIfOk(Guarded([&e] {
    DbLock lock(&e.state.mu);
    return e.state.versions->CloseManifest();
  }));
  return s;
}

// Deletes tables that the database does not know, which are its own only if nobody else writes.
void DeleteUnknownTables(Engine* engine) {
  std::set<uint64_t> known;
  std::vector<VersionRef> held;
  {
    DbLock lock(&engine->state.mu);
    engine->state.versions->AddLiveFiles(&known, &held);
  }
  const DbContext& context = engine->context;
  std::vector<std::string> names;
  context.fs()->GetChildren(context.name(), IOOptions(), &names, nullptr).PermitUncheckedError();
  for (const auto& [name, number, type] : FilesAmong(names, kTableFile)) {
    if (known.contains(number)) continue;
    context.fs()
        ->DeleteFile(context.name() + "/" + name, IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

}  // namespace

// Follows the steps at the head of this file, for the one caller that BeginClose has chosen.
Status CloseEngine(Engine* engine, WhenHeld when) noexcept {
  Engine& e = *engine;
  Status s;
  if (!BeginClose(engine, when, &s)) return s;
  const ActiveWork active(ActiveWork::kBackground, &e.lifecycle, "the closing of the database,");
  // A caller waits, so jobs that are still running are not slowed down.
  e.context.LiftRateLimit();
  s = EndCalls(engine);
  EndTrace(engine);
  s.UpdateIfOk(EndJobs(engine));
  if (!e.context.read_only()) s.UpdateIfOk(CloseFiles(engine));
  if (VARVE_CANARY(kDeleteOnReadOnlyClose) && e.context.read_only()) DeleteUnknownTables(engine);
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
