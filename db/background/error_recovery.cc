// SPDX-License-Identifier: Apache-2.0
#include "db/background/error_recovery.h"

#include <algorithm>

#include "db/background/compaction_work.h"
#include "db/background/events.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

constexpr uint64_t kFirstPauseMicros = 100 * 1000;
// Bounds how long writes stay refused after the cause has gone.
constexpr uint64_t kLongestPauseMicros = 1000 * 1000;

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
  if (thread_.joinable()) thread_.join();  // its loop has ended: it returns at once
  retrying_ = true;
  thread_ = std::thread([this] { RetryLoop(); });
}

void ErrorRecovery::RetryLoop() {
  Engine& e = *engine_;
  uint64_t pause = kFirstPauseMicros;
  MutexLock lock(&e.mu);
  while (!e.shutting_down.load(std::memory_order_acquire) && e.errors.recoverable()) {
    const uint64_t until = e.clock->NowMicros() + pause;
    while (!e.shutting_down.load(std::memory_order_acquire) && e.clock->NowMicros() < until) {
      e.background_changed.WaitFor(std::max<uint64_t>(until - e.clock->NowMicros(), 1));
    }
    if (e.shutting_down.load(std::memory_order_acquire) || !e.errors.recoverable()) break;
    e.errors.attempts++;
    {
      MutexUnlock unlock(&e.mu);
      Resume().PermitUncheckedError();
    }
    pause = std::min(2 * pause, kLongestPauseMicros);
  }
  retrying_ = false;
}

Status ErrorRecovery::Resume() {
  Engine& e = *engine_;
  Status old_error;
  {
    MutexLock lock(&e.mu);
    if (e.errors.severity() == ErrorState::Severity::kNone) return Status::OK();
    if (e.errors.severity() == ErrorState::Severity::kFatal) return e.errors.error();
    if (e.errors.recovery_running) return Status::Busy("resume: an attempt is under way");
    e.errors.recovery_running = true;
    old_error = e.errors.error();
  }
  Status s = Repair();
  {
    MutexLock lock(&e.mu);
    e.errors.recovery_running = false;
    if (s.ok() && !e.errors.Lift()) s = e.errors.error();
    if (s.ok()) {
      LogInfo(e.info_log.get(), "recovered from: %s", old_error.ToString().c_str());
      e.UpdateStalls();
      e.flush->Schedule();
      e.compaction->ScheduleAll();
      e.obsolete->Purge();
    } else {
      LogWarn(e.info_log.get(), "could not recover yet: %s", s.ToString().c_str());
    }
    e.attention.store(true, std::memory_order_release);
    e.background_changed.SignalAll();
  }
  events::ErrorRecoveryEnd(e, old_error, s);
  return s;
}

Status ErrorRecovery::Repair() {
  Engine& e = *engine_;
  {
    MutexLock lock(&e.mu);
    if (e.errors.severity() == ErrorState::Severity::kSoft) return Status::OK();
  }
  std::vector<ColumnFamily*> families;
  e.commit->EnterExclusive();
  MutexLock lock(&e.mu);
  Status s;
  if (e.logs->current_failed()) s = e.flush->StartNewLog(/*force=*/true);
  for (const auto& [id, family] : e.families.all()) families.push_back(family.get());
  if (s.ok()) s = e.flush->SwitchMemTables(families);
  lock.Unlock();
  e.commit->ExitExclusive();
  if (!s.ok()) return s;
  lock.Lock();
  s = e.flush->FlushNow(families, FlushReason::kErrorRecovery);
  if (s.ok()) {
    // Also with nothing to flush: an edit proves that the MANIFEST takes edits again.
    VersionEdit edit;
    ColumnFamily* family = e.families.FindById(0);
    s = e.versions->LogAndApply({FamilyEdit{family->versions(), {&edit}}}, e.directory.get());
  }
  return s;
}

}  // namespace varve
