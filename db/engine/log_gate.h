// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::LockWAL, which keeps writers out of the log for as long as a user likes. Also
// notes if there were writes that are in no log (WriteOptions::disableWAL).

#include <atomic>

#include "varve/status.h"

#include "db/engine/db_state.h"
#include "db/engine/lifecycle.h"
#include "db/engine/slow_path_flag.h"

namespace varve {

// Thread safety: any thread, as annotated. Lock and Unlock may be called by different threads.
class LogGate {
 public:
  // Uses the commit path and the logs of the state. What it is given must outlive it.
  LogGate(DbState* state, const Lifecycle& lifecycle, SlowPathFlag* slow_path)
      : state_(*state), lifecycle_(lifecycle), slow_path_(*slow_path) {}
  LogGate(const LogGate&) = delete;
  LogGate& operator=(const LogGate&) = delete;

  // Keeps writers out; calls are counted. The first call waits for writers that are inside, and
  // hands the log to the file system; if that fails it returns the error, and lets writers in
  // again. Busy: the call comes from a flush or an ingestion, which it would wait for. A closed
  // database returns the error of Lifecycle::CheckOpen.
  Status Lock() VARVE_EXCLUDES(kDbMutex);
  // Undoes one Lock; the last one lets writers in. Aborted: the log is not locked.
  Status Unlock() VARVE_EXCLUDES(kDbMutex);

  bool locked() const VARVE_REQUIRES(kDbMutex) { return locks_ > 0; }
  // True if a call waits for the commit path; other calls wait for that one.
  bool locking() const VARVE_REQUIRES(kDbMutex) { return locking_; }

  // Notes a write without a log, for which Close flushes. Never reset.
  void NoteUnlogged() {
    if (!unlogged_.load(std::memory_order_relaxed))
      unlogged_.store(true, std::memory_order_release);
  }
  bool has_unlogged() const { return unlogged_.load(std::memory_order_acquire); }

 private:
  DbState& state_;
  const Lifecycle& lifecycle_;
  SlowPathFlag& slow_path_;
  // Calls of Lock that were not undone.
  int locks_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // True while the first call of Lock waits for writers.
  bool locking_ VARVE_GUARDED_BY(kDbMutex) = false;
  // Stored with release, so that Close sees the write's memtable.
  std::atomic<bool> unlogged_{false};
};

}  // namespace varve
