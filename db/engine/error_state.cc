// SPDX-License-Identifier: Apache-2.0

//       kNone --compaction failed--> kSoft      Lift: back to kNone, on trial
//       kNone, kSoft --flush, log or MANIFEST failed--> kHard      Lift: back to kNone, repaired
//       any --damage--> kFatal      is never lifted
//
// A soft error is remembered apart from the state (soft_error_): after Lift it is on trial, and
// over only with EndTrial. A hard error that comes meanwhile has retries and an answer of its own,
// so the two do not use each other's up.

#include "db/engine/error_state.h"

#include "util/base/assert.h"

namespace varve {

ErrorState::Severity ErrorState::Judge(const Status& error, BackgroundErrorReason reason) {
  if (error.ok() || error.IsShutdownInProgress() || error.IsColumnFamilyDropped()) {
    return Severity::kNone;
  }
  // Damage does not go away by trying again, and going on might spread it.
  if (error.IsCorruption()) return Severity::kFatal;
  // Compaction's inputs still exist: writes can continue while it is retried.
  if (reason == BackgroundErrorReason::kCompaction) return Severity::kSoft;
  return Severity::kHard;
}

Status ErrorState::Judged(const Status& error, BackgroundErrorReason reason) {
  switch (Judge(error, reason)) {
    case Severity::kNone:
      break;
    case Severity::kSoft:
      return Status(error, Status::kSoftError);
    case Severity::kHard:
      return Status(error, Status::kHardError);
    case Severity::kFatal:
      return Status(error, Status::kUnrecoverableError);
  }
  return error;
}

// The error in force is the worst one, and the first one of those that are as bad.
Status ErrorState::Report(const Status& error, BackgroundErrorReason reason) {
  const Severity severity = Judge(error, reason);
  // The first soft error opens a question; a failure while one is in force or on trial is the same
  // error, and asks nothing.
  if (severity == Severity::kSoft && soft_error_.ok()) {
    soft_error_ = Judged(error, reason);
    of_soft_ = Recovery{.question = ++questions_};
  }
  // A report that is no worse than the state changes nothing: the first cause stays the one that is
  // told.
  if (severity > severity_) {
    severity_ = severity;
    error_ = Judged(error, reason);
    recoverable_ = severity != Severity::kFatal;
    if (severity > Severity::kSoft) of_hard_ = Recovery{.question = ++questions_};
    writes_stopped_.store(severity >= Severity::kHard, std::memory_order_release);
  }
  VARVE_ASSERT(error_.ok() == (severity_ == Severity::kNone));
  return severity_ == Severity::kNone ? Status::OK() : error_;
}

bool ErrorState::Lift() {
  if (severity_ == Severity::kFatal) return false;
  // The count lets those who met the error before the recovery see that it is over
  // (ErrorHandler::Report).
  if (severity_ == Severity::kHard) recoveries_.fetch_add(1, std::memory_order_relaxed);
  severity_ = Severity::kNone;
  error_ = Status::OK();
  recoverable_ = false;
  writes_stopped_.store(false, std::memory_order_release);
  return true;
}

uint64_t ErrorState::TakeQuestion() {
  // Jobs in parallel report one failure each, and listeners are asked about the first only.
  if (!recoverable_ || std::exchange(recovery().asked, true)) return 0;
  return recovery().question;
}

void ErrorState::Answer(uint64_t question, bool automatic) {
  // While the listener was asked, the error may have been lifted or replaced. Its number then fits
  // neither.
  for (Recovery* of : {&of_soft_, &of_hard_}) {
    if (of->question == question) of->automatic = automatic;
  }
}

bool ErrorState::retries_itself() const {
  return recoverable_ && recovery().automatic.value_or(false) && retries() < most_retries_;
}

bool ErrorState::awaits_resume() const {
  // Before the listeners have answered it is open if there will be an attempt, and nobody should
  // give up on it.
  const bool answered = recovery().automatic.has_value() || retries() >= most_retries_;
  return recoverable_ && !recovering_ && answered && !retries_itself();
}

void ErrorState::EndTrial() {
  VARVE_ASSERT(on_trial());
  soft_error_ = Status::OK();
}

}  // namespace varve
