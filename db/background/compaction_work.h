// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs compactions: automatic ones as levels ask for them, manual ones on demand.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/background/engine.h"
#include "db/background/tree_admission.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/leveled_picker.h"

namespace varve {

// Locking: methods require the DB mutex unless they say otherwise.
class CompactionWork {
 public:
  explicit CompactionWork(Engine* engine) : engine_(engine) {}

  // Queues the family when its shape asks for work, and hands queued ones to background threads.
  void Schedule(ColumnFamily* family);
  void ScheduleAll();
  // Measures the families anew whose files wait for snapshots to go, or for time to pass, and
  // queues those that want work now. Takes mu itself. Does not throw.
  void NoteSnapshotsGone();
  // The same with mu held; the answer is the unix time at which the next files become due.
  uint64_t ScheduleDue();
  // Forgets which families are queued (shutdown).
  void ClearQueue() { queue_.clear(); }
  bool Busy() const;

  // Jobs that have not begun will not (shutdown): the threads may be busy with other databases.
  void TakeBackJobs();

  // Something is compacted now, or will be with nobody asking. Calls that wait themselves, as
  // before a flush, are not counted.
  bool MayMakeRoom() const { return Working() > 0 || !queue_.empty(); }

  // Jobs in background threads or on their way there, and calls that compact in their own thread.
  int Running() const { return scheduled_ + manual_calls_; }
  // Of them, those that work on files now, or tell listeners what they did. A call between two of
  // its plans is not among them: while work is paused, it waits.
  int Working() const { return running_ + manual_working_; }

  // API calls: take mu themselves. Compactions asked for run in the calling thread.
  // Whether CompactRange would begin; changes nothing.
  Status CheckRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                    const Slice* end);
  Status CompactRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                      const Slice* end);
  // Rewrites the family without the versions that are newer than the timestamp. Nothing else may
  // write to it meanwhile.
  Status TrimHistory(ColumnFamily* family, const std::string& trim_ts);
  Status CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                      const std::vector<std::string>& names, int output_level,
                      std::vector<std::string>* output_names, CompactionJobInfo* info);
  Status DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                             bool include_end);
  Status SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end);
  // Ends manual compactions, returns when the last has ended, and refuses further ones until
  // EnableManual was called as often.
  void DisableManual();
  void EnableManual();

 private:
  // Requires mu. Without handing it out.
  void Enqueue(ColumnFamily* family);
  // What stops one plan's run beside shutdown, and what it reports.
  struct RunControl {
    const std::atomic<bool>* manual_cancelled = nullptr;
    const std::atomic<bool>* user_cancelled = nullptr;
    CompactionJobInfo* info = nullptr;  // filled in at the end, unless null
    std::string trim_ts;                // as in CompactionIteratorOptions
    WorkPace* pace = nullptr;           // null: the run gives way to nobody
  };
  // One CompactRange call.
  struct ManualCall {
    ColumnFamily* family = nullptr;
    const CompactRangeOptions* options = nullptr;
    const Slice* begin = nullptr;
    const Slice* end = nullptr;
    std::string trim_ts;  // as in CompactionIteratorOptions
  };
  // What a family is in one hold of mu: all that a plan may be made from.
  struct PlanGround {
    VersionRef version;
    LevelShape shape;
    std::shared_ptr<const ColumnFamilyOptions> options;
    const std::vector<const CompactionPlan*>& running;
  };
  // Makes a plan for the hold in which it is called; may be called again in a later one. No plan:
  // there is nothing to do, or *conflict, a plan under way is in its way.
  using Planner = std::function<Status(const PlanGround& ground,
                                       std::unique_ptr<CompactionPlan>* plan, bool* conflict)>;
  // One who changes the family's tree.
  class Party;
  class Step;
  class ManualTurn;
  class Followed;

  static void RunOne(void* work);
  void Dispatch();
  Status RunCall(const ManualCall& call);
  bool MayRunAutomatic() const;
  bool MayPlanFor(const ColumnFamily& family) const;
  std::shared_ptr<ColumnFamily> TakeRunnable();
  void BackgroundCompaction();
  void Report(const Status& s);  // of background work
  Status RunAutomatic(const std::shared_ptr<ColumnFamily>& family);
  // Some of the tables whose tombstones may cover whole files. Releases mu while it reads. Whether
  // any was opened; the shape is measured again then.
  bool OpenTombstones(ColumnFamily* family);

  static PlanGround GroundOf(const ColumnFamily& family);
  // Carries out what was planned in this hold: marks the plan's inputs, runs it, installs its
  // result. Releases mu while it works; gives the plan up.
  Status RunPlan(Party* party, std::unique_ptr<CompactionPlan> plan, const RunControl& control,
                 CompactionResult* result);
  Status Execute(ColumnFamily* family, const CompactionPlan& plan, const RunControl& control,
                 int job_id, CompactionResult* result);
  Status Install(ColumnFamily* family, const CompactionPlan& plan, const CompactionResult& result);
  void NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                    const CompactionResult& result, const RunControl& control, int job_id);
  CompactionContext MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                const RunControl& control) const;
  void RemoveOutputs(const CompactionResult& result);
  static void AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                 CompactionJobInfo* info);
  static void NoteJobOfInputs(const CompactionPlan& plan, int job_id);
  void CountRun(const CompactionPlan& plan, const CompactionResult& result);
  // These two are called without mu.
  CompactionJobInfo MakeInfo(const ColumnFamily& family, const CompactionPlan& plan,
                             const CompactionResult& result, int job_id) const;
  void NotifyEnd(const ColumnFamily& family, const CompactionPlan& plan,
                 const CompactionResult& result, const CompactionJobInfo& info);
  int MaxRunning() const { return engine_->MaxCompactions(); }

  // Manual (manual_compaction.cc).
  Status FlushForRange(const ManualCall& call);
  Status WalkLevels(const ManualCall& call, const RangeCall& range, Party* party);
  Status MoveLevel(const ManualCall& call, const RangeCall& range, Party* party);
  // Waits until the party may plan and nobody is in its plan's way. Null: there is nothing to do.
  Status AwaitPlan(Party* party, const RunControl& control, TreeAdmission::Extent extent,
                   const Planner& planner, std::unique_ptr<CompactionPlan>* plan);
  // Then carries it out. *ran: there was one.
  Status RunStep(Party* party, const Planner& planner, const RunControl& control,
                 CompactionResult* result, bool* ran);
  RunControl ControlOf(const std::atomic<bool>* cancelled) const;
  // DisableManual stops what has the control of such calls.
  Status ManualObstacle(const ColumnFamily& family, const RunControl& control) const;

  Engine* const engine_;
  std::deque<std::shared_ptr<ColumnFamily>> queue_;
  int running_ = 0;
  int scheduled_ = 0;                // handed to the environment, running ones included
  int manual_calls_ = 0;             // API calls that may change levels, waiting ones included
  int manual_working_ = 0;           // of them, those that run a plan
  std::vector<Followed*> followed_;  // calls that want to know what becomes of their tables
  int manual_disabled_ = 0;
  std::atomic<bool> manual_cancel_{false};
};

}  // namespace varve
