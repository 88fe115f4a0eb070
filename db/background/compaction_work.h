// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs compactions: automatic ones as levels need them, manual ones on demand.
//
//      automatic:  Schedule(family) -> queue_ -> Dispatch -> thread of the environment
//                    TakeRunnable -> plan (picker) -> RunPlan
//      manual:     CompactRange ... on the caller's thread
//                    AwaitPlan (waits while others change the tree) -> RunPlan
//      RunPlan:    Step marks the inputs; Execute (mutex released) writes tables;
//                  Install puts them into a new version; listeners are told
//
// Plans are made and installed under the DB mutex, from one version. While a plan runs, others may
// change the tree elsewhere: inputs are marked, and the range of the output level is known from the
// family's list of running plans.

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

// Decides when and on which thread compactions run: automatic ones on the threads of the
// environment, those of calls on the caller's. Its parts are in compaction_work.cc,
// compaction_run.cc and manual_compaction.cc.
//
// Thread safety: as annotated; the mutex is released while a plan is executed.
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
  void set_pressure(const WorkPressure* pressure) { pressure_ = pressure; }
  CompactionWork(const CompactionWork&) = delete;
  CompactionWork& operator=(const CompactionWork&) = delete;

  // Queues the family, and starts jobs as far as limits allow.
  void Schedule(ColumnFamily* family) override VARVE_REQUIRES(kDbMutex);
  // Queues all families, and starts jobs as far as limits allow.
  void ScheduleAll() override VARVE_REQUIRES(kDbMutex);
  // Measures the families again whose files wait for snapshots or for time to pass, and queues
  // those that need work now. Does not throw.
  void NoteSnapshotsGone() VARVE_EXCLUDES(kDbMutex);
  // Does what NoteSnapshotsGone does, and also tries a postponed compaction again if it is time to.
  // May throw. Returns the microseconds until the next files become due or a postponed compaction
  // is to be tried; UINT64_MAX: never.
  uint64_t ScheduleDue() VARVE_REQUIRES(kDbMutex);
  // Forgets which families are queued (shutdown). Removes them one by one, as a second deque would
  // take memory.
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
  // True if a family is queued, or a job or call has not ended.
  bool Busy() const override VARVE_REQUIRES(kDbMutex);
  // Cancels jobs that have not begun (shutdown): the threads may be busy with other databases.
  void CancelScheduledJobs() VARVE_REQUIRES(kDbMutex);
  bool MayMakeRoom() const override VARVE_REQUIRES(kDbMutex) {
    return Working() > 0 || (!queue_.empty() && !errors_.state().awaits_resume());
  }
  // Returns the number of scheduled or running background jobs, and of calls that compact in their
  // own thread.
  int Running() const VARVE_REQUIRES(kDbMutex) { return scheduled_ + manual_calls_; }
  // Numbers of background jobs that run, and that have not begun.
  int running() const VARVE_REQUIRES(kDbMutex) { return running_; }
  int waiting() const VARVE_REQUIRES(kDbMutex) { return scheduled_ - running_; }
  // Returns the number of those that work on files now, or notify listeners. A call between two of
  // its plans does not count: while work is paused, it waits.
  int Working() const VARVE_REQUIRES(kDbMutex) { return running_ + manual_working_; }

  // --- API calls. Requested compactions run in the calling thread. CheckRange checks if
  // CompactRange would begin, and changes nothing.
  Status CheckRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                    const Slice* end) VARVE_EXCLUDES(kDbMutex);
  Status CompactRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                      const Slice* end) VARVE_EXCLUDES(kDbMutex);
  // Rewrites the family without the versions that are newer than the timestamp. Requires that
  // nothing else writes to it meanwhile.
  Status TrimHistory(ColumnFamily* family, const std::string& trim_ts) VARVE_EXCLUDES(kDbMutex);
  // A negative `path_id` leaves the outputs in the path of their level. The paths of the outputs
  // are appended to *output_names; it and `info` may be null.
  Status CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                      const std::vector<std::string>& names, int output_level, int path_id,
                      std::vector<std::string>* output_names, CompactionJobInfo* info)
      VARVE_EXCLUDES(kDbMutex);
  // Drops the files that lie wholly in one of the ranges, without tombstones, even if snapshots see
  // them.
  Status DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                             bool include_end) VARVE_EXCLUDES(kDbMutex);
  // Drops, unread, the files that lie wholly in a deleted range and hold nothing newer. Requires
  // that the entries which delete it, from sequence number `deleted_at` on, are in tables. Does
  // nothing if a snapshot is older than they are.
  Status DropDeleted(ColumnFamily* family, const DeletedRange& range, SequenceNumber deleted_at)
      VARVE_EXCLUDES(kDbMutex);
  // Moves all tables of L0, which must not overlap each other, to an empty level by an edit alone.
  Status PromoteL0(ColumnFamily* family, int target_level) VARVE_EXCLUDES(kDbMutex);
  // Marks the files of the range for compaction, and returns without waiting for it.
  Status SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end)
      VARVE_EXCLUDES(kDbMutex);
  // Cancels manual compactions, returns when the last has ended, and refuses new ones until
  // EnableManual was called as often.
  void DisableManual() VARVE_EXCLUDES(kDbMutex);
  void EnableManual() VARVE_EXCLUDES(kDbMutex);

 private:
  // Returns the family's limiter. A dropped family has none, as it only has to leave the queue.
  static std::shared_ptr<ConcurrentTaskLimiter> LimiterOf(const ColumnFamily& family)
      VARVE_REQUIRES(kDbMutex);
  // Returns InvalidArgument if the family has no path of this index.
  static Status CheckPath(const char* name, const ColumnFamily& family, uint32_t path_id);
  // Queues the family without starting a job.
  void Enqueue(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  // Controls the run of one plan: cancellation and reports.
  struct RunControl {
    CancelFlags cancel;
    CompactionJobInfo* info = nullptr;  // filled in at the end, unless null
    std::string trim_ts;                // see HistoryBounds
    WorkPace* pace = nullptr;           // null: the run never yields
    bool only_deletes = false;          // it frees space, so it may run at the space limit
  };
  // Arguments of one CompactRange call.
  struct ManualCall {
    ColumnFamily* family = nullptr;
    const CompactRangeOptions* options = nullptr;
    const Slice* begin = nullptr;
    const Slice* end = nullptr;
    std::string trim_ts;  // see HistoryBounds
  };
  // A family's state in one hold of the mutex: everything a plan may be made from.
  struct PlanningView {
    VersionRef version;
    LevelShape shape;
    std::shared_ptr<const ColumnFamilyOptions> options;
    const std::vector<const CompactionPlan*>& running;
  };
  // Makes a plan, which is valid until the mutex is released; may be called again later. If it
  // makes none, there is nothing to do, or, if *conflict is set, a running plan is in the way.
  using Planner = std::function<Status(const PlanningView& view,
                                       std::unique_ptr<CompactionPlan>* plan, bool* conflict)>;
  // A participant that changes the family's tree.
  class Participant;
  class Step;
  class ManualTurn;
  class Followed;

  // Called on a thread of the environment; calls BackgroundCompaction.
  static void RunOne(void* work);
  // Gives jobs to the environment as far as limits allow.
  void Dispatch() VARVE_REQUIRES(kDbMutex);
  // Runs one CompactRange or TrimHistory call, on the caller's thread.
  Status RunCall(const ManualCall& call) VARVE_EXCLUDES(kDbMutex);
  // True if nothing stops all automatic compactions at present.
  bool MayRunAutomatic() const VARVE_REQUIRES(kDbMutex);
  // True if a job may plan for the family now (TreeAdmission).
  bool MayPlanFor(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex);
  // Returns the next family in the queue for which a compaction may be planned before the mutex is
  // released, and in *slot the slot that its limiter grants; null if there is none.
  std::shared_ptr<ColumnFamily> TakeRunnable(TaskSlot* slot) VARVE_REQUIRES(kDbMutex);
  // Runs one automatic job, on a thread of the environment.
  void BackgroundCompaction() VARVE_EXCLUDES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports the result of background work
  // Picks a plan for the family, runs it, and queues the family again if it needs more.
  Status RunAutomatic(const std::shared_ptr<ColumnFamily>& family) VARVE_REQUIRES(kDbMutex);
  // Opens some of the tables whose tombstones may cover whole files. Releases the mutex while it
  // reads. Returns true if any was opened; then the shape was measured again.
  bool OpenTombstones(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  static PlanningView PlanningViewOf(const ColumnFamily& family) VARVE_REQUIRES(kDbMutex);
  // --- The execution of plans (compaction_run.cc).
  // Executes a plan: marks its inputs, runs it, installs its result. The mutex must not have been
  // released since the plan was made. Releases it while it works, and destroys the plan.
  Status RunPlan(Participant* participant, std::unique_ptr<CompactionPlan> plan,
                 const RunControl& control, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  // The steps of RunPlan, in this order.
  Status Execute(ColumnFamily* family, const CompactionPlan& plan, const RunControl& control,
                 int job_id, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  Status Install(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result)
      VARVE_REQUIRES(kDbMutex);
  void NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                    const CompactionResult& result, const RunControl& control, int job_id)
      VARVE_REQUIRES(kDbMutex);
  // Gathers what the job needs of the engine, so that the job itself can be tested without one.
  CompactionContext MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                const RunControl& control) const VARVE_REQUIRES(kDbMutex);
  // Called after a plan has succeeded or failed, and at the end of each job. After an error of
  // compactions they find out when compactions work again, and tell the ErrorHandler.
  void NoteSuccess(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteFailure(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteEndOfJob() VARVE_REQUIRES(kDbMutex);
  // Postpones a plan for which there is no space.
  Status PutOff(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  // Lets automatic compactions have the files of a call that was given up: measures the family
  // anew, and queues it. Does not throw.
  void GoOnAfterCall(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  // Notes in the inputs which job replaced them, for the listeners who are told of their deletion.
  static void NoteJobOfInputs(const CompactionPlan& plan, int job_id) VARVE_REQUIRES(kDbMutex);
  // Adds a plan's work to the statistics of the family.
  void CountRun(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result)
      VARVE_REQUIRES(kDbMutex);

  // --- Manual compactions (manual_compaction.cc).
  // Flushes what memtables have in the range. `called_back` is true if the call comes from a
  // callback of a flush or a compaction, for which it must not wait.
  Status FlushForRange(const ManualCall& call, bool called_back) VARVE_EXCLUDES(kDbMutex);
  // Compacts the range step by step, down to the level that the call wants.
  Status WalkLevels(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
  // Implements CompactRangeOptions::change_level: moves files of the deepest level of the range.
  Status MoveLevel(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
  // Moves files down that automatic compactions would only move.
  Status MoveWhatIsDue(const ManualCall& call, Participant* participant) VARVE_REQUIRES(kDbMutex);
  // Waits until the participant may plan and no other plan conflicts. Sets *plan to null if there
  // is nothing to do.
  Status AwaitPlan(Participant* participant, const RunControl& control,
                   TreeAdmission::Extent extent, const Planner& planner,
                   std::unique_ptr<CompactionPlan>* plan) VARVE_REQUIRES(kDbMutex);
  // Waits for a plan, and executes it. Sets *ran if there was one.
  Status RunStep(Participant* participant, const Planner& planner, const RunControl& control,
                 CompactionResult* result, bool* ran) VARVE_REQUIRES(kDbMutex);
  // Runs one step on files that the plan names, without waiting for a turn.
  Status RunAtOnce(ColumnFamily* family, const Planner& planner, const RunControl& control)
      VARVE_EXCLUDES(kDbMutex);
  // Returns the control of a manual compaction, which the user's flag, if there is one, also
  // cancels.
  RunControl ControlOf(const std::atomic<bool>* cancelled) const;
  // Returns the reason why the call must not run, or OK. DisableManual stops calls with such a
  // control.
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
  const WorkPressure* pressure_ = nullptr;
  // Time of DbContext::MonotonicMicros; 0: no compaction was postponed.
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
  // Running CompactRange calls, which are told what each compaction makes of their tables.
  std::vector<Followed*> followed_ VARVE_GUARDED_BY(kDbMutex);
  // Number of calls of DisableManual less those of EnableManual; below 0 if the latter were more.
  int manual_disabled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<bool> manual_cancel_{false};  // changed under the mutex
};

}  // namespace varve
