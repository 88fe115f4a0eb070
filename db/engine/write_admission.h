// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a write goes through before it enters the commit path: it waits out stalls, and switches
// memtables that are full.

#include "varve/env.h"
#include "varve/options.h"

#include "db/engine/context.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/log_gate.h"
#include "db/engine/stall_control.h"
#include "db/write/commit_path.h"

namespace varve {

// Thread safety: every method from any thread, holding neither the DB mutex nor the commit path.
// With no_slowdown none of them waits for a stall, for memory, or for another thread's switch of
// memtables or lock of the log: they return Incomplete instead.
class WriteAdmission {
 public:
  struct Parts {
    DbMutex* mu;
    CommitPath* commit;
    const DbContext& context;
    Lifecycle& lifecycle;
    StallControl& stalls;
    ErrorHandler& errors;
    const LogGate& log_gate;
    MemTableFlusher& flush;
    CompactionScheduler& compaction;
  };
  explicit WriteAdmission(const Parts& parts);
  WriteAdmission(const WriteAdmission&) = delete;
  WriteAdmission& operator=(const WriteAdmission&) = delete;

  // OK when a write of `bytes` bytes may go on. One relaxed load when there is nothing to do.
  Status Admit(const WriteOptions& options, size_t bytes) {
    if (!slow_path_.is_set()) [[likely]]
      return Status::OK();
    return AdmitSlowly(options, bytes);
  }
  // What a write with WriteOptions::low_pri does first: while compactions are due, all such writes
  // together get a low rate. Incomplete instead with no_slowdown.
  Status YieldToCompaction(const WriteOptions& options, size_t bytes);
  // Has the rate limiter grant bytes of log, unless the priority is IO_TOTAL: nobody asked for
  // that. The one wait that no_slowdown does not exclude: it was asked for by name.
  void Charge(Env::IOPriority priority, uint64_t bytes);

 private:
  Status AdmitSlowly(const WriteOptions& options, size_t bytes);
  Status CalledBack() const;
  bool AnythingLasting() const VARVE_REQUIRES(kDbMutex);
  Status SwitchFullMemTables(const WriteOptions& options) VARVE_EXCLUDES(kDbMutex);
  // Those that wait release the mutex meanwhile.
  Status WaitWhileStopped(const WriteOptions& options) VARVE_REQUIRES(kDbMutex);
  // Why a stop does not end by itself, or OK.
  Status StopRefusal() VARVE_REQUIRES(kDbMutex);
  void AskForWork() VARVE_REQUIRES(kDbMutex);
  Status WaitWhileDelayed(const WriteOptions& options, size_t bytes) VARVE_REQUIRES(kDbMutex);
  Status WaitForMemory(const WriteOptions& options) VARVE_REQUIRES(kDbMutex);
  // Sleeps in slices while `wanted` says so, at most `micros`.
  template <typename Wanted>
  Status SleepInSlices(uint64_t micros, Wanted wanted) VARVE_REQUIRES(kDbMutex);

  DbMutex* const mu_;
  CommitPath* const commit_;
  const DbContext& context_;
  Lifecycle& lifecycle_;
  StallControl& stalls_;
  ErrorHandler& errors_;
  const LogGate& log_gate_;
  MemTableFlusher& flush_;
  CompactionScheduler& compaction_;
  SlowPathFlag& slow_path_;

  DelayPacer low_priority_pacer_ VARVE_GUARDED_BY(kDbMutex);
  // A writer is at it; others need not.
  bool switching_memtables_ VARVE_GUARDED_BY(kDbMutex) = false;
  // One of the stopped writers looks from time to time, for all.
  bool stop_watched_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
