// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles a write before it enters the commit path: makes it wait during stalls, and switches full
// memtables.
//
//      Put -> Admit --usual case: one load--> commit path
//               |
//               '- slow path, under the DB mutex:
//                    error?  stopped?  memtable full: switch it.  delayed?  memory full?
//                    wait or return, then look again, since the next thing may have changed
//
// The flag of the slow path is set by whoever makes one of these true (SlowPathFlag), and is
// cleared when none of them holds any more. A write waits here, before it has a place in the order
// of writes, because waiting in the commit path would hold up everything behind it.

#include "varve/env.h"
#include "varve/options.h"

#include "db/engine/context.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/log_gate.h"
#include "db/engine/stall_control.h"
#include "db/write/commit_path.h"

namespace varve {

// Thread safety: every method may be called from any thread that holds neither the DB mutex nor the
// commit path. With no_slowdown none of them waits for a stall, for memory, or for another thread's
// switch of memtables or lock of the log: they return Incomplete instead.
class WriteAdmission {
 public:
  // Everything that the object uses; must outlive it.
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

  // Returns OK if a write of `bytes` bytes may continue. Costs one relaxed load in the usual case.
  // Otherwise returns the error for which the database refuses writes (ErrorHandler::WriteRefusal).
  // Incomplete: the write has no_slowdown, and would have to wait. Busy: it was called from a flush
  // or a compaction for which it would have to wait. ShutdownInProgress: the database is being
  // closed.
  Status Admit(const WriteOptions& options, size_t bytes) {
    if (!slow_path_.is_set()) [[likely]]
      return Status::OK();
    return AdmitSlowly(options, bytes);
  }
  // Called first for a write with WriteOptions::low_pri: while compactions are due, all such writes
  // share a low rate. With no_slowdown returns Incomplete instead.
  Status YieldToCompaction(const WriteOptions& options, size_t bytes);
  // Requests log bytes from the rate limiter, unless the priority is IO_TOTAL, which means no
  // limit. This wait happens even with no_slowdown, as the user asked for it explicitly.
  void Charge(Env::IOPriority priority, uint64_t bytes);

 private:
  // Does everything for which the flag was set, in turn.
  Status AdmitSlowly(const WriteOptions& options, size_t bytes);
  // Returns Busy if the write was called from a flush or a compaction, which a stall would wait
  // for.
  Status CalledBack() const;
  // True if the slow path must stay set after this write.
  bool AnythingLasting() const VARVE_REQUIRES(kDbMutex);
  // Switches memtables that are full, unless another writer is doing so. Takes the commit path
  // exclusively.
  Status SwitchFullMemTables(const WriteOptions& options) VARVE_EXCLUDES(kDbMutex);
  // Methods that wait release the mutex meanwhile.
  Status WaitWhileStopped(const WriteOptions& options) VARVE_REQUIRES(kDbMutex);
  // Returns the error that makes the current stop permanent, or OK if background work will end it.
  Status StopRefusal() VARVE_REQUIRES(kDbMutex);
  // Makes sure that the flushes or compactions that would end the stop are requested.
  void AskForWork() VARVE_REQUIRES(kDbMutex);
  // Sleeps for the share of the delayed rate that these bytes take.
  Status WaitWhileDelayed(const WriteOptions& options, size_t bytes) VARVE_REQUIRES(kDbMutex);
  // Waits while the write-buffer manager stalls writers.
  Status WaitForMemory(const WriteOptions& options) VARVE_REQUIRES(kDbMutex);
  // Sleeps in slices while `wanted` returns true, at most `micros`.
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

  // Paces writes with low_pri.
  DelayPacer low_priority_pacer_ VARVE_GUARDED_BY(kDbMutex);
  // True while a writer switches memtables; others need not.
  bool switching_memtables_ VARVE_GUARDED_BY(kDbMutex) = false;
  // True while one of the stopped writers checks periodically, for all.
  bool stop_watched_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
