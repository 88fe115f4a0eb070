// SPDX-License-Identifier: Apache-2.0
#pragma once

// What background errors stop, and when they may be lifted: a state machine over severities.

#include <atomic>
#include <cstdint>
#include <utility>

#include "varve/listener.h"
#include "varve/status.h"

#include "db/db_mutex.h"

namespace varve {

// none -> soft (reads and writes go on, the failed kind of work is retried) -> hard (reads only,
// lifted by recovery) -> fatal (reads only, lifted by reopening). A state only gets worse until it
// is lifted.
//
class ErrorState {
 public:
  enum class Severity : uint8_t { kNone, kSoft, kHard, kFatal };

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
  // Attempts that nobody asked for, since the error.
  uint64_t retries() const VARVE_REQUIRES(kDbMutex) { return retries_; }
  void CountRetry() VARVE_REQUIRES(kDbMutex) { retries_++; }

  static Severity Judge(const Status& error, BackgroundErrorReason reason);
  // The error as users are to see it: with the severity of RocksDB's that says what helps against
  // it (kUnrecoverableError: reopening alone).
  static Status Judged(const Status& error, BackgroundErrorReason reason);

 private:
  Severity severity_ VARVE_GUARDED_BY(kDbMutex) = Severity::kNone;
  Status error_ VARVE_GUARDED_BY(kDbMutex);
  bool recoverable_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool recovering_ VARVE_GUARDED_BY(kDbMutex) = false;
  uint64_t retries_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<uint64_t> recoveries_{0};  // publishes nothing
  // Read by writers without the mutex; a stale false is caught by the check under the mutex that
  // follows.
  std::atomic<bool> writes_stopped_{false};
};

}  // namespace varve
