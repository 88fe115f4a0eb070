// SPDX-License-Identifier: Apache-2.0
#include "db/background/error_recovery.h"

#include <algorithm>

#include "db/background/compaction_work.h"
#include "db/background/events.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/space_reserve.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// The first attempts come sooner than bgerror_resume_retry_interval asks: most causes are short.
constexpr uint64_t kFirstPauseMicros = 100 * 1000;

}  // namespace

ErrorRecovery::~ErrorRecovery() {
  Stop();
}

void ErrorRecovery::Stop() {
  std::thread joining;
  {
    MutexLock lock(&engine_->mu);
    joining = std::move(thread_);
    engine_->background_changed.SignalAll();
  }
  if (joining.joinable()) joining.join();
}

void ErrorRecovery::StartRetrying() {
  engine_->mu.AssertHeld();
  if (retrying_ || engine_->shutting_down.load(std::memory_order_acquire)) return;
  retrying_ = true;
  if (std::thread ended = std::move(thread_); ended.joinable()) {
    // Its loop has ended. As it exits it lets go of what it has read, with destructors of users'.
    MutexUnlock unlock(&engine_->mu);
    ended.join();
  }
  retrying_ = false;
  if (engine_->shutting_down.load(std::memory_order_acquire)) return;
  try {
    thread_ = std::thread([this] { RetryLoop(); });
    retrying_ = true;
  } catch (...) {
    // The error stands until the next one, or until somebody calls Resume.
  }
}

void ErrorRecovery::RetryLoop() {
  Engine& e = *engine_;
  const uint64_t longest_pause =
      std::max(kFirstPauseMicros, e.options.bgerror_resume_retry_interval);
  const auto attempts_max = static_cast<uint64_t>(e.options.max_bgerror_resume_count);
  MutexLock lock(&e.mu);
  // An error that is back soon after it was lifted lasts: pauses go on growing where they were.
  const bool again =
      lifted_micros_ != 0 && e.MonotonicMicros() - lifted_micros_ < 2 * longest_pause;
  if (!again) pause_micros_ = kFirstPauseMicros;
  while (!e.shutting_down.load(std::memory_order_acquire) && e.errors.recoverable() &&
         e.errors.attempts < attempts_max) {
    const uint64_t until = e.MonotonicMicros() + pause_micros_;
    while (!e.shutting_down.load(std::memory_order_acquire) && e.MonotonicMicros() < until) {
      e.background_changed.WaitFor(std::max<uint64_t>(until - e.MonotonicMicros(), 1));
    }
    if (e.shutting_down.load(std::memory_order_acquire) || !e.errors.recoverable()) break;
    e.errors.attempts++;
    {
      MutexUnlock unlock(&e.mu);
      Guarded([this] { return Resume(); }).PermitUncheckedError();
    }
    pause_micros_ = std::min(2 * pause_micros_, longest_pause);
  }
  retrying_ = false;
}

Status ErrorRecovery::Resume() {
  Engine& e = *engine_;
  Status old_error;
  ErrorState::Severity repaired = ErrorState::Severity::kNone;
  {
    MutexLock lock(&e.mu);
    if (e.errors.severity() == ErrorState::Severity::kNone) return Status::OK();
    if (e.errors.severity() == ErrorState::Severity::kFatal) return e.errors.error();
    if (e.errors.recovery_running) return Status::Busy("resume: an attempt is under way");
    e.errors.recovery_running = true;
    old_error = e.errors.error();
    repaired = e.errors.severity();
  }
  Status s = Guarded([&] {
    // Room for what is under way. What a soft error wants to write can wait for room.
    if (e.reserve != nullptr && old_error.IsNoSpace() && repaired > ErrorState::Severity::kSoft) {
      e.reserve->GiveUp();
    }
    Status repair = Repair(repaired);
    if (repair.ok() && e.reserve != nullptr) e.reserve->TakeIfThereIsRoom();
    return repair;
  });
  {
    MutexLock lock(&e.mu);
    e.errors.recovery_running = false;
    // Lifted it was; another may have come since.
    if (s.ok()) s = e.errors.error();
    if (s.ok()) {
      lifted_micros_ = e.MonotonicMicros();
      s = Guarded([&] { TakeUpWork(); });
      if (!s.ok()) e.ReportError(s, BackgroundErrorReason::kCompaction);
    } else if (s.severity() == Status::kNoError) {
      s = ErrorState::Judged(s, BackgroundErrorReason::kFlush);
    }
    e.WriteRefusal().PermitUncheckedError();
    e.attention.store(true, std::memory_order_release);
    e.background_changed.SignalAll();
  }
  BestEffort([&] { Tell(old_error, s); });
  events::ErrorRecoveryEnd(e, old_error, s);
  return s;
}

void ErrorRecovery::Tell(const Status& old_error, const Status& result) const {
  Logger* const log = engine_->info_log.get();
  if (result.ok()) {
    LogInfo(log, "recovered from: %s", old_error.ToString().c_str());
  } else {
    LogWarn(log, "could not recover yet: %s", result.ToString().c_str());
  }
}

// All that follows a job, and that one which failed may not have come to.
void ErrorRecovery::TakeUpWork() {
  Engine& e = *engine_;
  e.UpdateStalls();
  e.flush->Schedule();
  e.compaction->ScheduleAll();
  e.obsolete->Purge();
}

void ErrorRecovery::ShowFamilies() {
  engine_->mu.AssertHeld();
  for (const auto& [id, family] : engine_->families.all()) family->InstallSuperVersion();
}

// In the hold in which the repair was over: an error that comes later is another one.
Status ErrorRecovery::Lift(ErrorState::Severity repaired) {
  ErrorState& errors = engine_->errors;
  // What became worse meanwhile has not been repaired.
  return errors.severity() <= repaired && errors.Lift() ? Status::OK() : errors.error();
}

Status ErrorRecovery::Repair(ErrorState::Severity severity) {
  Engine& e = *engine_;
  if (severity == ErrorState::Severity::kSoft) {
    MutexLock lock(&e.mu);
    ShowFamilies();
    return Lift(severity);
  }
  std::vector<std::shared_ptr<ColumnFamily>>
      pinned;  // while neither lock is held, they may be dropped
  std::vector<ColumnFamily*> families;
  {
    const ExclusiveCommit exclusive(e.commit.get());
    MutexLock lock(&e.mu);
    // The current log may hold batches that failed: nobody needs it after this.
    Status s = e.flush->StartNewLog(/*force=*/e.logs->current_failed());
    for (const auto& [id, family] : e.families.all()) {
      pinned.push_back(family);
      families.push_back(family.get());
    }
    if (s.ok()) s = e.flush->SwitchMemTables(families);
    if (!s.ok()) return s;
  }
  MutexLock lock(&e.mu);
  VARVE_RETURN_IF_ERROR(e.flush->FlushNow(pinned, FlushReason::kErrorRecovery));
  ShowFamilies();
  VARVE_RETURN_IF_ERROR(LeaveOldLogs());
  e.ForgetVoided();
  return Lift(severity);
}

// Everything is in tables: no log but the current one is needed, and the failed ones must not be
// asked for anything again. Writing this down also proves that the MANIFEST takes edits.
Status ErrorRecovery::LeaveOldLogs() {
  Engine& e = *engine_;
  std::vector<VersionEdit> edits(e.families.all().size());
  std::vector<FamilyEdit> changes;
  size_t i = 0;
  for (const auto& [id, family] : e.families.all()) {
    if (family->dropped()) continue;
    VersionEdit& edit = edits[i++];
    edit.column_family = id;
    if (family->mem()->Empty() && family->immutables().empty()) {
      edit.log_number = e.logs->current_number();
    }
    changes.push_back(FamilyEdit{family->versions(), {&edit}});
  }
  Status s = e.versions->LogAndApply(std::move(changes), e.directory.get());
  if (s.ok()) e.logs->ExcuseClosed();
  return s;
}

}  // namespace varve
