// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs compactions: automatic ones as levels need them, manual ones on demand.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

class ListedOperation;
struct DeletedRange;

class CompactionWork final : public CompactionScheduler {
 public:
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

  void Schedule(ColumnFamily* family) override VARVE_REQUIRES(kDbMutex);
  void ScheduleAll() override VARVE_REQUIRES(kDbMutex);
  // Measures the families again whose files wait for snapshots or for time to pass, and queues
  // those that need work now. Does not throw.
  void NoteSnapshotsGone() VARVE_EXCLUDES(kDbMutex);
  // Like the call above, but returns the unix time at which the next files become due.
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
  Status CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                      const std::vector<std::string>& names, int output_level, int path_id,
                      std::vector<std::string>* output_names, CompactionJobInfo* info)
      VARVE_EXCLUDES(kDbMutex);
  Status DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                             bool include_end) VARVE_EXCLUDES(kDbMutex);
  // Drops files of a range whose entries are all deleted, by entries in tables with sequence
  // numbers from `deleted_at` on. Does nothing if a snapshot is older.
  Status DropDeleted(ColumnFamily* family, const DeletedRange& range, SequenceNumber deleted_at)
      VARVE_EXCLUDES(kDbMutex);
  Status PromoteL0(ColumnFamily* family, int target_level) VARVE_EXCLUDES(kDbMutex);
  Status SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end)
      VARVE_EXCLUDES(kDbMutex);
  // Cancels manual compactions, returns when the last has ended, and refuses new ones until
  // EnableManual was called as often.
  void DisableManual() VARVE_EXCLUDES(kDbMutex);
  void EnableManual() VARVE_EXCLUDES(kDbMutex);

 private:
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
  // Makes a plan for the hold in which it is called; may be called again in a later one. Without a
  // plan there is nothing to do, or, if *conflict is set, a running plan is in the way.
  using Planner = std::function<Status(const PlanningView& view,
                                       std::unique_ptr<CompactionPlan>* plan, bool* conflict)>;
  // A participant that changes the family's tree.
  class Participant;
  class Step;
  class ManualTurn;
  class Followed;

  static void RunOne(void* work);
  void Dispatch() VARVE_REQUIRES(kDbMutex);
  Status RunCall(const ManualCall& call) VARVE_EXCLUDES(kDbMutex);
  bool MayRunAutomatic() const VARVE_REQUIRES(kDbMutex);
  bool MayPlanFor(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex);
  // Returns the next family in the queue for which a compaction may be planned in this hold, and
  // the slot that its limiter grants.
  std::shared_ptr<ColumnFamily> TakeRunnable(TaskSlot* slot) VARVE_REQUIRES(kDbMutex);
  void BackgroundCompaction() VARVE_EXCLUDES(kDbMutex);
  void Report(const Status& s) VARVE_REQUIRES(kDbMutex);  // reports the result of background work
  Status RunAutomatic(const std::shared_ptr<ColumnFamily>& family) VARVE_REQUIRES(kDbMutex);
  // Opens some of the tables whose tombstones may cover whole files. Releases the mutex while it
  // reads. Returns true if any was opened; then the shape was measured again.
  bool OpenTombstones(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  static PlanningView PlanningViewOf(const ColumnFamily& family) VARVE_REQUIRES(kDbMutex);
  // Executes a plan made in this hold: marks its inputs, runs it, installs its result. Releases the
  // mutex while it works; destroys the plan.
  Status RunPlan(Participant* participant, std::unique_ptr<CompactionPlan> plan,
                 const RunControl& control, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  Status Execute(ColumnFamily* family, const CompactionPlan& plan, const RunControl& control,
                 int job_id, CompactionResult* result) VARVE_REQUIRES(kDbMutex);
  Status Install(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result)
      VARVE_REQUIRES(kDbMutex);
  void NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                    const CompactionResult& result, const RunControl& control, int job_id)
      VARVE_REQUIRES(kDbMutex);
  CompactionContext MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                const RunControl& control) const VARVE_REQUIRES(kDbMutex);
  // Called after an error of compactions, to note if they work again.
  void NoteSuccess(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteFailure(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  void NoteEndOfJob() VARVE_REQUIRES(kDbMutex);
  // Postpones a plan for which there is no space.
  Status PutOff(ColumnFamily* family, const CompactionPlan& plan) VARVE_REQUIRES(kDbMutex);
  // Continues after a call was given up that has kept jobs from its files. Does not throw.
  void GoOnAfterCall(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  static void AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                 CompactionJobInfo* info);
  static void NoteJobOfInputs(const CompactionPlan& plan, int job_id) VARVE_REQUIRES(kDbMutex);
  static void CountRun(ColumnFamily* family, const CompactionPlan& plan,
                       const CompactionResult& result) VARVE_REQUIRES(kDbMutex);
  CompactionJobInfo MakeInfo(const ColumnFamily& family, const CompactionPlan& plan,
                             const CompactionResult& result, int job_id) const;
  static void List(const CompactionPlan& plan, int job_id, ListedOperation* listed);
  void NotifyOfSubcompaction(const ColumnFamily& family, const CompactionPlan& plan, int job_id,
                             const Subcompaction& sub) const VARVE_EXCLUDES(kDbMutex);
  void NotifyCreated(const ColumnFamily& family, int job_id, const CompactionResult& result) const
      VARVE_EXCLUDES(kDbMutex);
  void NotifyEnd(const ColumnFamily& family, const CompactionPlan& plan,
                 const CompactionResult& result, const CompactionJobInfo& info)
      VARVE_EXCLUDES(kDbMutex);

  // --- Manual compactions (manual_compaction.cc). `called_back`: called from a flush or a
  // compaction, which it must not wait for.
  Status FlushForRange(const ManualCall& call, bool called_back) VARVE_EXCLUDES(kDbMutex);
  Status WalkLevels(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
  Status MoveLevel(const ManualCall& call, const RangeCall& range, Participant* participant)
      VARVE_REQUIRES(kDbMutex);
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
  JobTimer* timer_ = nullptr;
  const WorkPressure* pressure_ = nullptr;
  // Unix seconds; 0: no compaction was postponed.
  uint64_t ask_again_at_ VARVE_GUARDED_BY(kDbMutex) = 0;

  std::deque<std::shared_ptr<ColumnFamily>> queue_ VARVE_GUARDED_BY(kDbMutex);
  int running_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of jobs given to the environment, including running ones.
  int scheduled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Number of API calls that may change levels, including waiting ones; and of those that run a
  // plan.
  int manual_calls_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int manual_working_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Calls that follow what becomes of their tables.
  std::vector<Followed*> followed_ VARVE_GUARDED_BY(kDbMutex);
  // Number of calls of DisableManual less those of EnableManual, even if EnableManual came first.
  int manual_disabled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<bool> manual_cancel_{false};  // changed under the mutex
};

}  // namespace varve
