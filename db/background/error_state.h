// SPDX-License-Identifier: Apache-2.0
#pragma once

// What background errors stop, and when they may be lifted: a state machine over severities.

#include <atomic>
#include <cstdint>

#include "varve/listener.h"
#include "varve/status.h"

namespace varve {

// none -> soft (reads and writes go on, the failed kind of work is retried) -> hard (reads only,
// lifted by recovery) -> fatal (reads only, lifted by reopening). A state only gets worse until it
// is lifted.
//
// Locking: guarded by the DB mutex, but for writes_stopped() and repairs().
class ErrorState {
 public:
  enum class Severity : uint8_t { kNone, kSoft, kHard, kFatal };

  // Judges an error met by `reason` and moves to the state it asks for. Returns what the state says
  // now (OK when the error stops nothing).
  Status Report(const Status& error, BackgroundErrorReason reason);
  // Lifts soft and hard states. False when the state is fatal.
  bool Lift();

  Severity severity() const { return severity_; }
  // The error that brought the state about, with its severity.
  const Status& error() const { return error_; }
  // True when only recovery work may run: flushes and compactions wait.
  bool writes_stopped() const { return writes_stopped_.load(std::memory_order_acquire); }
  // True when trying again can help (no space, I/O errors), so recovery is attempted by itself.
  bool recoverable() const { return recoverable_; }
  // How many hard states have been lifted. Each time all memtables had gone into tables, and all
  // logs but the current one had been left: whatever failed before has been made good.
  uint64_t repairs() const { return repairs_.load(std::memory_order_relaxed); }

  bool recovery_running = false;  // one attempt at a time
  uint64_t attempts = 0;          // since the error

  static Severity Judge(const Status& error, BackgroundErrorReason reason);
  // The error as users are to see it: with the severity of RocksDB's that says what helps against
  // it (kUnrecoverableError: reopening alone).
  static Status Judged(const Status& error, BackgroundErrorReason reason);

 private:
  Severity severity_ = Severity::kNone;
  Status error_;
  bool recoverable_ = false;
  std::atomic<uint64_t> repairs_{0};
  // Read by writers without the mutex; a stale false is caught by the mutex-guarded check that
  // follows.
  std::atomic<bool> writes_stopped_{false};
};

}  // namespace varve
