// SPDX-License-Identifier: Apache-2.0

// An attempt must prove that the cause of the error is gone, by the kind of work that failed,
// before it lifts the error:
//
//      soft     a compaction failed     compactions are tried again; the next ones show
//                                       whether they work
//      hard     writes have stopped     a new log is begun, everything in memory goes into
//                                       tables, and an edit says that old logs, which may be
//                                       broken, are not needed
//      fatal                            the database must be closed and opened again
//
// Invariants
// 1. At most one attempt runs at a time (BeginAttempt), by the thread of RetryLoop or a caller of
//    Resume.
// 2. An attempt lifts only an error that is not worse than the one it began with.
// 3. Pauses between attempts double from 0.1 s up to bgerror_resume_retry_interval, and continue to
//    grow when an error comes back soon after it was lifted.

#include "db/background/error_recovery.h"

#include <algorithm>

#include "db/engine/events.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/info_log.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// The first attempts are made sooner than bgerror_resume_retry_interval, as most causes are
// temporary.
constexpr uint64_t kFirstPauseMicros = 100 * 1000;

}  // namespace

void ErrorRecovery::Stop() {
  std::thread joining;
  {
    DbLock lock(&with_.state.mu);
    // The thread takes the mutex, so it must be joined without it.
    joining = std::move(thread_);
    with_.state.work.SignalAll();
  }
  if (joining.joinable()) joining.join();
}

// Starts the thread that retries, unless one is running or starting. The thread of an earlier error
// is joined first, without the mutex.
void ErrorRecovery::StartRetrying() {
  with_.state.mu.AssertHeld();
  if (retrying_ || with_.lifecycle.shutting_down()) return;
  retrying_ = true;
  // retrying_ is set before the mutex is released, so that no other call starts a thread meanwhile.
  if (std::thread ended = std::move(thread_); ended.joinable()) {
    // Its loop has ended. It may still run thread-local destructors, which may be the user's.
    DbUnlock unlock(&with_.state.mu);
    ended.join();
  }
  retrying_ = false;
  if (with_.lifecycle.shutting_down()) return;
  try {
    thread_ = std::thread([this] { RetryLoop(); });
    retrying_ = true;
  } catch (...) {
    // Without a thread there are no retries until the next error, or until a user calls Resume.
  }
}

void ErrorRecovery::Hurry() {
  with_.state.mu.AssertHeld();
  // The flag also affects a loop that has not begun to wait yet.
  hurries_ = true;
  with_.state.work.SignalAll();
}

// Sleeps, makes an attempt, and doubles the pause, as long as automatic attempts are allowed. The
// mutex is released meanwhile.
void ErrorRecovery::RetryLoop() {
  const ActiveWork active(ActiveWork::kRecovery, &with_.lifecycle, "the recovery from an error,");
  const uint64_t longest_pause =
      std::max(kFirstPauseMicros, with_.context.options().bgerror_resume_retry_interval);
  DbLock lock(&with_.state.mu);
  VARVE_ASSERT(retrying_);
  const ErrorState& errors = with_.errors.state();
  // An error that recurs soon after it was lifted is treated as persistent: pauses continue to
  // grow.
  const bool again =
      errors.retries() > 0 ||
      (lifted_micros_ != 0 && with_.context.MonotonicMicros() - lifted_micros_ < 2 * longest_pause);
  if (!again) pause_micros_ = kFirstPauseMicros;
  while (!with_.lifecycle.shutting_down() && errors.retries_itself()) {
    AwaitNextAttempt();
    hurries_ = false;
    if (with_.lifecycle.shutting_down() || !errors.retries_itself()) break;
    {
      DbUnlock unlock(&with_.state.mu);
      Guarded([this] { return TryOnce(/*asked=*/false); }).PermitUncheckedError();
    }
    pause_micros_ = std::min(2 * pause_micros_, longest_pause);
  }
  retrying_ = false;
  // After the last attempt, writers must not wait for compactions any more.
  if (errors.awaits_resume()) with_.stalls.WakeStopped();
}

// Also waits while background work is paused.
void ErrorRecovery::AwaitNextAttempt() {
  const uint64_t until = with_.context.MonotonicMicros() + pause_micros_;
  while (!with_.lifecycle.shutting_down()) {
    const uint64_t now = with_.context.MonotonicMicros();
    const bool paused = with_.tree.paused() > 0;
    if (!paused && (hurries_ || now >= until)) return;
    with_.state.work.WaitFor(paused ? kFirstPauseMicros : until - now);
  }
}

Status ErrorRecovery::Resume() {
  Status s = TryOnce(/*asked=*/true);
  DbLock lock(&with_.state.mu);
  if (with_.errors.state().retries_itself()) StartRetrying();
  return s;
}

// Reads the error under the mutex, makes the attempt without it, and concludes under it. Listeners
// are notified last, without the mutex. An exception of the attempt counts as a failure.
Status ErrorRecovery::TryOnce(bool asked) {
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("resume", ActiveWork::kFlush, &with_.lifecycle));
  const ActiveWork active(ActiveWork::kRecovery, &with_.lifecycle, "the recovery from an error,");
  ErrorState& errors = with_.errors.state();
  Status old_error;
  ErrorState::Severity severity = ErrorState::Severity::kNone;
  uint64_t retries = 0;
  {
    DbLock lock(&with_.state.mu);
    if (asked) errors.ForgetRetries();
    if (errors.severity() == ErrorState::Severity::kNone) return Status::OK();
    if (errors.severity() == ErrorState::Severity::kFatal) return errors.error();
    // Concurrent attempts would each begin a log and flush everything.
    if (!errors.BeginAttempt()) return Status::Busy("resume: an attempt is under way");
    if (!asked) {
      errors.CountRetry();
      RecordTick(with_.context.statistics(), ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
    }
    old_error = errors.error();
    severity = errors.severity();
    retries = errors.retries();
  }
  Status s = Guarded([&] {
    // Releases the reserve for a hard error only, as the work after a soft one can wait for space.
    if (old_error.IsNoSpace() && severity > ErrorState::Severity::kSoft)
      with_.reserve.ReleaseSpace();
    Status attempt = Attempt(severity);
    if (attempt.ok()) with_.reserve.TakeIfThereIsRoom();
    return attempt;
  });
  bool over = true;
  {
    DbLock lock(&with_.state.mu);
    s = Conclude(severity, s, &over);
  }
  if (over) with_.errors.TellOfAttempt(old_error, s, retries);
  return s;
}

// Wakes all threads that wait for the outcome. A failure that has no severity yet gets that of a
// failed flush.
Status ErrorRecovery::Conclude(ErrorState::Severity attempted, const Status& attempt, bool* over) {
  ErrorState& errors = with_.errors.state();
  errors.EndAttempt();
  // After a soft error only the next compactions show the result.
  *over = attempted != ErrorState::Severity::kSoft || !attempt.ok();
  // Another error may have occurred since the error was lifted.
  Status s = attempt.ok() ? errors.error() : attempt;
  if (s.ok()) {
    lifted_micros_ = with_.context.MonotonicMicros();
    s = Guarded([&] {
      with_.state.mu.AssertHeld();
      ScheduleBacklog();
      if (!with_.compaction.MayMakeRoom()) with_.errors.NoteCompactionsWork();
    });
    if (!s.ok()) with_.errors.Report(s, BackgroundErrorReason::kCompaction);
  } else if (s.severity() == Status::kNoError) {
    s = ErrorState::Judged(s, BackgroundErrorReason::kFlush);
  }
  // Writers read refuses_writes(), which this updates, and the flag, without the mutex.
  with_.errors.WriteRefusal().PermitUncheckedError();
  with_.stalls.slow_path().Set();
  if (errors.awaits_resume()) with_.stalls.WakeStopped();
  with_.state.work.SignalAll();
  return s;
}

// Does what follows a job, as the job that failed may not have done it.
void ErrorRecovery::ScheduleBacklog() {
  with_.stalls.Update();
  with_.stalls.Tell();
  with_.flush.Schedule();
  with_.compaction.ScheduleAll();
  with_.purger.Purge();
}

void ErrorRecovery::InstallSuperVersions() {
  with_.state.mu.AssertHeld();
  for (const auto& [id, family] : with_.state.families.all()) family->InstallSuperVersion();
}

// Requires that the mutex was not released since the attempt ended: a later error must not be
// lifted.
Status ErrorRecovery::Lift(ErrorState::Severity attempted) {
  ErrorState& errors = with_.errors.state();
  // The attempt cannot have repaired a worse error.
  return errors.severity() <= attempted && errors.Lift() ? Status::OK() : errors.error();
}

// For a soft error, only a MANIFEST with known contents and new super-versions are needed; the next
// compactions show whether they work. For a hard error, all memtables are switched and flushed
// together, and the old logs become obsolete, before writes are allowed again. After a failure the
// error remains.
Status ErrorRecovery::Attempt(ErrorState::Severity severity) {
  VARVE_ASSERT(severity == ErrorState::Severity::kSoft || severity == ErrorState::Severity::kHard);
  VARVE_RETURN_IF_ERROR(with_.context.CheckSpace());
  if (severity == ErrorState::Severity::kSoft) {
    LogInfo(with_.context.info_log(), "compactions are tried again after an error");
    DbLock lock(&with_.state.mu);
    VARVE_RETURN_IF_ERROR(with_.state.versions->EndDoubt(with_.context.directory()));
    InstallSuperVersions();
    return Lift(severity);
  }
  {
    // While writes are stopped, ingestions fail and none begins.
    VARVE_RETURN_IF_ERROR(RefuseHeldUp("Resume", ActiveWork::kIngestion, &with_.lifecycle));
    DbLock lock(&with_.state.mu);
    with_.state.ingest_windows.AwaitNone();
  }
  std::vector<std::shared_ptr<ColumnFamily>> pinned;
  VARVE_RETURN_IF_ERROR(SwitchAll(&pinned));
  DbLock lock(&with_.state.mu);
  VARVE_RETURN_IF_ERROR(with_.state.versions->EndDoubt(with_.context.directory()));
  VARVE_RETURN_IF_ERROR(with_.flush.FlushNow(pinned, FlushReason::kErrorRecovery));
  InstallSuperVersions();
  VARVE_RETURN_IF_ERROR(MakeOldLogsObsolete());
  with_.errors.ForgetInvalidated();
  return Lift(severity);
}

// Makes the memtables of all families immutable at one moment. Begins a new log, even if all are
// empty, if the current one has failed, or may have decisions about transactions.
Status ErrorRecovery::SwitchAll(std::vector<std::shared_ptr<ColumnFamily>>* pinned) {
  // Writers are blocked, so that no batch is partly in old and partly in new memtables.
  const ExclusiveCommit exclusive(with_.state.commit.get());
  DbLock lock(&with_.state.mu);
  LogSet& logs = *with_.state.logs;
  // The current log may have failed batches and decisions, so a new one is begun. An empty log that
  // an earlier attempt has begun can be used again.
  const bool is_fresh = logs.current_number() == fresh_log_ && logs.current_empty();
  const bool force = logs.current_failed() || (with_.state.prepared.InUse() && !is_fresh);
  VARVE_RETURN_IF_ERROR(with_.new_logs.Start(force));
  if (force) fresh_log_ = logs.current_number();
  // `pinned` keeps the families alive until the caller flushes them, as they may be dropped
  // meanwhile.
  std::vector<ColumnFamily*> families;
  for (const auto& [id, family] : with_.state.families.all()) {
    pinned->push_back(family);
    families.push_back(family.get());
  }
  return with_.flush.SwitchMemTables(families);
}

// Everything is in tables, so only the current log is needed, and the failed ones must not be
// replayed. Writing this edit also proves that the MANIFEST is writable.
Status ErrorRecovery::MakeOldLogsObsolete() {
  std::vector<VersionEdit> edits(with_.state.families.all().size());
  std::vector<FamilyEdit> changes;
  size_t i = 0;
  for (const auto& [id, family] : with_.state.families.all()) {
    if (family->dropped()) continue;
    VersionEdit& edit = edits[i++];
    edit.column_family = id;
    // A newer write still needs its log.
    if (family->mem()->Empty() && family->immutables().empty()) {
      edit.log_number = with_.state.logs->current_number();
    }
    changes.push_back(FamilyEdit{family->versions(), {&edit}});
  }
  Status s = with_.state.versions->LogAndApply(std::move(changes), with_.context.directory());
  // The MANIFEST says durably now that no closed log is needed.
  if (s.ok()) with_.state.logs->MarkClosedFlushed();
  return s;
}

}  // namespace varve
