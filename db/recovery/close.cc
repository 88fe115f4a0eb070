// SPDX-License-Identifier: Apache-2.0

// Closes a database in an order in which everything that still runs has what it needs:
//
//      1. no call enters any more (BeginClose), and writers are kept out for good
//      2. what is in no log is flushed; calls that were inside end
//      3. background work ends: it may have been what those calls waited for
//      4. files are closed: the logs with a sync, then the MANIFEST
//      5. the lock goes last, so that another process finds a closed database
//
// After a failure the later steps are still done; the first error is returned. Several threads may
// call Close; one does the work, and all get its result.

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

// Flushes unlogged data, even if background work was paused or cancelled. Also flushes data in logs
// that RocksDB before 8.4 cannot read; a failure of that is ignored, as it loses nothing.
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

// Returns Aborted if snapshots exist or the log is locked.
Status CheckNothingHeld(Engine* engine) VARVE_REQUIRES(kDbMutex) {
  const LiveSnapshots& snapshots = engine->state.snapshots;
  if (snapshots.count() > 0) {
    return Status::Aborted("close: unreleased", engine->lifecycle.OutstandingReferences(snapshots));
  }
  if (engine->log_gate.locked()) return Status::Aborted("close: LockWAL is in force");
  return Status::OK();
}

// Returns true to the one caller that must do the closing, when no more calls can enter. All other
// callers wait until that is done; they, and a caller that is refused, get false and *status.
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
  // Wakes change streams that wait, which then find the database closed.
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

// Shuts down the commit path, flushes, and waits until all calls that were running when Close began
// have ended.
Status EndCalls(Engine* engine) {
  Engine& e = *engine;
  VARVE_ASSERT(e.lifecycle.closed());
  // From here on no write is running, so FlushForClose leaves none out.
  e.state.commit->Shutdown();
  Status s;
  if (!e.context.read_only()) s = Guarded([engine] { return FlushForClose(engine); });
  {
    DbLock lock(&e.state.mu);
    e.lifecycle.ShutDown();
    // Cancels jobs that wait for a thread of the Env, as they may never get one.
    e.jobs->TakeBack();
    e.errors.WriteRefusal().PermitUncheckedError();
    e.state.work.SignalAll();
  }
  if (!VARVE_CANARY(kCallsBesideClose)) e.lifecycle.calls().WaitUntilAllLeft();
  DiscardStaged(engine);
  return s;
}

// Ends a trace. Its failure does not affect the result of Close.
void EndTrace(Engine* engine) {
  const Status s = Guarded([engine] { return engine->trace.Shutdown(); });
  if (s.ok()) return;
  BestEffort([&] {
    LogWarn(engine->context.info_log(), "the trace of calls is incomplete: %s",
            s.ToString().c_str());
  });
}

// Stops the threads and the timer first, as they schedule jobs; then waits for running jobs.
Status EndJobs(Engine* engine) {
  VARVE_ASSERT(engine->lifecycle.shutting_down());
  Jobs& jobs = *engine->jobs;
  jobs.scrubber.Stop();
  jobs.periodic.Stop();
  jobs.recorder.Stop();
  const Status s = jobs.options_keeper.Stop();
  jobs.recovery.Stop();
  // The manager may be shared with other databases, and must not request flushes of this one any
  // more.
  engine->context.write_buffer_manager()->Leave(&jobs.flush);
  {
    DbLock lock(&engine->state.mu);
    while (jobs.AnyLeft()) engine->state.work.Wait();
  }
  // The queues may hold last references to families, which must be released while files can still
  // be deleted.
  BestEffort([&jobs] { jobs.flush.ClearQueue(); });
  BestEffort([&jobs] { jobs.compaction.ClearQueue(); });
  return engine->context.options().fail_if_options_file_error ? s : Status::OK();
}

// Appends an end record to the current log, which shows that the log is complete. Only a log that
// will be read by others than the next opening gets one: it stays for a change stream, or in the
// archive. Without the record these readers assume that a crash may have truncated the log, so a
// failure is harmless.
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

// Syncs and closes the logs, and closes the MANIFEST. After a failure the later files are still
// closed; the first error is returned.
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
  // The caller waits, so jobs that still run are not rate-limited any more.
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
  // A closed database must not affect the urgency of work of other databases.
  e.stalls.Calm();
  e.state.work.SignalAll();
  return s;
}

}  // namespace varve
