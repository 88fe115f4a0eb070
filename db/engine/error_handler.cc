// SPDX-License-Identifier: Apache-2.0

// Receives every error of background work and of the log, and decides what still works (ErrorState
// judges, this file acts).
//
//      Report --> listeners may soften the error --> ErrorState: none, soft, hard or fatal
//        soft: compactions are tried again          hard: writes are refused until a recovery
//        fatal: until the database is opened again  (WriteRefusal is the gate of all writes)
//
// Listeners and the LOG are told without the mutex, so the state may have changed when it is taken
// again. Each decision below is therefore made from the state after the call.

#include "db/engine/error_handler.h"

#include <algorithm>
#include <utility>

#include "db/column_family/column_family.h"
#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "db/write/commit_ring.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/env/info_log.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Maximum number of invalidated ranges, each of one batch. A write whose insertion fails returns
// only when writes are refused, so a thread adds one until the recovery. At most kSlots threads
// write at a time; the factor leaves a margin. With more threads, as unordered writes allow, an
// excess counts as damage (WriteHost::OnInsertError).
constexpr size_t kMostInvalidated = 2 * CommitRing::kSlots;

}  // namespace

ErrorHandler::ErrorHandler(DbMutex* mu, const DbContext& context, const Lifecycle& lifecycle,
                           WorkSignal* work, std::function<void()> refused)
    : mu_(mu),
      context_(context),
      lifecycle_(lifecycle),
      work_(*work),
      refused_(std::move(refused)),
      state_(static_cast<uint64_t>(std::max(0, context.options().max_bgerror_resume_count))),
      invalidated_(std::make_shared<InvalidatedSequences>(kMostInvalidated)) {}

// Begins a new list instead of clearing the old one: memtables and readers may still hold that.
void ErrorHandler::ForgetInvalidated() {
  if (!invalidated_->empty())
    invalidated_ = std::make_shared<InvalidatedSequences>(kMostInvalidated);
}

// Computes the refusal anew, and stores it in the flag that writes read at their place in the
// order.
Status ErrorHandler::WriteRefusal() {
  mu_->AssertHeld();
  Status s;
  if (lifecycle_.shutting_down()) {
    s = Status::ShutdownInProgress("write: the database is being closed");
  } else if (state_.writes_stopped()) {
    s = state_.error();
  }
  VARVE_ASSERT(!state_.writes_stopped() || !s.ok());
  // The flag is set under the mutex, and read without it by every write at its place in the order.
  // So a write that comes after an exclusive holder has seen the error is refused, too.
  refuses_writes_.store(!s.ok(), std::memory_order_release);
  if (!s.ok()) refused_();
  return s;
}

Status ErrorHandler::CompactionRefusal() const {
  if (!state_.awaits_resume()) return Status::OK();
  return Status::CopyAppendMessage(state_.error(), "; ",
                                   "no compaction is tried again before DB::Resume is called");
}

Status ErrorHandler::InstallSuperVersion(ColumnFamily* family) {
  const Status s = Guarded([&] {
    mu_->AssertHeld();
    family->InstallSuperVersion();
  });
  // Reported like a failed compaction: no data is lost, and work continues.
  if (!s.ok()) Report(s, BackgroundErrorReason::kCompaction);
  return s;
}

// Asks the listeners, stores the outcome, refuses writes if it stops them, wakes those who wait,
// and tells the LOG and the thread that recovers, in this order: whoever learns of the error finds
// it in force. A listener may soften the error or clear it, except one that leaves half a batch in
// memory.
void ErrorHandler::Report(const Status& error, BackgroundErrorReason reason) {
  mu_->AssertHeld();
  Status judged = ErrorState::Judged(error, reason);
  VARVE_PROBE_ERROR_RAISED(judged.getState(), reason, judged);
  // The count shows, after the listeners have run, if somebody recovered meanwhile.
  const uint64_t recoveries = state_.recoveries();
  if (events::Wanted(context_)) {
    DbUnlock unlock(mu_);
    events::BackgroundError(context_, reason, &judged);
  }
  // While listeners ran, another thread may have recovered from the failure.
  const bool recoverable = ErrorState::Judge(error, reason) == ErrorState::Severity::kHard;
  if (state_.recoveries() != recoveries && recoverable) return;
  // A batch that is partly in memory does not become complete because a listener cleared the error.
  if (!invalidated_->empty() &&
      ErrorState::Judge(judged, reason) < ErrorState::Judge(error, reason)) {
    judged = ErrorState::Judged(error, reason);
  }
  if (judged.ok()) return;
  RecordTick(context_.statistics(), ERROR_HANDLER_BG_ERROR_COUNT);
  if (judged.IsIOError()) {
    RecordTick(context_.statistics(), ERROR_HANDLER_BG_IO_ERROR_COUNT);
    if (recoverable) RecordTick(context_.statistics(), ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT);
  }
  const ErrorState::Severity before = state_.severity();
  const bool was_on_trial = state_.on_trial();
  const Status old_error = state_.soft_error();
  const Status now = state_.Report(judged, reason);
  // The closing of the database, or the drop of a family, is no error (ErrorState::Judge).
  if (now.ok()) return;
  // These are read from the state as this report has left it, before the mutex is released for the
  // first time.
  const bool trial_failed = was_on_trial && state_.severity() == ErrorState::Severity::kSoft;
  const uint64_t retries = state_.retries();
  // Listeners are asked about a recovery once for each error, however many jobs report it.
  const uint64_t question = state_.TakeQuestion();
  WriteRefusal().PermitUncheckedError();
  // Everybody who waits for work looks again: the work may never be done now.
  work_.SignalAll();
  // Only the first error is told at length. Those that follow until the recovery mostly have the
  // same cause.
  if (before == ErrorState::Severity::kNone) {
    DbUnlock unlock(mu_);
    BestEffort(
        [&] { LogError(context_.info_log(), "background error: %s", now.ToString().c_str()); });
    event_log::BackgroundError(context_, reason, now);
  }
  // A recovery had let compactions try again, and they have failed again.
  if (trial_failed) {
    DbUnlock unlock(mu_);
    TellOfAttempt(old_error, now, retries);
  }
  StartRecovery(question, reason, now);
}

// Asks the listeners without the mutex. Their answer counts only for the error that they were asked
// about, which may be over by then (ErrorState::Answer).
void ErrorHandler::StartRecovery(uint64_t question, BackgroundErrorReason reason,
                                 const Status& error) {
  if (!state_.recoverable() || context_.read_only()) return;
  if (question != 0) {
    bool automatic = true;
    if (events::Wanted(context_)) {
      DbUnlock unlock(mu_);
      events::ErrorRecoveryBegin(context_, reason, error, &automatic);
    }
    state_.Answer(question, automatic);
    if (automatic && state_.recoverable())
      RecordTick(context_.statistics(), ERROR_HANDLER_AUTORESUME_COUNT);
  }
  VARVE_ASSERT(recovery_ != nullptr);
  if (state_.retries_itself()) recovery_->StartRetrying();
  // Writers that wait for a compaction would wait for ever, so they look again, and fail.
  if (state_.awaits_resume()) refused_();
}

// Called by a compaction that succeeded: the last soft error is over now, and not when it was
// lifted.
void ErrorHandler::NoteCompactionsWork() {
  mu_->AssertHeld();
  if (!state_.on_trial()) return;
  const Status old_error = state_.soft_error();
  const uint64_t retries = state_.retries();
  state_.EndTrial();
  DbUnlock unlock(mu_);
  TellOfAttempt(old_error, Status::OK(), retries);
}

void ErrorHandler::TellOfAttempt(const Status& old_error, const Status& result,
                                 uint64_t retries) const {
  if (result.ok() && retries > 0) {
    RecordTick(context_.statistics(), ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
    RecordInHistogram(context_.statistics(), ERROR_HANDLER_AUTORESUME_RETRY_COUNT, retries);
  }
  BestEffort([&] {
    if (result.ok()) {
      LogInfo(context_.info_log(), "recovered from: %s", old_error.ToString().c_str());
    } else {
      LogWarn(context_.info_log(), "could not recover yet: %s", result.ToString().c_str());
    }
  });
  events::ErrorRecoveryEnd(context_, old_error, result);
}

void ErrorHandler::HurryRecovery() {
  // Only a lack of space ends by itself when files are deleted.
  const bool helps = state_.recoverable() && state_.error().IsSpaceLimit();
  if (helps && recovery_ != nullptr) recovery_->Hurry();
}

Status ErrorHandler::Reported(const Status& error, BackgroundErrorReason reason) {
  Report(error, reason);
  return ErrorState::Judged(error, reason);
}

}  // namespace varve
