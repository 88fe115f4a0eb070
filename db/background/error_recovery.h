// SPDX-License-Identifier: Apache-2.0
#pragma once

// Recovers a database from a soft or hard background error, on demand (DB::Resume) and by automatic
// retries.

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

// Thread safety: as annotated. Automatic attempts run on a thread of this object, which exists
// while an error is retried; those of users run on the caller's thread.
class ErrorRecovery final : public RecoveryStarter {
 public:
  // Everything that an attempt uses; must outlive this object.
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

  // Makes one attempt at a user's request, which resets the count of retries. Returns OK if writes
  // work again and compactions are tried again, Busy if another attempt is in progress, or else the
  // error that remains. Takes the commit path.
  Status Resume() VARVE_EXCLUDES(kDbMutex);
  // Starts the thread that makes automatic attempts, unless it runs. May release the mutex, while
  // the thread of an earlier error ends. Without a thread there are no attempts until the next
  // error.
  void StartRetrying() override VARVE_REQUIRES(kDbMutex);
  // Makes the next attempt due at once.
  void Hurry() override VARVE_REQUIRES(kDbMutex);
  // Ends the thread. Requires that the shutdown has begun.
  void Stop() VARVE_EXCLUDES(kDbMutex);

 private:
  // Makes attempts, on thread_, until the error is lifted or no more retries are allowed.
  void RetryLoop() VARVE_EXCLUDES(kDbMutex);
  // Makes one attempt, or returns Busy if another is in progress. `asked` is true for DB::Resume.
  Status TryOnce(bool asked) VARVE_EXCLUDES(kDbMutex);
  // Handles the end of an attempt, and returns OK or the error that remains. Sets *over: true if
  // listeners must be notified of the result, false if later compactions show it.
  Status Conclude(ErrorState::Severity attempted, const Status& attempt, bool* over)
      VARVE_REQUIRES(kDbMutex);
  // Starts a new log if the current one failed, flushes all memtables, proves that the MANIFEST is
  // writable, and then lifts the error.
  Status Attempt(ErrorState::Severity severity) VARVE_EXCLUDES(kDbMutex);
  // Switches the memtables, and the current log if it must not be used further. Appends all
  // families to *families, which keeps them alive for the flush.
  Status SwitchAll(std::vector<std::shared_ptr<ColumnFamily>>* families) VARVE_EXCLUDES(kDbMutex);
  // Sleeps until the pause is over, Hurry is called, or the database is being closed.
  void AwaitNextAttempt() VARVE_REQUIRES(kDbMutex);
  // Makes the old logs, whose writes are all in tables after the flush, obsolete in the MANIFEST.
  Status MakeOldLogsObsolete() VARVE_REQUIRES(kDbMutex);
  // Lifts the error, unless a worse one has occurred meanwhile.
  Status Lift(ErrorState::Severity attempted) VARVE_REQUIRES(kDbMutex);
  // Installs super-versions that a failed job may not have installed.
  void InstallSuperVersions() VARVE_REQUIRES(kDbMutex);
  // Schedules the flushes and compactions that waited for the recovery.
  void ScheduleBacklog() VARVE_REQUIRES(kDbMutex);

  const Parts with_;
  std::thread thread_ VARVE_GUARDED_BY(kDbMutex);  // joined by Stop
  // True while the thread makes attempts.
  bool retrying_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool hurries_ VARVE_GUARDED_BY(kDbMutex) = false;  // the next attempt must begin at once
  // Pause before the next attempt, and monotonic time at which an error was last lifted (0: never).
  uint64_t pause_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t lifted_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of a log that an attempt has begun, with copies of all prepared transactions; 0: none.
  uint64_t fresh_log_ VARVE_GUARDED_BY(kDbMutex) = 0;
};

}  // namespace varve
