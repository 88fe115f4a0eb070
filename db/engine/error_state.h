// SPDX-License-Identifier: Apache-2.0
#pragma once

// What background errors stop, and when they may be lifted: a state machine over severities.

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "varve/listener.h"
#include "varve/status.h"

#include "db/db_mutex.h"

namespace varve {

// none -> soft (reads and writes go on, the failed kind of work is retried) -> hard (reads only,
// lifted by recovery) -> fatal (reads only, lifted by reopening). A state only gets worse until it
// is lifted.
//
// A hard state is lifted by work that shows that its cause is gone. A soft one is lifted to try
// compactions again, and on trial then: only when they have worked is it over. Until then another
// failure of compactions is the same error again, with the retries and the listeners' answer of the
// first.
class ErrorState {
 public:
  enum class Severity : uint8_t { kNone, kSoft, kHard, kFatal };

  // `most_retries`: attempts that are made of an error with nobody asking.
  explicit ErrorState(uint64_t most_retries = UINT64_MAX) : most_retries_(most_retries) {}

  // Judges an error met by `reason` and moves to the state it asks for. Returns what the state says
  // now (OK when the error stops nothing).
  Status Report(const Status& error, BackgroundErrorReason reason) VARVE_REQUIRES(kDbMutex);
  // Lifts soft and hard states. False when the state is fatal.
  bool Lift() VARVE_REQUIRES(kDbMutex);

  Severity severity() const VARVE_REQUIRES(kDbMutex) { return severity_; }
  // The error that brought the state about, with its severity.
  const Status& error() const VARVE_REQUIRES(kDbMutex) { return error_; }
  // True when trying again can help (no space, I/O errors), so recovery is attempted by itself.
  bool recoverable() const VARVE_REQUIRES(kDbMutex) { return recoverable_; }
  // True when only recovery work may run: flushes and compactions wait. Any thread.
  bool writes_stopped() const { return writes_stopped_.load(std::memory_order_acquire); }
  // How many hard states have been lifted. Each time all memtables had gone into tables, and all
  // logs but the current one had been left: whatever failed before has been made good. Any thread.
  uint64_t recoveries() const { return recoveries_.load(std::memory_order_relaxed); }

  // One attempt to recover at a time: false, and nothing has changed, if there is one.
  bool BeginAttempt() VARVE_REQUIRES(kDbMutex) { return !std::exchange(recovering_, true); }
  void EndAttempt() VARVE_REQUIRES(kDbMutex) { recovering_ = false; }
  bool attempt_under_way() const VARVE_REQUIRES(kDbMutex) { return recovering_; }
  // Attempts that nobody asked for, since the error or since a user asked for one.
  uint64_t retries() const VARVE_REQUIRES(kDbMutex) { return recovery().retries; }
  void CountRetry() VARVE_REQUIRES(kDbMutex) { recovery().retries++; }
  void ForgetRetries() VARVE_REQUIRES(kDbMutex) { recovery().retries = 0; }

  // Whether recovery is automatic listeners are asked once for each error. Gives the question a
  // number; 0 when it is not to be asked.
  uint64_t TakeQuestion() VARVE_REQUIRES(kDbMutex);
  // Of an error that is over meanwhile it means nothing.
  void Answer(uint64_t question, bool automatic) VARVE_REQUIRES(kDbMutex);
  // An attempt will be made with nobody asking.
  bool retries_itself() const VARVE_REQUIRES(kDbMutex);
  // No attempt is under way, and none will be made unless a user asks for it (DB::Resume).
  bool awaits_resume() const VARVE_REQUIRES(kDbMutex);

  // A soft state was lifted, and no compaction has shown yet that its cause is gone.
  bool on_trial() const VARVE_REQUIRES(kDbMutex) {
    return severity_ == Severity::kNone && !soft_error_.ok();
  }
  // That state's error, with its severity; OK: there is none.
  const Status& soft_error() const VARVE_REQUIRES(kDbMutex) { return soft_error_; }
  // Compactions work.
  void EndTrial() VARVE_REQUIRES(kDbMutex);

  static Severity Judge(const Status& error, BackgroundErrorReason reason);
  // The error as users are to see it: with the severity of RocksDB's that says what helps against
  // it (kUnrecoverableError: reopening alone).
  static Status Judged(const Status& error, BackgroundErrorReason reason);

 private:
  // From one error of a severity until it is over.
  struct Recovery {
    uint64_t question = 0;
    bool asked = false;
    std::optional<bool> automatic = std::nullopt;  // nothing: there is no answer yet
    uint64_t retries = 0;
  };
  // Of the error in force, or on trial.
  const Recovery& recovery() const VARVE_REQUIRES(kDbMutex) {
    return severity_ <= Severity::kSoft ? of_soft_ : of_hard_;
  }
  Recovery& recovery() VARVE_REQUIRES(kDbMutex) {
    return severity_ <= Severity::kSoft ? of_soft_ : of_hard_;
  }

  const uint64_t most_retries_;
  Severity severity_ VARVE_GUARDED_BY(kDbMutex) = Severity::kNone;
  Status error_ VARVE_GUARDED_BY(kDbMutex);
  bool recoverable_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool recovering_ VARVE_GUARDED_BY(kDbMutex) = false;
  Status soft_error_ VARVE_GUARDED_BY(kDbMutex);
  Recovery of_soft_ VARVE_GUARDED_BY(kDbMutex);
  Recovery of_hard_ VARVE_GUARDED_BY(kDbMutex);
  uint64_t questions_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<uint64_t> recoveries_{0};  // publishes nothing
  // Read by writers without the mutex; a stale false is caught by the check under the mutex that
  // follows.
  std::atomic<bool> writes_stopped_{false};
};

}  // namespace varve
