// SPDX-License-Identifier: Apache-2.0

// Implements compactions that users request: of ranges, of named files, and hints.
//
// A call is a loop of steps, each of which is one plan that is picked from the current version:
// RunStep waits for its turn (TreeAdmission), picks, and runs the plan on the caller's thread. So
// automatic compactions may change the tree between two steps. A Remainder tracks the data that the
// call found at its beginning, through the outputs of all jobs; so a call ends, however much is
// written meanwhile.
//
// Cancellation has three sources, which ManualObstacle checks before each step, and the job while
// it runs: DisableManualCompaction, CompactRangeOptions::canceled, and the closing of the database.
// Before each step the call also ends if its family was dropped, or with the background error.

#include <algorithm>
#include <utility>

#include "db/background/compaction_participant.h"
#include "db/background/compaction_work.h"
#include "db/compaction/input_span.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/option_types.h"

namespace varve {

namespace {

// Interval at which a waiting call checks the caller's cancellation flag, which has no signal.
constexpr uint64_t kPollMicros = 50 * 1000;

Status Paused(const char* why) {
  return Status(Status::kIncomplete, Status::kManualCompactionPaused, Status::kNoError, why);
}

// Returns true if the memtable has an entry or range deletion between `begin` and `end`. A null
// bound means no bound.
bool MemTableOverlaps(const MemTable& mem, const InternalKeyComparator& icmp, const Slice* begin,
                      const Slice* end) {
  if (mem.Empty()) return false;
  if (begin == nullptr && end == nullptr) return true;
  for (const auto& list : mem.RangeTombstones()) {
    if (list->CoversAnyOf(begin, end)) return true;
  }
  const auto iterator = mem.NewIterator();
  if (begin == nullptr) {
    iterator->SeekToFirst();
  } else {
    iterator->Seek(icmp.FirstInternalKey(*begin).Encode());
  }
  return iterator->Valid() &&
         (end == nullptr || icmp.CompareKey(icmp.KeyOf(iterator->key()), *end) <= 0);
}

// Increments a count while the object lives.
class Counted {
 public:
  explicit Counted(int* count) VARVE_REQUIRES(kDbMutex) : count_(count) { ++*count_; }
  ~Counted() VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(*count_ > 0);
    --*count_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int* const count_;
};

// Returns the goal of a call for its range. Filters and full_history_ts_low only affect entries
// that are rewritten, so with them bottommost tables are rewritten, too.
Remainder::Goal GoalOf(const CompactRangeOptions& call, const ColumnFamilyOptions& family,
                       bool trims) {
  using Bottommost = BottommostLevelCompaction;
  const Bottommost bottommost = call.bottommost_level_compaction;
  if (bottommost == Bottommost::kForce || bottommost == Bottommost::kForceOptimized) {
    return Remainder::Goal::kRewriteAtBottom;
  }
  const bool filtered = family.compaction_filter != nullptr ||
                        family.compaction_filter_factory != nullptr ||
                        call.full_history_ts_low != nullptr || trims;
  return filtered ? Remainder::Goal::kRewrite : Remainder::Goal::kSink;
}

}  // namespace

// Counts a call in manual_calls_ while the object lives, unless there was an obstacle at its
// beginning, and handles the end of the call.
class CompactionWork::ManualTurn {
 public:
  ManualTurn(CompactionWork* work, const ColumnFamily& family, const RunControl& control)
      : work_(work),
        active_work_(ActiveWork::kCompaction, &work->lifecycle_, "a call that compacts,") {
    DbLock lock(&work_->state_.mu);
    obstacle_ = work_->ManualObstacle(family, control);
    if (obstacle_.ok()) work_->manual_calls_++;
  }
  ~ManualTurn() {
    if (!obstacle_.ok()) return;
    DbLock lock(&work_->state_.mu);
    work_->Report(Guarded([this] {
      work_->state_.mu.AssertHeld();
      work_->purger_.Purge();
    }));
    VARVE_ASSERT(work_->manual_calls_ > 0);
    work_->manual_calls_--;
    work_->state_.work.SignalAll();
  }
  ManualTurn(const ManualTurn&) = delete;
  ManualTurn& operator=(const ManualTurn&) = delete;
  const Status& obstacle() const { return obstacle_; }

 private:
  CompactionWork* const work_;
  const ActiveWork active_work_;
  Status obstacle_;
  // A plan that is destroyed under the mutex may hold the last references to tables, which are then
  // not closed.
  const ObsoleteFileQueue::LeaveOpen leave_open_;
};

// Called before each step. A call that only deletes files may continue at the space limit.
Status CompactionWork::ManualObstacle(const ColumnFamily& family, const RunControl& control) const {
  if (lifecycle_.shutting_down()) {
    return Status::ShutdownInProgress("manual compaction: the database is being closed");
  }
  if (family.dropped()) return Status::ColumnFamilyDropped("manual compaction", family.name());
  if (control.cancel.manual != nullptr && manual_disabled_ > 0) {
    return Paused("manual compactions are disabled");
  }
  const std::atomic<bool>* const cancelled = control.cancel.user;
  if (cancelled != nullptr && cancelled->load(std::memory_order_acquire)) {
    return Paused("manual compaction was cancelled");
  }
  const Status& error = errors_.state().error();
  return control.only_deletes && error.IsSpaceLimit() ? Status::OK() : error;
}

// Unless stalls are allowed (allow_write_stall), waits for running compactions first if the flush
// would make writes stall.
Status CompactionWork::FlushForRange(const ManualCall& call, bool called_back) {
  bool overlaps = false;
  {
    SuperVersion* const super_version = call.family->AcquireSuperVersion();
    const InternalKeyComparator& icmp = call.family->icmp();
    overlaps = MemTableOverlaps(*super_version->mem(), icmp, call.begin, call.end);
    for (const auto& mem : super_version->immutables()) {
      overlaps = overlaps || MemTableOverlaps(*mem, icmp, call.begin, call.end);
    }
    super_version->Unref();
  }
  if (!overlaps) return Status::OK();
  if (!call.options->allow_write_stall) {
    DbLock lock(&state_.mu);
    for (;;) {
      VARVE_RETURN_IF_ERROR(ManualObstacle(*call.family, ControlOf(call.options->canceled)));
      if (!flusher_.WouldStall(*call.family)) break;
      if (called_back) return HeldUp("CompactRange", "a flush or a compaction,");
      state_.work.AwaitWorkFor(kPollMicros);
    }
  }
  return flusher_.FlushFamilies({call.family}, FlushOptions(), FlushReason::kManualCompaction);
}

Status CompactionWork::CheckPath(const char* name, const ColumnFamily& family, uint32_t path_id) {
  const size_t paths = family.table_paths().size();
  if (path_id < paths) return Status::OK();
  return Status::InvalidArgument(name, std::to_string(path_id) + ", and of db_paths or cf_paths " +
                                           "the column family has " + std::to_string(paths));
}

// Checks the arguments first, and then whether anything prevents the call now.
Status CompactionWork::CheckRange(ColumnFamily* family, const CompactRangeOptions& options,
                                  const Slice* begin, const Slice* end) {
  VARVE_RETURN_IF_ERROR(
      CheckPath("CompactRangeOptions::target_path_id", *family, options.target_path_id));
  if (options.change_level && options.target_level >= family->options()->num_levels) {
    return Status::InvalidArgument("CompactRangeOptions::target_level", "is not below num_levels");
  }
  if (options.change_level && !UsesLevels(*family->options())) {
    return Status::NotSupported("CompactRangeOptions::change_level",
                                "with FIFO compaction all tables stay in L0");
  }
  if (options.change_level && family->options()->cf_allow_ingest_behind &&
      options.target_level == family->options()->num_levels - 1) {
    return Status::InvalidArgument("CompactRangeOptions::target_level",
                                   "is the level that cf_allow_ingest_behind reserves");
  }
  if (options.full_history_ts_low != nullptr && (begin != nullptr || end != nullptr)) {
    return Status::InvalidArgument("CompactRangeOptions::full_history_ts_low",
                                   "is of the whole column family: no range goes with it");
  }
  if (begin != nullptr && end != nullptr && family->icmp().CompareKey(*begin, *end) > 0) {
    return Status::InvalidArgument("CompactRange", "the range ends before it begins");
  }
  DbLock lock(&state_.mu);
  return ManualObstacle(*family, ControlOf(options.canceled));
}

Status CompactionWork::CompactRange(ColumnFamily* family, const CompactRangeOptions& options,
                                    const Slice* begin, const Slice* end) {
  VARVE_RETURN_IF_ERROR(CheckRange(family, options, begin, end));
  return RunCall({family, &options, begin, end, /*trim_ts=*/""});
}

Status CompactionWork::TrimHistory(ColumnFamily* family, const std::string& trim_ts) {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  options.allow_write_stall = true;
  return RunCall({family, &options, nullptr, nullptr, trim_ts});
}

// Flushes the range, compacts it level by level, and moves the result if change_level is set. Any
// step may be the last one (ManualObstacle); the work of earlier steps is kept.
Status CompactionWork::RunCall(const ManualCall& call) {
  const CompactRangeOptions& options = *call.options;
  constexpr uint32_t kWork = ActiveWork::kFlush | ActiveWork::kCompaction;
  // This look must precede ManualTurn, which registers the call itself as active work.
  const bool called_back = ActiveWork::Find(kWork, &lifecycle_) != nullptr;
  const ManualTurn turn(this, *call.family, ControlOf(options.canceled));
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  VARVE_RETURN_IF_ERROR(FlushForRange(call, called_back));
  DbLock lock(&state_.mu);
  Participant participant(this,
                          options.exclusive_manual_compaction ? TreeAdmission::Kind::kAlone
                                                              : TreeAdmission::Kind::kCall,
                          call.family);
  RangeCall range;
  range.begin = call.begin;
  range.end = call.end;
  range.skip_last_level = options.bottommost_level_compaction == BottommostLevelCompaction::kSkip;
  range.max_subcompactions = options.max_subcompactions;
  if (call.trim_ts.empty()) range.path_id = options.target_path_id;
  VARVE_RETURN_IF_ERROR(WalkLevels(call, range, &participant));
  return options.change_level ? MoveLevel(call, range, &participant)
                              : MoveWhatIsDue(call, &participant);
}

// Moves files from a level that exceeds its target into an empty one: a background compaction would
// do so soon, but a program might close the database before. Considers only files that exist now,
// so that it ends.
Status CompactionWork::MoveWhatIsDue(const ManualCall& call, Participant* participant) {
  const uint64_t next_number = state_.versions->next_file_number();
  const auto is_older = [&](const CompactionInputLevel& level) {
    return std::ranges::all_of(level.files,
                               [&](const FileRef& file) { return file->number < next_number; });
  };
  const Planner planner = [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan,
                              bool*) {
    if (!CompactsUnasked(*view.options)) return Status::OK();
    *plan = PickCompaction(view.version, view.shape, *view.options, view.running);
    if (*plan == nullptr) return Status::OK();
    const bool moves = (*plan)->trivial_move && (*plan)->start_level > 0;
    if (!moves || !std::ranges::all_of((*plan)->inputs, is_older)) plan->reset();
    if (*plan != nullptr) (*plan)->is_manual = true;
    return Status::OK();
  };
  const RunControl control = ControlOf(call.options->canceled);
  for (bool ran = true; ran;) {
    CompactionResult result;
    VARVE_RETURN_IF_ERROR(RunStep(participant, planner, control, &result, &ran));
  }
  return Status::OK();
}

// Runs steps until all data that was in the range at the beginning is in the target level, and
// rewritten if the call requires that.
Status CompactionWork::WalkLevels(const ManualCall& call, const RangeCall& range,
                                  Participant* participant) {
  // The remainder consists of the tables that exist now; tables with later numbers are not the
  // call's concern.
  const Followed followed(
      this, call.family,
      Remainder(GoalOf(*call.options, *call.family->options(), !call.trim_ts.empty()), call.trim_ts,
                state_.versions->next_file_number(), state_.NextJobId()));
  const Planner plan_step = [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan,
                                bool* conflict) {
    state_.mu.AssertHeld();
    *plan = PickRangeStep(view.version, view.shape, *view.options, range, followed.remainder(),
                          view.running, conflict);
    if (*plan == nullptr) return Status::OK();
    if (range.max_subcompactions == 0) {
      (*plan)->max_subcompactions = dynamic_.current()->max_subcompactions;
    }
    (*plan)->blob_garbage = {call.options->blob_garbage_collection_policy,
                             call.options->blob_garbage_collection_age_cutoff};
    return Status::OK();
  };
  RunControl control = ControlOf(call.options->canceled);
  control.trim_ts = call.trim_ts;
  for (bool ran = true; ran;) {
    CompactionResult result;
    VARVE_RETURN_IF_ERROR(RunStep(participant, plan_step, control, &result, &ran));
    // Deletes what the step has replaced before the next one needs space.
    Report(Guarded([this] {
      state_.mu.AssertHeld();
      purger_.Purge();
    }));
  }
  return Status::OK();
}

// Tries again whenever background work makes progress, and every kPollMicros, as the caller's
// cancellation flag has no signal. Returns Busy to a call from a callback of a step, which would
// wait for itself.
Status CompactionWork::AwaitPlan(Participant* participant, const RunControl& control,
                                 TreeAdmission::Extent extent, const Planner& planner,
                                 std::unique_ptr<CompactionPlan>* plan) try {
  const ColumnFamily& family = *participant->family();
  VARVE_ASSERT(*plan == nullptr);
  const auto await = [&]() -> Status {
    state_.mu.AssertHeld();
    for (;;) {
      VARVE_RETURN_IF_ERROR(ManualObstacle(family, control));
      // A plan is made only when it is this participant's turn, and used in the same hold of the
      // mutex.
      if (participant->Ask(extent)) {
        bool conflict = false;
        VARVE_RETURN_IF_ERROR(planner(PlanningViewOf(family), plan, &conflict));
        if (!conflict) return Status::OK();
      }
      if (!participant->MayWait()) {
        return HeldUp("compaction", "another one,");
      }
      state_.work.AwaitWorkFor(kPollMicros);
    }
  };
  const Status s = await();
  // An unused turn is given back, since others wait for it.
  if (!s.ok() || *plan == nullptr) {
    participant->Withdraw();
    Dispatch();
  }
  return s;
} catch (...) {
  return CaughtException();
}

Status CompactionWork::RunStep(Participant* participant, const Planner& planner,
                               const RunControl& control, CompactionResult* result, bool* ran) {
  std::unique_ptr<CompactionPlan> plan;
  *ran = false;
  VARVE_RETURN_IF_ERROR(
      AwaitPlan(participant, control, TreeAdmission::Extent::kPlan, planner, &plan));
  if (plan == nullptr) return Status::OK();
  *ran = true;
  const Counted working(&manual_working_);
  return RunPlan(participant, std::move(plan), control, result);
}

CompactionWork::RunControl CompactionWork::ControlOf(const std::atomic<bool>* cancelled) const {
  RunControl control;
  control.cancel.manual = &manual_cancel_;
  control.cancel.user = cancelled;
  return control;
}

// Requires that no other step runs in the family meanwhile, since the plan depends on all levels
// between the source and the target.
Status CompactionWork::MoveLevel(const ManualCall& call, const RangeCall& range,
                                 Participant* participant) {
  ColumnFamily* const family = call.family;
  const Planner planner = [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan,
                              bool*) {
    return PickLevelMove(view.version, view.shape, range, call.options->target_level, plan);
  };
  std::unique_ptr<CompactionPlan> plan;
  VARVE_RETURN_IF_ERROR(AwaitPlan(participant, ControlOf(call.options->canceled),
                                  TreeAdmission::Extent::kFamily, planner, &plan));
  if (plan == nullptr) return Status::OK();
  const Counted working(&manual_working_);
  {
    const Step step(participant, plan.get());
    VARVE_RETURN_IF_ERROR(Guarded([&] {
      state_.mu.AssertHeld();
      return Install(family, *plan, CompactionResult());
    }));
  }
  errors_.InstallSuperVersion(family).PermitUncheckedError();
  stalls_.Update();
  stalls_.Tell();
  Schedule(family);
  DbUnlock unlock(&state_.mu);
  LogInfo(context_.info_log(), "[%s] moved L%d to L%d", family->name().c_str(), plan->start_level,
          plan->output_level);
  return Status::OK();
}

// Compacts the named files, and those that must be compacted with them, in one step. Does not wait:
// if another plan has one of the files, returns the planner's error.
Status CompactionWork::CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                                    const std::vector<std::string>& names, int output_level,
                                    int path_id, std::vector<std::string>* output_names,
                                    CompactionJobInfo* info) {
  FilesCall call;
  call.output_level = output_level;
  if (!OptionTypeOf<Temperature>().valid(&options.output_temperature_override)) {
    return Status::InvalidArgument("CompactFiles: output_temperature_override",
                                   "is no Temperature");
  }
  if (path_id >= 0) {
    call.path_id = static_cast<uint32_t>(path_id);
    VARVE_RETURN_IF_ERROR(CheckPath("CompactFiles: output_path_id", *family, *call.path_id));
  }
  for (const std::string& name : names) {
    const std::string base = name.substr(name.rfind('/') + 1);
    uint64_t number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(base, &number, &type) || type != kTableFile) {
      return Status::InvalidArgument("CompactFiles: not the name of a table", name);
    }
    call.numbers.push_back(number);
  }
  const ManualTurn turn(this, *family, ControlOf(options.canceled));
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  DbLock lock(&state_.mu);
  Participant participant(this, TreeAdmission::Kind::kAtOnce, family);
  std::vector<std::string> moved;  // names of the plan's tables, if it moves them
  const Planner planner = [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan,
                              bool*) -> Status {
    state_.mu.AssertHeld();
    VARVE_RETURN_IF_ERROR(
        PickCompactFiles(view.version, view.shape, *view.options, call, view.running, plan));
    CompactionPlan& chosen = **plan;  // not null after OK
    chosen.trivial_move = chosen.trivial_move && options.allow_trivial_move;
    if (options.compression != kDisableCompressionOption) {
      chosen.output.compression = options.compression;
    }
    if (options.output_temperature_override != Temperature::kUnknown) {
      chosen.output.temperature = options.output_temperature_override;
    }
    chosen.output.target_file_bytes = options.output_file_size_limit;
    chosen.max_subcompactions = options.max_subcompactions != 0
                                    ? options.max_subcompactions
                                    : dynamic_.current()->max_subcompactions;
    moved.clear();
    if (chosen.trivial_move) {
      for (const FileRef& file : chosen.inputs.front().files) moved.push_back(file->FileName());
    }
    return Status::OK();
  };
  RunControl control = ControlOf(options.canceled);
  control.info = info;
  CompactionResult result;
  bool ran = false;
  const Status s = RunStep(&participant, planner, control, &result, &ran);
  if (s.ok() && output_names != nullptr) {
    output_names->insert(output_names->end(), moved.begin(), moved.end());
    for (const NewFile& file : result.outputs) {
      output_names->push_back(family->table_paths().FileName(file));
    }
  }
  return s;
}

Status CompactionWork::RunAtOnce(ColumnFamily* family, const Planner& planner,
                                 const RunControl& control) {
  const ManualTurn turn(this, *family, control);
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  DbLock lock(&state_.mu);
  Participant participant(this, TreeAdmission::Kind::kAtOnce, family);
  CompactionResult result;
  bool ran = false;
  return RunStep(&participant, planner, control, &result, &ran);
}

Status CompactionWork::SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end) {
  DbLock lock(&state_.mu);
  if (family->dropped()) return Status::ColumnFamilyDropped("SuggestCompactRange", family->name());
  const VersionRef& version = family->current();
  // Files of the last level are not marked.
  for (int level = 0; level + 1 < version->non_empty_levels(); level++) {
    for (FileMetaData* file : version->level(level).Overlapping(begin, end)) {
      file->notes.marked_for_compaction = true;
    }
  }
  Schedule(family);
  return Status::OK();
}

// The flag cancels running plans. Then waits for calls that run a plan or wait for their turn.
void CompactionWork::DisableManual() {
  DbLock lock(&state_.mu);
  // DisableManual and EnableManual may be called in any order; each pair cancels out.
  if (++manual_disabled_ <= 0) return;
  manual_cancel_.store(true, std::memory_order_release);
  state_.work.SignalAll();
  // If a callback of a compaction makes this call, the compaction cannot end before the call
  // returns.
  if (ActiveWork::Find(ActiveWork::kCompaction, &lifecycle_) != nullptr) return;
  while (manual_working_ > 0 || tree_.AnyWaiting()) state_.work.Wait();
}

void CompactionWork::EnableManual() {
  DbLock lock(&state_.mu);
  if (--manual_disabled_ <= 0) manual_cancel_.store(false, std::memory_order_release);
}

}  // namespace varve
