// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs compactions: automatic ones as levels need them, manual ones on demand.
//
//      automatic:  Schedule(family) -> queue_ -> Dispatch -> thread of the environment
//                    TakeRunnable -> plan (picker) -> RunPlan
//      manual:     CompactRange ... on the caller's thread
//                    AwaitPlan (waits while others change the tree) -> RunPlan
//      RunPlan:    Step marks the inputs; Execute (mutex released) writes tables;
//                  Install adds them to a new version; listeners are notified
//
// Plans are made and installed under the DB mutex, from one version. While a plan runs, others may
// change other parts of the tree: its inputs are marked, and the family's list of running plans has
// its range in the output level.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/background/compaction_reports.h"
#include "db/background/work_pressure.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/compaction_picker.h"
#include "db/compaction/manual_picker.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/stall_control.h"
#include "db/engine/tree_admission.h"
#include "db/engine/work_statistics.h"
#include "util/sync/task_limiter.h"

namespace varve {

struct DeletedRange;

// Decides when and on which thread compactions run: automatic ones on threads of the Env, those of
// calls on the caller's thread. It is implemented in compaction_work.cc, compaction_run.cc,
// manual_compaction.cc and whole_files.cc.
//
// Thread safety: as annotated. The mutex is released while a plan is executed, or waited for: by
// RunAutomatic, OpenTombstones, RunPlan and its steps Execute and Install, WalkLevels, MoveLevel,
// MoveWhatIsDue, AwaitPlan and RunStep.
class CompactionWork final : public CompactionScheduler {
 public:
  // Everything that compactions use; must outlive them.
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const Lifecycle& lifecycle;
    ErrorHandler& errors;
    StallControl& stalls;
    TreeAdmission& tree;
    WorkStatistics& statistics;
    RangeFlusher& flusher;
    FilePurger& purger;
  };
  explicit CompactionWork(const Parts& parts);
  // Sets the timer that calls ScheduleDue. Must be called first.
  void set_timer(JobTimer* timer) { timer_ = timer; }
  // Sets the object that is notified after each job; null: none.
  void set_pressure(WorkPressure* pressure) { pressure_ = pressure; }
  CompactionWork(const CompactionWork&) = delete;
  CompactionWork& operator=(const CompactionWork&) = delete;

  // Queues the family if it needs a compaction, and starts jobs up to the limits.
  void Schedule(ColumnFamily* family) override VARVE_REQUIRES(kDbMutex);
  // Queues all families that need a compaction, and starts jobs up to the limits.
  void ScheduleAll() override VARVE_REQUIRES(kDbMutex);
  // Recomputes the shape of families with files that wait for the release of a snapshot or for time
  // to pass, and queues those that need work now. Does not throw.
  void NoteSnapshotsGone() VARVE_EXCLUDES(kDbMutex);
  // Does what NoteSnapshotsGone does, and retries postponed compactions that are due. May throw.
  // Returns the microseconds until files or a postponed compaction become due, or UINT64_MAX for
  // never.
  uint64_t ScheduleDue() VARVE_REQUIRES(kDbMutex);
  // Empties the queue (shutdown). Removes families one by one, so that it needs no memory.
  void ClearQueue() VARVE_EXCLUDES(kDbMutex) {
    for (bool more = true; more;) {
      std::shared_ptr<ColumnFamily> gone;  // released after the lock
      DbLock lock(&state_.mu);
      more = !queue_.empty();
      if (!more) continue;
      gone = std::move(queue_.front());
      queue_.pop_front();
    }
  }
  // Returns true if a family is queued, or a job or call has not ended.
  bool Busy() const override VARVE_REQUIRES(kDbMutex);
  // Cancels jobs that have not begun (shutdown), as the threads may be busy with other databases.
  void CancelScheduledJobs() VARVE_REQUIRES(kDbMutex);
  bool MayMakeRoom() const override VARVE_REQUIRES(kDbMutex) {
    return Working() > 0 || (!queue_.empty() && !errors_.state().awaits_resume());
  }
  // Returns the number of scheduled or running background jobs, and of calls that compact in their
  // own thread.
  int Running() const VARVE_REQUIRES(kDbMutex) { return scheduled_ + manual_calls_; }
  // Return the number of background jobs that run, and of those that have not begun.
  int running() const VARVE_REQUIRES(kDbMutex) { return running_; }
  int waiting() const VARVE_REQUIRES(kDbMutex) { return scheduled_ - running_; }
  // Returns the number of jobs and calls that currently run a plan or notify listeners. A call
  // between two of its plans does not count.
  int Working() const VARVE_REQUIRES(kDbMutex) { return running_ + manual_working_; }

  // --- Calls of the API, which compact on the caller's thread. Bounds of ranges are user keys
  // without timestamps; null is no bound. A caller keeps the family alive. CheckRange returns the
  // error with which CompactRange would be refused, or OK, and changes nothing.
  Status CheckRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                    const Slice* end) VARVE_EXCLUDES(kDbMutex);
  Status CompactRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                      const Slice* end) VARVE_EXCLUDES(kDbMutex);
  // Rewrites the family without versions that are newer than the timestamp. Requires that there are
  // no concurrent writes to it.
  Status TrimHistory(ColumnFamily* family, const std::string& trim_ts) VARVE_EXCLUDES(kDbMutex);
  // Compacts the named tables to a level in one plan, which must not conflict with a running one. A
  // negative `path_id` means the path of that level. `output_names` and `info` may be null. Appends
  // the paths of the outputs to *output_names if the call succeeds. Sets *info once a plan has run,
  // also if it has failed. Errors: those of PickCompactFiles, of ManualObstacle and of the run.
  Status CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                      const std::vector<std::string>& names, int output_level, int path_id,
                      std::vector<std::string>* output_names, CompactionJobInfo* info)
      VARVE_EXCLUDES(kDbMutex);
  // Deletes the files below L0 that are completely within one of the `n` ranges and share no key
  // with files that stay, without writing tombstones, even if snapshots see their entries.
  // `include_end`: the limit of a range belongs to it. Files that are being compacted stay.
  Status DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                             bool include_end) VARVE_EXCLUDES(kDbMutex);
  // Deletes, without reading them, the files that are completely within a deleted range and have
  // only older entries. Requires that the tombstones, with sequence numbers from `deleted_at` on,
  // are in tables. Does nothing if an older snapshot exists.
  Status DropDeleted(ColumnFamily* family, const DeletedRange& range, SequenceNumber deleted_at)
      VARVE_EXCLUDES(kDbMutex);
  // Moves all tables of L0 to `target_level` without rewriting them. InvalidArgument, with nothing
  // moved: there is no such level below L0, that level or one above it has files, or tables of L0
  // overlap or are being compacted.
  Status PromoteL0(ColumnFamily* family, int target_level) VARVE_EXCLUDES(kDbMutex);
  // Marks the files that overlap the range, except those of the last level, for compaction, and
  // returns without waiting. ColumnFamilyDropped: the family was dropped.
  Status SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end)
      VARVE_EXCLUDES(kDbMutex);
  // DisableManual cancels manual compactions, waits until the last has ended, and makes new ones
  // fail until EnableManual was called equally often.
  void DisableManual() VARVE_EXCLUDES(kDbMutex);
  void EnableManual() VARVE_EXCLUDES(kDbMutex);

 private:
  // Returns the family's limiter, or null if it has none or was dropped.
  static std::shared_ptr<ConcurrentTaskLimiter> LimiterOf(const ColumnFamily& family)
      VARVE_REQUIRES(kDbMutex);
  // Returns InvalidArgument if the family has no path of this index.
  static Status CheckPath(const char* name, const ColumnFamily& family, uint32_t path_id);
  // Queues the family without starting a job.
  void Enqueue(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  // Options of the run of one plan.
  struct RunControl {
    CancelFlags cancel;
    CompactionJobInfo* info = nullptr;  // set at the end unless null
    std::string trim_ts;                // see HistoryBounds
    WorkPace* pace = nullptr;           // null: the run never yields
    bool only_deletes = false;          // it only frees space, so it may run at the space limit
  };
  // Arguments of one CompactRange call.
  struct ManualCall {
    ColumnFamily* family = nullptr;
    const CompactRangeOptions* options = nullptr;
    const Slice* begin = nullptr;
    const Slice* end = nullptr;
    std::string trim_ts;  // see HistoryBounds
  };
  // The state of a family that plans are made from, read in one hold of the mutex.
  struct PlanningView {
    VersionRef version;
    LevelShape shape;
    std::shared_ptr<const ColumnFamilyOptions> options;
    const std::vector<const CompactionPlan*>& running;
  };
  // Makes a plan, which is valid until the mutex is released. Requires that *plan is null and
  // *conflict false. Leaves *plan null if there is nothing to do; if a running plan conflicts, also
  // sets *conflict to true. May be called repeatedly.
  using Planner = std::function<Status(const PlanningView& view,
                                       std::unique_ptr<CompactionPlan>* plan, bool* conflict)>;
  // A job or call that changes the family's tree, and what it consists of; defined in
  // compaction_participant.h and, for ManualTurn, in manual_compaction.cc.
  class Participant;
  class Step;
  class ManualTurn;
  class Followed;

  // Entry point of jobs on threads of the Env; calls BackgroundCompaction.
  static void RunOne(void* work);
  // Schedules jobs for the queued families up to the limits.
  void Dispatch() VARVE_REQUIRES(kDbMutex);
  // Runs one CompactRange or TrimHistory call, on the caller's thread.
  Status RunCall(const ManualCall& call) VARVE_EXCLUDES(kDbMutex);
  // Returns false if no automatic compaction may run, because of an error or a shutdown.
  bool MayRunAutomatic() const VARVE_REQUIRES(kDbMutex);
  // Returns true if TreeAdmission lets a job plan for the family now.
  bool MayPlanFor(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex);
  // Removes and returns the first family in the queue for which a compaction may be planned before
  // the mutex is released, with *slot set to the slot that its limiter grants. Returns null, with
  // *slot free, if there is none. Requires that *slot is free.
  std::shared_ptr<ColumnFamily> TakeRunnable(TaskSlot* slot) VARVE_REQUIRES(kDbMutex);
  // Runs one automatic job, on a thread of the Env.
  void BackgroundCompaction() VARVE_EXCLUDES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports an error of background work
  // Picks a plan for the family, runs it, and queues the family again if it needs more.
  Status RunAutomatic(const std::shared_ptr<ColumnFamily>& family) VARVE_REQUIRES(kDbMutex);
  // Opens some of the tables whose range tombstones may cover whole files. Releases the mutex while
  // it reads. Returns true if any was opened; the shape is then recomputed.
  bool OpenTombstones(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  static PlanningView PlanningViewOf(const ColumnFamily& family) VARVE_REQUIRES(kDbMutex);
  // --- The execution of plans (compaction_run.cc). Executes a plan: marks its inputs, runs it,
  // installs its result. Requires that the mutex was not released since the plan was made. Releases
  // it while it works.
  Status RunPlan(Participant* participant, std::unique_ptr<CompactionPlan> plan,
                 const RunControl& control, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  // Do the steps of RunPlan, in this order except that NoteForCalls precedes Install.
  Status Execute(ColumnFamily* family, const CompactionPlan& plan, const RunControl& control,
                 int job_id, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  Status Install(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result)
      VARVE_REQUIRES(kDbMutex);
  void NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                    const CompactionResult& result, const RunControl& control, int job_id)
      VARVE_REQUIRES(kDbMutex);
  // Collects what the job needs of the engine, so that jobs can be tested without one.
  CompactionContext MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                const RunControl& control) const VARVE_REQUIRES(kDbMutex);
  // Called after a plan has succeeded or failed, and at the end of each job. After an error of
  // compactions they determine when compactions work again, and notify the ErrorHandler.
  void NoteSuccess(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteFailure(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteEndOfJob() VARVE_REQUIRES(kDbMutex);
  // Postpones a plan for which there is no space, and returns CompactionTooLarge, which says so.
  Status PutOff(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  // Recomputes the shape of the family and queues it, so that automatic compactions take over the
  // files of a call that has ended early. Does not throw.
  void GoOnAfterCall(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  // Stores the number of the job in its inputs, for the reports of their deletion.
  static void NoteJobOfInputs(const CompactionPlan& plan, int job_id) VARVE_REQUIRES(kDbMutex);
  // Leaves the records of blob files that a compaction in force has dropped to the next purges.
  void NoteDroppedRecords(const ColumnFamily& family, CompactionResult* result)
      VARVE_REQUIRES(kDbMutex);
  // Adds a plan's work to the statistics of the family.
  void CountRun(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result)
      VARVE_REQUIRES(kDbMutex);

  // --- Manual compactions (manual_compaction.cc). Flushes memtables that overlap the range.
  // `called_back` is true if the call is made by a callback of a flush or a compaction, for which
  // it must not wait.
  Status FlushForRange(const ManualCall& call, bool called_back) VARVE_EXCLUDES(kDbMutex);
  // Compacts the range step by step, down to the target level of the call.
  Status WalkLevels(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
  // Implements CompactRangeOptions::change_level: moves files of the deepest level of the range.
  Status MoveLevel(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
  // Moves down files that an automatic compaction would only move.
  Status MoveWhatIsDue(const ManualCall& call, Participant* participant) VARVE_REQUIRES(kDbMutex);
  // Waits until the participant may plan and no running plan conflicts. Requires that *plan is
  // null; sets it unless there is nothing to do. Errors: that of ManualObstacle, of the planner, or
  // Busy if the wait would be for work of this thread.
  Status AwaitPlan(Participant* participant, const RunControl& control,
                   TreeAdmission::Extent extent, const Planner& planner,
                   std::unique_ptr<CompactionPlan>* plan) VARVE_REQUIRES(kDbMutex);
  // Waits for a plan, and executes it. Sets *ran to whether there was one.
  Status RunStep(Participant* participant, const Planner& planner, const RunControl& control,
                 CompactionResult* result, bool* ran) VARVE_REQUIRES(kDbMutex);
  // Runs one step without waiting for other plans. Busy: the participant may not plan now. A
  // conflict of plans is the planner's error.
  Status RunAtOnce(ColumnFamily* family, const Planner& planner, const RunControl& control)
      VARVE_EXCLUDES(kDbMutex);
  // Returns the options of a manual compaction's run, with the user's cancellation flag unless it
  // is null.
  RunControl ControlOf(const std::atomic<bool>* cancelled) const;
  // Returns the error that must end a manual compaction before its next step, or OK.
  Status ManualObstacle(const ColumnFamily& family, const RunControl& control) const
      VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  const Lifecycle& lifecycle_;
  ErrorHandler& errors_;
  StallControl& stalls_;
  TreeAdmission& tree_ VARVE_GUARDED_BY(kDbMutex);
  WorkStatistics& statistics_;
  RangeFlusher& flusher_;
  FilePurger& purger_;
  const CompactionReports reports_;
  JobTimer* timer_ = nullptr;
  WorkPressure* pressure_ = nullptr;
  // Time (DbContext::MonotonicMicros) of the retry of a postponed compaction; 0: none was
  // postponed.
  uint64_t ask_again_at_ VARVE_GUARDED_BY(kDbMutex) = 0;

  // Families that may need a compaction, each at most once.
  std::deque<std::shared_ptr<ColumnFamily>> queue_ VARVE_GUARDED_BY(kDbMutex);
  // Automatic jobs that have begun.
  int running_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of jobs given to the environment, including running ones.
  int scheduled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of API calls that may change levels, including waiting ones; and of those that run a
  // plan.
  int manual_calls_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int manual_working_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Running CompactRange calls, which are notified of each compaction.
  std::vector<Followed*> followed_ VARVE_GUARDED_BY(kDbMutex);
  // Number of calls of DisableManual less those of EnableManual; below 0 if the latter were more.
  int manual_disabled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<bool> manual_cancel_{false};  // changed under the mutex
};

}  // namespace varve
