// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles an error of background work or of a commit: judges it, notifies listeners, refuses
// writes, and starts recovery if it can help.

#include <atomic>
#include <functional>
#include <memory>

#include "varve/types.h"

#include "db/engine/context.h"
#include "db/engine/error_state.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"
#include "db/engine/work_signal.h"
#include "memtable/invalidated_sequences.h"

namespace varve {

// Thread safety: as annotated. Methods that tell listeners release the mutex meanwhile, so their
// callers must not rely on what they have read before.
class ErrorHandler {
 public:
  // `refused` is called under the mutex with each refusal, so that waiting writers stop waiting.
  // What the object is given must outlive it.
  ErrorHandler(DbMutex* mu, const DbContext& context, const Lifecycle& lifecycle, WorkSignal* work,
               std::function<void()> refused);
  ErrorHandler(const ErrorHandler&) = delete;
  ErrorHandler& operator=(const ErrorHandler&) = delete;

  // Must be called before background work begins. `recovery` must outlive all reports.
  void set_recovery(RecoveryStarter* recovery) { recovery_ = recovery; }

  ErrorState& state() { return state_; }
  const ErrorState& state() const { return state_; }

  // Reports an error. Releases the mutex to notify listeners.
  void Report(const Status& error, BackgroundErrorReason reason) VARVE_REQUIRES(kDbMutex);
  // Does what Report does, and returns the error with its severity.
  [[nodiscard]] Status Reported(const Status& error, BackgroundErrorReason reason)
      VARVE_REQUIRES(kDbMutex);
  // Called when tables were deleted: if the error is a lack of space, makes the next attempt to
  // recover due at once.
  void HurryRecovery() VARVE_REQUIRES(kDbMutex);
  // Shows the family's current state to new readers. The change that led to this is in force
  // whatever this returns: a failure for lack of memory is reported, and recovery tries again.
  Status InstallSuperVersion(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  // Notes that compactions work: ends a soft error that was lifted to find that out, and notifies
  // listeners, for which it releases the mutex.
  void NoteCompactionsWork() VARVE_REQUIRES(kDbMutex);
  // Notifies listeners of the result of a recovery attempt. `retries` counts the automatic
  // attempts, including this one; 0: a user asked for it.
  void TellOfAttempt(const Status& old_error, const Status& result, uint64_t retries) const
      VARVE_EXCLUDES(kDbMutex);

  // Returns the reason why no write is allowed now, or OK; updates refuses_writes().
  Status WriteRefusal() VARVE_REQUIRES(kDbMutex);
  // Returns the reason why no compaction runs until a user calls DB::Resume, or OK.
  Status CompactionRefusal() const VARVE_REQUIRES(kDbMutex);
  // True if WriteRefusal would return an error. Any thread; relaxed, as the commit path takes the
  // mutex before it returns the reason.
  bool refuses_writes() const { return refuses_writes_.load(std::memory_order_relaxed); }

  // Returns the sequence numbers of batches that failed half way into the memtables since the last
  // recovery. Memtables, which share the list, omit them for readers and flushes. Not null.
  const std::shared_ptr<InvalidatedSequences>& invalidated() const VARVE_REQUIRES(kDbMutex) {
    return invalidated_;
  }
  // Forgets these numbers. Called when all memtables that omit them are in tables.
  void ForgetInvalidated() VARVE_REQUIRES(kDbMutex);

 private:
  // Starts recovery. `question` is that of ErrorState::TakeQuestion, 0 if listeners are not to be
  // asked.
  void StartRecovery(uint64_t question, BackgroundErrorReason reason, const Status& error)
      VARVE_REQUIRES(kDbMutex);

  DbMutex* const mu_;
  const DbContext& context_;
  const Lifecycle& lifecycle_;
  WorkSignal& work_;
  const std::function<void()> refused_;
  RecoveryStarter* recovery_ = nullptr;
  ErrorState state_;
  // Never null. Replaced, not emptied, when its numbers are forgotten, as memtables share it.
  std::shared_ptr<InvalidatedSequences> invalidated_ VARVE_GUARDED_BY(kDbMutex);
  std::atomic<bool> refuses_writes_{false};  // changed under the mutex
};

}  // namespace varve
