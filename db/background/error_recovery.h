// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gets a database from a soft or hard error back to work: on demand, and by itself while trying
// again can help.

#include <memory>
#include <thread>
#include <vector>

#include "db/background/flush_work.h"
#include "db/background/space_reserve.h"
#include "db/engine/db_state.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/new_logs.h"
#include "db/engine/stall_control.h"
#include "db/engine/tree_admission.h"

namespace varve {

class ErrorRecovery final : public RecoveryStarter {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    const Lifecycle& lifecycle;
    ErrorHandler& errors;
    StallControl& stalls;
    NewLogs& new_logs;
    FlushWork& flush;
    CompactionScheduler& compaction;
    FilePurger& purger;
    SpaceReserve& reserve;
    const TreeAdmission& tree;
  };
  explicit ErrorRecovery(const Parts& parts) : with_(parts) {}
  ~ErrorRecovery() override { Stop(); }
  ErrorRecovery(const ErrorRecovery&) = delete;
  ErrorRecovery& operator=(const ErrorRecovery&) = delete;

  // One attempt that a user asks for, from which retries count anew. OK: writes work again, and
  // compactions are tried again. Busy: another attempt is under way. Otherwise the error that
  // stands in the way now. Takes the commit path, too.
  Status Resume() VARVE_EXCLUDES(kDbMutex);
  void StartRetrying() override VARVE_REQUIRES(kDbMutex);
  void Hurry() override VARVE_REQUIRES(kDbMutex);
  // Ends the thread; the shutdown has begun.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  void RetryLoop() VARVE_EXCLUDES(kDbMutex);
  Status TryOnce(bool asked) VARVE_EXCLUDES(kDbMutex);
  // What follows from an attempt that has ended. *over: people are to be told what came of it.
  Status Conclude(ErrorState::Severity attempted, const Status& attempt, bool* over)
      VARVE_REQUIRES(kDbMutex);
  // Fresh log if the current one failed, all memtables into tables, MANIFEST proven writable; and
  // then the error is lifted.
  Status Attempt(ErrorState::Severity severity) VARVE_EXCLUDES(kDbMutex);
  // Leaves the memtables, and the current log if nothing may follow in it.
  Status SwitchAll(std::vector<std::shared_ptr<ColumnFamily>>* families) VARVE_EXCLUDES(kDbMutex);
  void AwaitNextAttempt() VARVE_REQUIRES(kDbMutex);
  Status MakeOldLogsObsolete() VARVE_REQUIRES(kDbMutex);
  Status Lift(ErrorState::Severity attempted) VARVE_REQUIRES(kDbMutex);
  // Readers may have been left with an older state.
  void InstallSuperVersions() VARVE_REQUIRES(kDbMutex);
  void ScheduleBacklog() VARVE_REQUIRES(kDbMutex);

  const Parts with_;
  std::thread thread_ VARVE_GUARDED_BY(kDbMutex);  // joined by Stop
  bool retrying_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool hurries_ VARVE_GUARDED_BY(kDbMutex) = false;  // the next attempt is due
  // Before the next attempt, and when an error was lifted last (0: never).
  uint64_t pause_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t lifted_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Begun by an attempt, with all prepared sections; 0: none was.
  uint64_t fresh_log_ VARVE_GUARDED_BY(kDbMutex) = 0;
};

}  // namespace varve
