// SPDX-License-Identifier: Apache-2.0
#pragma once

// What follows from an error of background work or of a commit: it is judged, people are told,
// writes are refused, and recovery begins where it can help.

#include <atomic>
#include <functional>
#include <memory>

#include "varve/types.h"

#include "db/engine/context.h"
#include "db/engine/error_state.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"
#include "db/engine/work_signal.h"
#include "memtable/voided_sequences.h"

namespace varve {

class ErrorHandler {
 public:
  // `refused` is called under the mutex with each refusal: writers that wait must not wait longer.
  ErrorHandler(DbMutex* mu, const DbContext& context, const Lifecycle& lifecycle, WorkSignal* work,
               std::function<void()> refused);
  ErrorHandler(const ErrorHandler&) = delete;
  ErrorHandler& operator=(const ErrorHandler&) = delete;

  // Before background work begins. `recovery` outlives all reports.
  void set_recovery(RecoveryStarter* recovery) { recovery_ = recovery; }

  ErrorState& state() { return state_; }
  const ErrorState& state() const { return state_; }

  // Releases the mutex to tell people.
  void Report(const Status& error, BackgroundErrorReason reason) VARVE_REQUIRES(kDbMutex);
  // The same; the answer is the error with its severity, for the caller.
  [[nodiscard]] Status Reported(const Status& error, BackgroundErrorReason reason)
      VARVE_REQUIRES(kDbMutex);
  // Tables are gone: if the error is that there is no room for more, the next attempt is due.
  void HurryRecovery() VARVE_REQUIRES(kDbMutex);
  // Makes the family as it is now what new readers see. The change that led to this is in force
  // whatever this answers: what fails for lack of memory is reported, and recovery does it again.
  Status InstallSuperVersion(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  // Compactions have shown that they work: a soft error that was lifted for that is over, and
  // people are told so. Releases the mutex to tell them.
  void NoteCompactionsWork() VARVE_REQUIRES(kDbMutex);
  // Tells people what came of an attempt to recover. `retries`: that nobody asked for, this one
  // included; 0: a user asked for it.
  void TellOfAttempt(const Status& old_error, const Status& result, uint64_t retries) const
      VARVE_EXCLUDES(kDbMutex);

  // Why no write may be made now, or OK; keeps refuses_writes() in step.
  Status WriteRefusal() VARVE_REQUIRES(kDbMutex);
  // Why no compaction will come unless a user calls DB::Resume, or OK.
  Status CompactionRefusal() const VARVE_REQUIRES(kDbMutex);
  // Whether that would give an error. Any thread, without order: the commit path takes the mutex
  // before it tells the reason.
  bool refuses_writes() const { return refuses_writes_.load(std::memory_order_relaxed); }

  // What memtables leave out since the last recovery, of which each takes a share. Not null.
  const std::shared_ptr<VoidedSequences>& voided() const VARVE_REQUIRES(kDbMutex) {
    return voided_;
  }
  // They are in tables.
  void ForgetVoided() VARVE_REQUIRES(kDbMutex);

 private:
  // With the question whether that is to be automatic, if it is to be asked.
  void StartRecovery(uint64_t question, BackgroundErrorReason reason, const Status& error)
      VARVE_REQUIRES(kDbMutex);

  DbMutex* const mu_;
  const DbContext& context_;
  const Lifecycle& lifecycle_;
  WorkSignal& work_;
  const std::function<void()> refused_;
  RecoveryStarter* recovery_ = nullptr;
  ErrorState state_;
  std::shared_ptr<VoidedSequences> voided_ VARVE_GUARDED_BY(kDbMutex);
  std::atomic<bool> refuses_writes_{false};  // changed under the mutex
};

}  // namespace varve
