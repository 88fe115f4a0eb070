// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switches memtables and flushes frozen ones to L0, in the background and on demand.

#include <deque>
#include <memory>
#include <vector>

#include "varve/listener.h"
#include "varve/write_buffer_manager.h"

#include "db/background/space_reserve.h"
#include "db/background/work_paces.h"
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
#include "db/flush/flush_job.h"

namespace varve {

class FlushWork final : public WriteBufferUser, public MemTableFlusher, public RangeFlusher {
 public:
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
  void set_compaction(CompactionScheduler* compaction) { compaction_ = compaction; }
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
  bool Busy() const VARVE_REQUIRES(kDbMutex) { return scheduled_ > 0 || !queue_.empty(); }
  int running() const VARVE_REQUIRES(kDbMutex) { return running_; }
  // Returns the number of jobs that have not begun.
  int waiting() const VARVE_REQUIRES(kDbMutex) { return scheduled_ - running_; }
  int scheduled() const VARVE_REQUIRES(kDbMutex) { return scheduled_ + (freeing_memory_ ? 1 : 0); }
  // Cancels jobs that have not begun (shutdown): the threads may be busy with other databases.
  void CancelScheduledJobs() VARVE_REQUIRES(kDbMutex);
  // Forgets what is queued (shutdown). The last reference to a family may be released here, which
  // closes its files, so no lock is held then. Removes jobs one by one, as a second deque would
  // take memory.
  void ClearQueue() VARVE_EXCLUDES(kDbMutex) {
    for (bool more = true; more;) {
      Job gone;
      DbLock lock(&state_.mu);
      more = !queue_.empty();
      if (!more) continue;
      gone = std::move(queue_.front());
      queue_.pop_front();
    }
  }

  // Called by the write-buffer manager.
  bool FreeMemory() override VARVE_EXCLUDES(kDbMutex);

  bool WouldStall(const ColumnFamily& family) const override VARVE_REQUIRES(kDbMutex);
  // Waits while WouldStall is true for any of the families, which the caller keeps alive. Returns
  // Busy if it would wait for work that its thread is called from.
  Status WaitForRoom(const std::vector<ColumnFamily*>& families) VARVE_EXCLUDES(kDbMutex);

  // Implements Flush() of the API: switches, requests, and (if asked) waits. Takes the commit path
  // itself. The caller keeps the families alive. With atomic_flush it calls FlushAll.
  Status FlushFamilies(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                       FlushReason reason) override VARVE_EXCLUDES(kDbMutex);
  // Does the same for all existing families; families may be dropped meanwhile.
  Status FlushAll(const FlushOptions& options, FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  // Does the same for exactly these families, in this thread, and as one step of the MANIFEST: a
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
  // Flushes all frozen memtables of the families in this thread, after their running flushes; in
  // one step if `together`, or if the options or the reason require that.
  Status FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families, FlushReason reason,
                  bool together = false) VARVE_REQUIRES(kDbMutex);

  // Frozen memtables of a family up to one, given by its id.
  struct Frozen {
    std::shared_ptr<ColumnFamily> family;
    uint64_t memtable = 0;
  };
  // Flushes these in this thread, except those that another flush has, and returns when all are in
  // tables. Background work may be paused.
  Status FlushFrozen(const std::vector<Frozen>& frozen, FlushReason reason)
      VARVE_REQUIRES(kDbMutex);

  bool AnythingFull() override VARVE_REQUIRES(kDbMutex);
  bool AnythingDue() override VARVE_REQUIRES(kDbMutex);
  Status SwitchFullMemTables() override VARVE_REQUIRES(kDbMutex);
  void FlushStopped() override VARVE_REQUIRES(kDbMutex);

 private:
  struct Job {
    std::vector<std::shared_ptr<ColumnFamily>> families;
    FlushReason reason = FlushReason::kOthers;
  };
  struct FamilyFlush;
  // Says what one job takes of each of its families.
  enum class Extent : uint8_t {
    kPiece,  // the oldest unpicked ones, as many as make one table
    kAll,
  };

  // Does FlushFamilies for exactly these.
  Status SwitchAndFlush(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                        FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  void RequestStopped() VARVE_REQUIRES(kDbMutex);
  bool CanStart() const VARVE_REQUIRES(kDbMutex);
  static void RunOne(void* work);
  static void RunFreeMemory(void* work);
  void SwitchLargest() VARVE_EXCLUDES(kDbMutex);
  void BackgroundFlush() VARVE_EXCLUDES(kDbMutex);
  // Adds edits by which families with nothing in memory leave the logs before the current one.
  void AddEmptyFamilies(std::vector<VersionEdit>* edits, std::vector<FamilyEdit>* changes) const
      VARVE_REQUIRES(kDbMutex);
  // Even if it fails, everything picked is in `flushes`.
  Status PickAll(const Job& job, Extent extent, std::vector<FamilyFlush>* flushes)
      VARVE_REQUIRES(kDbMutex);
  // If a job throws, it has failed, and what it had picked can be picked again.
  void RunNextJob() VARVE_REQUIRES(kDbMutex);
  Status RunJob(const Job& job, Extent extent) VARVE_REQUIRES(kDbMutex);
  FlushPace PaceOf(std::vector<FamilyFlush>* flushes) const;
  // Writes what was picked as tables, and installs these unless *in_order is false.
  Status RunPicked(const Job& job, std::vector<FamilyFlush>* flushes, bool* in_order)
      VARVE_REQUIRES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports the result of a job
  void NoteReason(const ColumnFamily& family, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> AllFamilies() const VARVE_REQUIRES(kDbMutex);
  void RestAfterFailure() VARVE_REQUIRES(kDbMutex);
  bool Pick(ColumnFamily* family, Extent extent, FlushInput* input) VARVE_REQUIRES(kDbMutex);
  void Unpick(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  static uint64_t EpochOf(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  bool WantsFlush(const ColumnFamily& family, FlushReason reason) const VARVE_REQUIRES(kDbMutex);
  bool WaitForOlder(const std::vector<FamilyFlush>& flushes) VARVE_REQUIRES(kDbMutex);
  Status Install(std::vector<FamilyFlush>* flushes, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Cleans up after a failed job.
  void CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) VARVE_REQUIRES(kDbMutex);
  void RemoveOutputs(const std::vector<FamilyFlush>& flushes) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FullFamilies(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverLogLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  bool OnlyLogIsFull() const VARVE_REQUIRES(kDbMutex);
  // Requires that the caller holds the commit path exclusively.
  Status LeaveFullLog() VARVE_REQUIRES(kDbMutex) { return LeaveLog(/*force=*/false); }
  // Requires that no family has anything in memory. `force` is as for NewLogs::Start.
  Status LeaveLog(bool force) VARVE_REQUIRES(kDbMutex);
  std::vector<ColumnFamily*> FamiliesOverMemoryLimit(FlushReason* reason) VARVE_REQUIRES(kDbMutex);
  uint64_t LogLimit() const VARVE_REQUIRES(kDbMutex);
  ColumnFamily* LargestActive() const VARVE_REQUIRES(kDbMutex);
  bool IsWorthATable(const MemTable& mem) const;
  Status Switch(std::vector<ColumnFamily*> families, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Returns the bytes of keys and values in the memtables.
  static uint64_t BytesOf(const FlushInput& input);
  void Count(const FamilyFlush& flush, FlushReason reason) const;
  void NotifyManual(const std::vector<ColumnFamily*>& families, FlushReason reason) const
      VARVE_EXCLUDES(kDbMutex);
  void NotifyBegin(const FamilyFlush& flush, FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  void NotifyCreated(const FamilyFlush& flush) const VARVE_EXCLUDES(kDbMutex);
  void NotifyEnd(const FamilyFlush& flush, FlushReason reason) VARVE_EXCLUDES(kDbMutex);
  FlushJobInfo MakeInfo(const FamilyFlush& flush, FlushReason reason) const;

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  const Lifecycle& lifecycle_;
  ErrorHandler& errors_;
  StallControl& stalls_;
  const LogGate& log_gate_;
  NewLogs& new_logs_;
  const TreeAdmission& tree_ VARVE_GUARDED_BY(kDbMutex);
  WorkStatistics& statistics_;
  CompactionScheduler* compaction_ = nullptr;
  const WorkPressure* pressure_ = nullptr;
  FilePurger& purger_;
  SpaceReserve& reserve_;

  // WaitForOlder waits for this. Others wait for the end of a job, after listeners were notified.
  CondVar order_changed_;
  std::deque<Job> queue_ VARVE_GUARDED_BY(kDbMutex);
  int running_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of jobs given to the environment, including running ones.
  int scheduled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // True if a job runs; exact with atomic_flush.
  bool job_running_ VARVE_GUARDED_BY(kDbMutex) = false;
  // True if RunFreeMemory was given to the environment.
  bool freeing_memory_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
