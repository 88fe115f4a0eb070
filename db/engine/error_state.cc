// SPDX-License-Identifier: Apache-2.0
#include "db/engine/error_state.h"

#include "util/base/assert.h"

namespace varve {

ErrorState::Severity ErrorState::Judge(const Status& error, BackgroundErrorReason reason) {
  if (error.ok() || error.IsShutdownInProgress() || error.IsColumnFamilyDropped()) {
    return Severity::kNone;
  }
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

Status ErrorState::Report(const Status& error, BackgroundErrorReason reason) {
  const Severity severity = Judge(error, reason);
  if (severity == Severity::kSoft && soft_error_.ok()) {
    soft_error_ = Judged(error, reason);
    of_soft_ = Recovery{.question = ++questions_};
  }
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
  if (severity_ == Severity::kHard) recoveries_.fetch_add(1, std::memory_order_relaxed);
  severity_ = Severity::kNone;
  error_ = Status::OK();
  recoverable_ = false;
  writes_stopped_.store(false, std::memory_order_release);
  return true;
}

uint64_t ErrorState::TakeQuestion() {
  if (!recoverable_ || std::exchange(recovery().asked, true)) return 0;
  return recovery().question;
}

void ErrorState::Answer(uint64_t question, bool automatic) {
  for (Recovery* of : {&of_soft_, &of_hard_}) {
    if (of->question == question) of->automatic = automatic;
  }
}

bool ErrorState::retries_itself() const {
  return recoverable_ && recovery().automatic.value_or(false) && retries() < most_retries_;
}

bool ErrorState::awaits_resume() const {
  const bool answered = recovery().automatic.has_value() || retries() >= most_retries_;
  return recoverable_ && !recovering_ && answered && !retries_itself();
}

void ErrorState::EndTrial() {
  VARVE_ASSERT(on_trial());
  soft_error_ = Status::OK();
}

}  // namespace varve
