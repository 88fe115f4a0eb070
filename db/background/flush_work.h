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
// switched then. Switching requires exclusive access to the commit path, so that no batch is split
// between two memtables. Flushing needs only the DB mutex, at its beginning and its end.

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
  void set_pressure(WorkPressure* pressure) { pressure_ = pressure; }

  // Starts a new log, unless the current one is empty, and makes the non-empty active memtables of
  // the families immutable; does nothing if all are empty. Requires that the caller holds the
  // commit path exclusively. Releases the mutex while files are created and listeners are called.
  Status SwitchMemTables(const std::vector<ColumnFamily*>& families) VARVE_REQUIRES(kDbMutex);
  // Requests a flush of the families' immutables; with atomic_flush, of all families together.
  void Request(const std::vector<ColumnFamily*>& families, FlushReason reason)
      VARVE_REQUIRES(kDbMutex);
  // Schedules background jobs for queued requests up to the limits.
  void Schedule() VARVE_REQUIRES(kDbMutex);
  // Returns true if a job is queued, scheduled or running.
  bool Busy() const VARVE_REQUIRES(kDbMutex) { return scheduled_ > 0 || !queue_.empty(); }
  // Returns the number of background jobs that have begun.
  int running() const VARVE_REQUIRES(kDbMutex) { return running_; }
  // Returns the number of jobs that have not begun.
  int waiting() const VARVE_REQUIRES(kDbMutex) { return scheduled_ - running_; }
  // Returns the number of functions scheduled in the Env that have not ended.
  int scheduled() const VARVE_REQUIRES(kDbMutex) { return scheduled_ + (freeing_memory_ ? 1 : 0); }
  // Cancels jobs that have not begun (shutdown), as the threads may be busy with other databases.
  void CancelScheduledJobs() VARVE_REQUIRES(kDbMutex);
  // Empties the queue (shutdown). Releases each job's families without the mutex, since the last
  // reference to a family closes its files. Removes jobs one by one, so that it needs no memory.
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

  // Called by the write-buffer manager on any thread. Begins to free memory, and does not wait.
  // Returns false if no flush of this database can free memory now.
  bool FreeMemory() override VARVE_EXCLUDES(kDbMutex);

  // Returns true if a flush of the family would make writes stall, and running work will change
  // that. Otherwise there is nothing to wait for.
  bool WouldStall(const ColumnFamily& family) const override VARVE_REQUIRES(kDbMutex);
  // Waits while WouldStall is true for any of the families, which the caller keeps alive. OK also
  // if the wait was ended by a background error or by the shutdown. Busy: the call comes from a
  // callback of a flush or a compaction, and would wait for it.
  Status WaitForRoom(const std::vector<ColumnFamily*>& families) VARVE_EXCLUDES(kDbMutex);

  // Implements DB::Flush: switches memtables, requests flushes, and waits if options.wait is set.
  // Takes the commit path. The caller keeps the families alive. With atomic_flush it calls
  // FlushAll.
  Status FlushFamilies(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                       FlushReason reason) override VARVE_EXCLUDES(kDbMutex);
  // Flushes all families that exist, as FlushFamilies does; families may be dropped meanwhile.
  Status FlushAll(const FlushOptions& options, FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Flushes exactly these families, on this thread, by one atomic edit of the MANIFEST: a batch
  // over two of them is in the tables of both or of none.
  Status FlushTogether(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                       FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Flushes everything in memory for Close, on this thread, as the Env's threads may be busy, or
  // wait for this one. Takes the commit path.
  Status FlushAllHere(FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Called by Close: if a log is stamped (db/engine/new_logs.h), and no prepared transaction is
  // undecided, flushes everything in memory, and begins an empty log that is not stamped, so that
  // the others become obsolete. Does nothing otherwise. Requires that there are no more writes.
  Status LeaveStampedLogs() VARVE_EXCLUDES(kDbMutex);
  // Flushes all immutable memtables of the families on this thread, after running flushes have
  // ended; atomically if `together` is set, or the options or the reason require that. Releases the
  // mutex meanwhile.
  Status FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families, FlushReason reason,
                  bool together = false) VARVE_REQUIRES(kDbMutex);

  // All immutable memtables of a family up to the one with this id.
  struct Frozen {
    std::shared_ptr<ColumnFamily> family;
    uint64_t memtable = 0;
  };
  // Returns when all of these are in tables. Flushes them on this thread, except those that another
  // job has picked. Works while background work is paused. Releases the mutex meanwhile.
  Status FlushFrozen(const std::vector<Frozen>& frozen, FlushReason reason)
      VARVE_REQUIRES(kDbMutex);

  // Implement MemTableFlusher (db/engine/job_interfaces.h).
  bool AnythingFull() override VARVE_REQUIRES(kDbMutex);
  bool AnythingDue() override VARVE_REQUIRES(kDbMutex);
  Status SwitchFullMemTables() override VARVE_REQUIRES(kDbMutex);
  void FlushStopped() override VARVE_REQUIRES(kDbMutex);

 private:
  // Does the work of FlushFamilies for exactly these families.
  Status SwitchAndFlush(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                        FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Requests flushes of families whose number of memtables stops writes.
  void RequestStopped() VARVE_REQUIRES(kDbMutex);
  // Returns false if another job must end first.
  bool CanStart() const VARVE_REQUIRES(kDbMutex);
  // Entry points of jobs on threads of the Env.
  static void RunOne(void* work);
  static void RunFreeMemory(void* work);
  // Makes the largest active memtable immutable, and requests its flush.
  void SwitchLargest() VARVE_EXCLUDES(kDbMutex);
  // Runs one job, on a thread of the Env.
  void BackgroundFlush() VARVE_EXCLUDES(kDbMutex);
  // Removes the oldest job from the queue, and runs it. An exception counts as a failure.
  void RunNextJob() VARVE_REQUIRES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports an error of a job
  // Replaces the reason of the family's queued job if that job would flush only full memtables,
  // since the new reason may require more.
  void NoteReason(const ColumnFamily& family, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Returns all families, including dropped ones that still exist.
  std::vector<ColumnFamily*> AllFamilies() const VARVE_REQUIRES(kDbMutex);
  // Waits a while, so that a persistent failure does not keep the thread busy.
  void RestAfterFailure() VARVE_REQUIRES(kDbMutex);
  // Returns true if the reason requires a flush of the current immutable memtables; a full memtable
  // may wait for more (min_write_buffer_number_to_merge).
  bool WantsFlush(const ColumnFamily& family, FlushReason reason) const VARVE_REQUIRES(kDbMutex);
  void RequestRest(ColumnFamily* family, FlushReason reason) override VARVE_REQUIRES(kDbMutex);
  // Return the families to be flushed by a rule of flush_rules.cc, and set *reason; or no families.
  std::vector<ColumnFamily*> FullFamilies(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverLogLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  // Returns true if the log exceeds the limit and no family has data in memory, so that a new log
  // is sufficient.
  bool OnlyLogIsFull() const VARVE_REQUIRES(kDbMutex);
  // Does what LeaveLog does; an empty current log stays.
  Status LeaveFullLog() VARVE_REQUIRES(kDbMutex) { return LeaveLog(/*force=*/false); }
  // Begins a new log, and sets the log numbers of all families to it, after which no family needs
  // the old ones. Requires that no family has data in memory, and that the caller blocks writers.
  // `force` is passed on to NewLogs::Start. Releases the mutex while it syncs and writes.
  Status LeaveLog(bool force) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverMemoryLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  // Returns the bytes of all logs above which the families with the oldest data are flushed.
  uint64_t LogLimit() const VARVE_REQUIRES(kDbMutex);
  // Returns the family whose active memtable is the largest, or null.
  ColumnFamily* LargestActive() const VARVE_REQUIRES(kDbMutex);
  // Returns true if the memtable is large enough for a flush whose purpose is to free memory.
  bool IsWorthATable(const MemTable& mem) const;
  // Switches the memtables of the families, and requests those flushes that WantsFlush allows.
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
  WorkPressure* pressure_ = nullptr;
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
  // True if a job of the queue runs. With atomic_flush there is at most one.
  bool job_running_ VARVE_GUARDED_BY(kDbMutex) = false;
  // True if RunFreeMemory is scheduled or runs.
  bool freeing_memory_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
