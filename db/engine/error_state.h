// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what background errors stop, and when they may be lifted: a state machine over
// severities.

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "varve/listener.h"
#include "varve/status.h"

#include "db/db_mutex.h"

namespace varve {

// none -> soft (reads and writes continue, the failed kind of work is retried) -> hard (reads only,
// lifted by recovery) -> fatal (reads only, lifted by reopening). A state only gets worse until it
// is lifted.
//
// A hard state is lifted by work that shows that its cause is gone. A soft one is lifted on trial,
// to try compactions again: it is over only when they have worked. Until then another failure of
// compactions counts as the same error, with the retries and the listeners' answer of the first.
//
// Thread safety: as annotated; the methods marked so may be called from any thread.
class ErrorState {
 public:
  enum class Severity : uint8_t { kNone, kSoft, kHard, kFatal };

  // `most_retries` is the maximum number of automatic attempts for an error.
  explicit ErrorState(uint64_t most_retries = UINT64_MAX) : most_retries_(most_retries) {}

  // Judges an error that this kind of work has met, and moves to the resulting state. Returns its
  // error, which may be an earlier one; OK if the state is none.
  Status Report(const Status& error, BackgroundErrorReason reason) VARVE_REQUIRES(kDbMutex);
  // Lifts soft and hard states. Returns false if the state is fatal.
  bool Lift() VARVE_REQUIRES(kDbMutex);

  Severity severity() const VARVE_REQUIRES(kDbMutex) { return severity_; }
  // Returns the error that caused the state, with its severity.
  const Status& error() const VARVE_REQUIRES(kDbMutex) { return error_; }
  // True in a soft or hard state: another attempt may help, and is made automatically unless a
  // listener forbids it. Damage, which is fatal, stays whatever is tried.
  bool recoverable() const VARVE_REQUIRES(kDbMutex) { return recoverable_; }
  // True if only recovery work may run: flushes and compactions wait. Any thread.
  bool writes_stopped() const { return writes_stopped_.load(std::memory_order_acquire); }
  // Returns the number of hard states that have been lifted. Each time all memtables had gone into
  // tables, and only the current log was still in use: earlier failures are repaired. Any thread.
  uint64_t recoveries() const { return recoveries_.load(std::memory_order_relaxed); }

  // Begins the only recovery attempt; returns false, and changes nothing, if one is in progress.
  bool BeginAttempt() VARVE_REQUIRES(kDbMutex) { return !std::exchange(recovering_, true); }
  void EndAttempt() VARVE_REQUIRES(kDbMutex) { recovering_ = false; }
  bool attempt_under_way() const VARVE_REQUIRES(kDbMutex) { return recovering_; }
  // Returns the number of automatic attempts since the error, or since a user asked for one.
  uint64_t retries() const VARVE_REQUIRES(kDbMutex) { return recovery().retries; }
  void CountRetry() VARVE_REQUIRES(kDbMutex) { recovery().retries++; }
  void ForgetRetries() VARVE_REQUIRES(kDbMutex) { recovery().retries = 0; }

  // Listeners are asked once for each error if recovery is automatic. Returns the question's
  // number, or 0 if it is not to be asked.
  uint64_t TakeQuestion() VARVE_REQUIRES(kDbMutex);
  // Stores the answer; ignored if the error is over meanwhile.
  void Answer(uint64_t question, bool automatic) VARVE_REQUIRES(kDbMutex);
  // True if there will be an automatic attempt.
  bool retries_itself() const VARVE_REQUIRES(kDbMutex);
  // True if no attempt is in progress, and none will be made unless a user calls DB::Resume.
  bool awaits_resume() const VARVE_REQUIRES(kDbMutex);

  // True if a soft state was lifted, and no compaction has shown yet that its cause is gone.
  bool on_trial() const VARVE_REQUIRES(kDbMutex) {
    return severity_ == Severity::kNone && !soft_error_.ok();
  }
  // Returns that state's error, with its severity; OK if there is none.
  const Status& soft_error() const VARVE_REQUIRES(kDbMutex) { return soft_error_; }
  // Ends the trial, as compactions work.
  void EndTrial() VARVE_REQUIRES(kDbMutex);

  // Returns how bad an error is that this kind of work has met.
  static Severity Judge(const Status& error, BackgroundErrorReason reason);
  // Returns the error as users see it: with RocksDB's severity, which tells what helps against it
  // (kUnrecoverableError: only reopening).
  static Status Judged(const Status& error, BackgroundErrorReason reason);

 private:
  // State from one error of a severity until it is over.
  struct Recovery {
    uint64_t question = 0;
    bool asked = false;
    std::optional<bool> automatic = std::nullopt;  // empty: there is no answer yet
    uint64_t retries = 0;
  };
  // Returns that of the error in force, or on trial.
  const Recovery& recovery() const VARVE_REQUIRES(kDbMutex) {
    return severity_ <= Severity::kSoft ? of_soft_ : of_hard_;
  }
  Recovery& recovery() VARVE_REQUIRES(kDbMutex) {
    return severity_ <= Severity::kSoft ? of_soft_ : of_hard_;
  }

  // Automatic attempts for one error.
  const uint64_t most_retries_;
  // The state in force, its error, and whether another attempt may help.
  Severity severity_ VARVE_GUARDED_BY(kDbMutex) = Severity::kNone;
  Status error_ VARVE_GUARDED_BY(kDbMutex);
  bool recoverable_ VARVE_GUARDED_BY(kDbMutex) = false;
  // True while an attempt runs.
  bool recovering_ VARVE_GUARDED_BY(kDbMutex) = false;
  // The soft error in force or on trial; OK if there is none.
  Status soft_error_ VARVE_GUARDED_BY(kDbMutex);
  // Attempts and the listeners' answer, for the soft and for the hard error.
  Recovery of_soft_ VARVE_GUARDED_BY(kDbMutex);
  Recovery of_hard_ VARVE_GUARDED_BY(kDbMutex);
  // Number of questions put to listeners; each gets the next one.
  uint64_t questions_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<uint64_t> recoveries_{0};  // publishes no other data
  // Writers read it without the mutex; they detect a stale false in the later check under the
  // mutex.
  std::atomic<bool> writes_stopped_{false};
};

}  // namespace varve
