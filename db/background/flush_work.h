// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switches memtables and flushes immutable ones to L0, in the background and on demand.
//
//      active memtable --SwitchMemTables--> immutable --Request--> queue_ --Schedule--> a thread
//         (a new log begins)                                                            of the Env
//                                                                                          |
//      L0 table, new version, logs that nothing needs become obsolete <--FlushRunner-------'
//
// A memtable is full by its own size, by the number of its range deletions, or because the logs or
// the memory of all memtables exceed their limits; flush_rules.cc decides which families are
// switched then. Switching needs the commit path exclusively, since no write may be between two
// memtables. Flushing needs only the DB mutex, at its beginning and its end.

#include <deque>
#include <memory>
#include <vector>

#include "varve/listener.h"
#include "varve/write_buffer_manager.h"

#include "db/background/flush_reports.h"
#include "db/background/flush_runner.h"
#include "db/background/space_reserve.h"
#include "db/background/work_pressure.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/log_gate.h"
#include "db/engine/new_logs.h"
#include "db/engine/stall_control.h"
#include "db/engine/tree_admission.h"
#include "db/engine/work_statistics.h"

namespace varve {

// Keeps the queue of flush jobs and decides when each begins; FlushRunner runs them. Thread safety:
// as annotated; the mutex is released while tables are written and while the caller waits.
class FlushWork final : public WriteBufferUser,
                        public MemTableFlusher,
                        public RangeFlusher,
                        private FlushRequester {
 public:
  // Everything that flushes use; must outlive them.
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const Lifecycle& lifecycle;
    ErrorHandler& errors;
    StallControl& stalls;
    const LogGate& log_gate;
    NewLogs& new_logs;
    const TreeAdmission& tree;
    WorkStatistics& statistics;
    FilePurger& purger;
    SpaceReserve& reserve;
  };
  explicit FlushWork(const Parts& parts);
  ~FlushWork() override;
  FlushWork(const FlushWork&) = delete;
  FlushWork& operator=(const FlushWork&) = delete;

  // Sets the object that is notified of new tables in L0. Must be called first.
  void set_compaction(CompactionScheduler* compaction) {
    compaction_ = compaction;
    runner_.set_compaction(compaction);
  }
  // Sets the object that is notified after each job; null: none.
  void set_pressure(const WorkPressure* pressure) { pressure_ = pressure; }

  // Freezes the non-empty active memtables of the families, after starting a new log. Requires that
  // the caller holds the commit path exclusively; releases the mutex while files are made.
  Status SwitchMemTables(const std::vector<ColumnFamily*>& families) VARVE_REQUIRES(kDbMutex);
  // Requests a flush of the families' immutables; with atomic_flush, of all families together.
  void Request(const std::vector<ColumnFamily*>& families, FlushReason reason)
      VARVE_REQUIRES(kDbMutex);
  // Gives queued requests to the background threads as far as limits allow.
  void Schedule() VARVE_REQUIRES(kDbMutex);
  // True if a job is queued, scheduled or running.
  bool Busy() const VARVE_REQUIRES(kDbMutex) { return scheduled_ > 0 || !queue_.empty(); }
  // Returns the number of background jobs that have begun.
  int running() const VARVE_REQUIRES(kDbMutex) { return running_; }
  // Returns the number of jobs that have not begun.
  int waiting() const VARVE_REQUIRES(kDbMutex) { return scheduled_ - running_; }
  // Returns the number of calls that the environment has been given and not finished.
  int scheduled() const VARVE_REQUIRES(kDbMutex) { return scheduled_ + (freeing_memory_ ? 1 : 0); }
  // Cancels jobs that have not begun (shutdown): the threads may be busy with other databases.
  void CancelScheduledJobs() VARVE_REQUIRES(kDbMutex);
  // Forgets what is queued (shutdown). The last reference to a family may be released here, which
  // closes its files, so no lock is held then. Removes jobs one by one, as a second deque would
  // take memory.
  void ClearQueue() VARVE_EXCLUDES(kDbMutex) {
    for (bool more = true; more;) {
      FlushJob gone;
      DbLock lock(&state_.mu);
      more = !queue_.empty();
      if (!more) continue;
      gone = std::move(queue_.front());
      queue_.pop_front();
    }
  }

  // Called by the write-buffer manager, from any thread. Begins to free memory without waiting for
  // it. Returns false if no flush of this database can free memory now.
  bool FreeMemory() override VARVE_EXCLUDES(kDbMutex);

  // True if a flush of the family would make writes stall, and work is under way that makes room:
  // otherwise there is nothing to wait for.
  bool WouldStall(const ColumnFamily& family) const override VARVE_REQUIRES(kDbMutex);
  // Waits while WouldStall is true for any of the families, which the caller keeps alive. Returns
  // Busy if it would wait for work that its thread is called from.
  Status WaitForRoom(const std::vector<ColumnFamily*>& families) VARVE_EXCLUDES(kDbMutex);

  // Implements Flush() of the API: switches, requests, and (if asked) waits. Takes the commit path
  // itself. The caller keeps the families alive. With atomic_flush it calls FlushAll.
  Status FlushFamilies(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                       FlushReason reason) override VARVE_EXCLUDES(kDbMutex);
  // Flushes all families that exist, as FlushFamilies does; families may be dropped meanwhile.
  Status FlushAll(const FlushOptions& options, FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Flushes exactly these families, in this thread, and as one step of the MANIFEST: a
  // batch over two of them gets into the tables of both or of none.
  Status FlushTogether(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                       FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Flushes everything in memory for Close, in this thread, as the environment's threads may be
  // busy, or wait for this one. Takes the commit path itself.
  Status FlushAllHere(FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Called by Close if a log is stamped (db/engine/new_logs.h): flushes everything in memory, and
  // leaves one log, which is not stamped, and empty. Logs with undecided transactions stay.
  // Requires that nothing is written to a log any more.
  Status LeaveStampedLogs() VARVE_EXCLUDES(kDbMutex);
  // Flushes all immutable memtables of the families in this thread, after their running flushes; in
  // one step if `together`, or if the options or the reason require that.
  Status FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families, FlushReason reason,
                  bool together = false) VARVE_REQUIRES(kDbMutex);

  // The immutable memtables of a family up to one, given by its id.
  struct Frozen {
    std::shared_ptr<ColumnFamily> family;
    uint64_t memtable = 0;
  };
  // Flushes these in this thread, except those that another flush has, and returns when all are in
  // tables. Background work may be paused.
  Status FlushFrozen(const std::vector<Frozen>& frozen, FlushReason reason)
      VARVE_REQUIRES(kDbMutex);

  // Implement MemTableFlusher (db/engine/job_interfaces.h).
  bool AnythingFull() override VARVE_REQUIRES(kDbMutex);
  bool AnythingDue() override VARVE_REQUIRES(kDbMutex);
  Status SwitchFullMemTables() override VARVE_REQUIRES(kDbMutex);
  void FlushStopped() override VARVE_REQUIRES(kDbMutex);

 private:
  // Does FlushFamilies for exactly these.
  Status SwitchAndFlush(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                        FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Requests flushes of families whose writers have been stopped by the number of memtables.
  void RequestStopped() VARVE_REQUIRES(kDbMutex);
  // False if another job must end before.
  bool CanStart() const VARVE_REQUIRES(kDbMutex);
  // Called on threads of the environment.
  static void RunOne(void* work);
  static void RunFreeMemory(void* work);
  // Freezes the largest memtable, and requests its flush.
  void SwitchLargest() VARVE_EXCLUDES(kDbMutex);
  // Runs one job, on a thread of the environment.
  void BackgroundFlush() VARVE_EXCLUDES(kDbMutex);
  // If a job throws, it has failed, and what it had picked can be picked again.
  void RunNextJob() VARVE_REQUIRES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports the result of a job
  // Gives the reason to a queued job of the family that was to flush only full memtables, as this
  // reason may ask for the rest, too.
  void NoteReason(const ColumnFamily& family, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Returns all families, including dropped ones that are still there.
  std::vector<ColumnFamily*> AllFamilies() const VARVE_REQUIRES(kDbMutex);
  // Waits a while, so that a failure that lasts does not keep the thread busy.
  void RestAfterFailure() VARVE_REQUIRES(kDbMutex);
  // True if the reason asks for a flush of what is immutable now; a full memtable may wait for more
  // (min_write_buffer_number_to_merge).
  bool WantsFlush(const ColumnFamily& family, FlushReason reason) const VARVE_REQUIRES(kDbMutex);
  void RequestRest(ColumnFamily* family, FlushReason reason) override VARVE_REQUIRES(kDbMutex);
  // Returns the families to be flushed by the rules of flush_rules.cc, and sets *reason; none if
  // nothing is full.
  std::vector<ColumnFamily*> FullFamilies(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverLogLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  // True if the log is full and no family has anything in memory: then a new log suffices.
  bool OnlyLogIsFull() const VARVE_REQUIRES(kDbMutex);
  // Requires that the caller keeps writers out, as does LeaveLog.
  Status LeaveFullLog() VARVE_REQUIRES(kDbMutex) { return LeaveLog(/*force=*/false); }
  // Begins a new log, after which no family needs the old ones. Requires that no family has
  // anything in memory. `force` is as for NewLogs::Start.
  Status LeaveLog(bool force) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverMemoryLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  // Returns the bytes of logs above which the families with the oldest data are flushed.
  uint64_t LogLimit() const VARVE_REQUIRES(kDbMutex);
  // Returns the family whose active memtable is the largest, or null.
  ColumnFamily* LargestActive() const VARVE_REQUIRES(kDbMutex);
  // True if the memtable is large enough for a flush that is to free memory (flush_rules.cc).
  bool IsWorthATable(const MemTable& mem) const;
  // Freezes memtables of the families, and requests flushes as far as WantsFlush says so.
  Status Switch(std::vector<ColumnFamily*> families, FlushReason reason) VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  const Lifecycle& lifecycle_;
  ErrorHandler& errors_;
  StallControl& stalls_;
  const LogGate& log_gate_;
  NewLogs& new_logs_;
  const TreeAdmission& tree_ VARVE_GUARDED_BY(kDbMutex);
  CompactionScheduler* compaction_ = nullptr;
  const WorkPressure* pressure_ = nullptr;
  FilePurger& purger_;
  SpaceReserve& reserve_;

  const FlushReports reports_;
  FlushRunner runner_;

  // Jobs that have not begun.
  std::deque<FlushJob> queue_ VARVE_GUARDED_BY(kDbMutex);
  // Jobs of the environment that have begun.
  int running_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of jobs given to the environment, including running ones.
  int scheduled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // True if a job runs; exact with atomic_flush.
  bool job_running_ VARVE_GUARDED_BY(kDbMutex) = false;
  // True if RunFreeMemory was given to the environment.
  bool freeing_memory_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
