// SPDX-License-Identifier: Apache-2.0

// Implements the queue of families that need compaction, and the execution of plans.

#include "db/background/compaction_work.h"

#include <algorithm>
#include <utility>

#include "db/background/compaction_participant.h"
#include "db/background/new_tables.h"
#include "db/background/work_paces.h"
#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/table_space.h"
#include "util/env/thread_registry.h"
#include "util/metrics/statistics.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// Maximum number of tables opened before one compaction.
constexpr size_t kTablesOpenedAtOnce = 64;

// Reserves the maximum of what a compaction may write, while the object lives.
class SpaceHold {
 public:
  // `space` may be null: then there is always space.
  SpaceHold(TableSpace* space, const CompactionPlan& plan)
      : space_(plan.trivial_move || plan.deletion_only ? nullptr : space),
        bytes_(plan.InputBytes()),
        fits_(space_ == nullptr || space_->Reserve(bytes_)) {}
  ~SpaceHold() {
    if (space_ != nullptr && fits_) space_->GiveBack(bytes_);
  }
  SpaceHold(const SpaceHold&) = delete;
  SpaceHold& operator=(const SpaceHold&) = delete;

  [[nodiscard]] bool fits() const { return fits_; }

 private:
  TableSpace* const space_;
  const uint64_t bytes_;
  const bool fits_;
};

Status NoRoomFor(const CompactionPlan& plan) {
  return Status::CompactionTooLarge(
      "compaction: it may write " + std::to_string(plan.InputBytes()) +
      " bytes, and SstFileManager::SetMaxAllowedSpaceUsage leaves less");
}

// Returns the family's limiter. A dropped family has none, as it only has to leave the queue.
std::shared_ptr<ConcurrentTaskLimiter> LimiterOf(const ColumnFamily& family) {
  return family.dropped() ? nullptr : family.options()->compaction_thread_limiter;
}

// True if the limiter makes the family wait. It then stays in the queue; the timer asks again when
// it is woken.
bool MustWaitForOthers(const ColumnFamily& family) {
  const std::shared_ptr<ConcurrentTaskLimiter> limiter = LimiterOf(family);
  return limiter != nullptr && TaskLimiterOf(limiter.get())->MustWait();
}

}  // namespace

CompactionWork::CompactionWork(const Parts& parts)
    : context_(parts.context),
      dynamic_(parts.dynamic),
      state_(parts.state),
      lifecycle_(parts.lifecycle),
      errors_(parts.errors),
      stalls_(parts.stalls),
      tree_(parts.tree),
      statistics_(parts.statistics),
      flusher_(parts.flusher),
      purger_(parts.purger) {}

void CompactionWork::Schedule(ColumnFamily* family) {
  Enqueue(family);
  Dispatch();
}

void CompactionWork::Enqueue(ColumnFamily* family) {
  state_.mu.AssertHeld();
  if (!context_.read_only() && !family->dropped() && !family->compaction_queued) {
    const auto options = family->options();
    if (CompactsUnasked(*options) &&
        NeedsCompaction(*family->current(), family->shape(), *options)) {
      queue_.push_back(family->shared_from_this());
      family->compaction_queued = true;
    }
  }
}

void CompactionWork::ScheduleAll() {
  state_.mu.AssertHeld();
  for (const auto& [id, family] : state_.families.all()) Enqueue(family.get());
  Dispatch();
}

bool CompactionWork::Busy() const {
  return Running() > 0 || !queue_.empty() || tree_.AnyWaiting();
}

void CompactionWork::NoteSnapshotsGone() {
  DbLock lock(&state_.mu);
  if (context_.read_only() || lifecycle_.closed()) return;
  BestEffort([this] {
    state_.mu.AssertHeld();
    ScheduleDue();
  });
}

uint64_t CompactionWork::ScheduleDue() {
  state_.mu.AssertHeld();
  int64_t now = 0;
  if (!context_.clock()->GetCurrentTime(&now).ok()) now = 0;
  const bool asks_again = ask_again_at_ != 0 && static_cast<uint64_t>(now) >= ask_again_at_;
  if (asks_again) ask_again_at_ = 0;
  uint64_t next_due = ask_again_at_ != 0 ? ask_again_at_ : UINT64_MAX;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->dropped()) continue;
    const DueFiles& due = family->shape().due;
    const bool aged = now > 0 && due.next_due <= static_cast<uint64_t>(now);
    // Families that still wait for a snapshot must ask again.
    if (aged || asks_again || due.waits_for_snapshot != kMaxSequenceNumber) {
      family->MeasureShape();
      Enqueue(family.get());
    }
    next_due = std::min(next_due, family->shape().due.next_due);
  }
  Dispatch();
  return next_due;
}

bool CompactionWork::MayRunAutomatic() const {
  return !lifecycle_.shutting_down() && errors_.state().severity() == ErrorState::Severity::kNone;
}

bool CompactionWork::MayPlanFor(const ColumnFamily& family) const {
  return tree_.MayPlan(TreeAdmission::Participant(TreeAdmission::Kind::kJob, &family));
}

void CompactionWork::Dispatch() {
  if (!MayRunAutomatic()) return;
  const int limit = dynamic_.MaxCompactions();
  int waiting = scheduled_ - running_;
  for (const auto& family : queue_) {
    if (scheduled_ >= limit) return;
    if (!MayPlanFor(*family) || MustWaitForOthers(*family)) continue;
    if (waiting-- > 0) continue;
    context_.env()->Schedule(&CompactionWork::RunOne, this, Env::Priority::LOW, this);
    scheduled_++;  // the job takes mu before it decrements this
  }
}

void CompactionWork::CancelScheduledJobs() {
  state_.mu.AssertHeld();
  scheduled_ -= context_.env()->UnSchedule(this, Env::Priority::LOW);
  VARVE_ASSERT(scheduled_ >= running_);
}

std::shared_ptr<ColumnFamily> CompactionWork::TakeRunnable(TaskSlot* slot) {
  if (!MayRunAutomatic()) return nullptr;
  const auto at = std::find_if(queue_.begin(), queue_.end(), [&](const auto& family) {
    state_.mu.AssertHeld();
    return MayPlanFor(*family) && slot->Take(LimiterOf(*family), /*force=*/false);
  });
  if (at == queue_.end()) return nullptr;
  std::shared_ptr<ColumnFamily> family = std::move(*at);
  queue_.erase(at);
  VARVE_ASSERT(family->compaction_queued);
  family->compaction_queued = false;
  return family;
}

void CompactionWork::RunOne(void* work) {
  static_cast<CompactionWork*>(work)->BackgroundCompaction();
}

void CompactionWork::BackgroundCompaction() {
  const ActiveWork active(ActiveWork::kCompaction, &lifecycle_, "a compaction");
  DbLock lock(&state_.mu);
  running_++;
  TaskSlot slot;
  if (std::shared_ptr<ColumnFamily> family = TakeRunnable(&slot)) {
    Report(RunAutomatic(family));
    slot.Release();
    // With the last reference to a dropped family its tables become obsolete.
    family.reset();
    Report(Guarded([this] {
      state_.mu.AssertHeld();
      purger_.Purge();
      NoteEndOfJob();
    }));
  }
  if (pressure_ != nullptr) pressure_->TellAfterCompaction();
  VARVE_ASSERT(running_ > 0 && scheduled_ >= running_);
  running_--;
  scheduled_--;
  Report(Guarded([this] {
    state_.mu.AssertHeld();
    Dispatch();
  }));
  state_.work.SignalAll();
}

void CompactionWork::Report(const Status& s) {
  if (s.ok() || lifecycle_.shutting_down()) return;
  errors_.Report(s, BackgroundErrorReason::kCompaction);
}

CompactionWork::PlanningView CompactionWork::PlanningViewOf(const ColumnFamily& family) {
  auto options = family.options();
  // Measured in this hold: marks since the last super-version change the scores, and making that
  // super-version may have failed.
  LevelShape shape = family.ComputeShape();
  return {family.current(), std::move(shape), std::move(options), family.running_compactions};
}

// Skips a table that cannot be opened now; the reader that needs it reports the error.
bool CompactionWork::OpenTombstones(ColumnFamily* family) {
  const ObsoleteFileQueue::LeaveOpen leave_open;  // this may hold the last reference
  const VersionRef version = family->current();
  std::vector<std::pair<int, FileRef>> files;
  for (const CoveredFile& file : family->shape().due.unopened) {
    if (files.size() == kTablesOpenedAtOnce) break;
    if (file.index >= version->level(file.level).size()) continue;
    files.emplace_back(file.level, version->level(file.level).files()[file.index]);
  }
  if (files.empty()) return false;
  bool opened = false;
  {
    const std::shared_ptr<TableCache> tables = family->shared_table_cache();
    DbUnlock unlock(&state_.mu);
    for (const auto& [level, file] : files) {
      if (lifecycle_.shutting_down()) break;
      TableRef table;
      opened |= tables->Find(file.get(), level, ReadOptions(), &table).ok();
    }
    files.clear();
  }
  // Also updates the snapshot to wait for, which is known only now.
  if (opened && !family->dropped()) family->MeasureShape();
  return opened;
}

Status CompactionWork::RunAutomatic(const std::shared_ptr<ColumnFamily>& family) try {
  const bool opened = OpenTombstones(family.get());
  if (family->dropped()) return Status::OK();
  Participant job(this, TreeAdmission::Kind::kJob, family.get());
  if (!MayRunAutomatic() || !job.Ask()) {
    Schedule(family.get());  // it has left the queue
    return Status::OK();
  }
  // The plan usually holds the last reference to its inputs.
  const ObsoleteFileQueue::LeaveOpen leave_open;
  std::unique_ptr<CompactionPlan> plan;
  {
    const PlanningView view = PlanningViewOf(*family);
    if (!CompactsUnasked(*view.options)) return Status::OK();
    plan = PickCompaction(view.version, view.shape, *view.options, view.running);
  }
  if (plan == nullptr) {
    if (opened) Schedule(family.get());  // there may be more to open
    return Status::OK();
  }
  if (plan->start_level == 0) plan->max_subcompactions = dynamic_.current()->max_subcompactions;
  CompactionResult result;
  CompactionPace pace(context_.clock(), lifecycle_, state_.work);
  RunControl control;
  if (context_.options().background_gives_way) control.pace = &pace;
  const Status s = RunPlan(&job, std::move(plan), control, &result);
  statistics_.CountPauses(pace);
  // It was postponed for lack of space.
  if (s.IsColumnFamilyDropped() || s.IsCompactionTooLarge()) return Status::OK();
  return s;
} catch (...) {
  return CaughtException();
}

CompactionContext CompactionWork::MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                              const RunControl& control) const {
  CompactionContext context;
  context.icmp = &family->icmp();
  context.options = family->options();
  context.table_cache = family->shared_table_cache();
  context.snapshots = state_.snapshots.Pinned(&context.conflict_check_floor);
  context.history = {family->versions()->full_history_ts_low, control.trim_ts};
  context.output =
      MakeTableOutputContext(context_, dynamic_, *family, *context.options, Env::IO_LOW);
  context.output.path_id = plan.output.path_id;
  context.build = MakeTableBuildOptions(context_, state_.versions->db_id(), *family,
                                        *context.options, plan.output_level);
  context.new_file_number = [this] {
    if (VARVE_CANARY(kReuseFileNumber)) return state_.versions->next_file_number() - 1;
    return state_.versions->NewFileNumber();
  };
  context.cancel = control.cancel;
  context.cancel.closing = &lifecycle_.shutting_down_flag();
  context.statistics = context_.statistics();
  context.info_log = context_.info_log();
  context.env = context_.env();
  context.family_name = family->name();
  context.checks = {context_.options().enforce_single_del_contracts,
                    context_.options().compaction_verify_record_count,
                    context_.options().allow_data_in_errors};
  return context;
}

// Does everything that needs no lock: reads, merges, writes.
Status CompactionWork::Execute(ColumnFamily* family, const CompactionPlan& plan,
                               const RunControl& control, int job_id,
                               CompactionResult* result) try {
  CompactionContext context = MakeContext(family, plan, control);
  context.output.on_create = events::TableFileCreationStarted(context_, family->name(), job_id,
                                                              TableFileCreationReason::kCompaction);
  if (events::Wanted(context_)) {
    context.on_subcompaction = [&, job_id](const Subcompaction& sub) {
      NotifyOfSubcompaction(*family, plan, job_id, sub);
    };
  }
  DbUnlock unlock(&state_.mu);
  LogInfo(context_.info_log(), "[%s] [JOB %d] compacting %s (%s, score %.2f, %llu bytes)",
          family->name().c_str(), job_id, plan.DebugString().c_str(),
          GetCompactionReasonString(plan.reason), plan.score,
          static_cast<unsigned long long>(plan.InputBytes()));
  if (events::Wanted(context_)) {
    events::CompactionBegin(context_, MakeInfo(*family, plan, CompactionResult(), job_id));
  }
  if (plan.trivial_move || plan.deletion_only) return Status::OK();
  {
    const GiveWay at_pace(control.pace);
    VARVE_RETURN_IF_ERROR(RunCompaction(plan, context, result));
  }
  if (events::Wanted(context_)) NotifyCreated(*family, job_id, *result);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Calls that follow the inputs will follow the outputs. Runs before these are in force: if memory
// is out, nothing has changed, and tables that were never installed do no harm.
void CompactionWork::NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                                  const CompactionResult& result, const RunControl& control,
                                  int job_id) {
  if (followed_.empty() || plan.trivial_move) return;
  Remainder::Work work;
  work.job_id = job_id;
  work.bottommost = plan.bottommost;
  work.in_place = plan.start_level == plan.output_level && plan.output_level > 0;
  work.trim_ts = control.trim_ts;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) work.inputs.push_back(file->number);
  }
  for (const NewFile& file : result.outputs) work.outputs.push_back(file.number);
  for (Followed* call : followed_) call->Note(family, work);
}

Status CompactionWork::Install(ColumnFamily* family, const CompactionPlan& plan,
                               const CompactionResult& result) {
  if (family->dropped()) return Status::ColumnFamilyDropped("compaction", family->name());
  VersionEdit edit;
  edit.column_family = family->id();
  FillCompactionEdit(plan, result, &edit);
  return state_.versions->LogAndApply({FamilyEdit{family->versions(), {&edit}}},
                                      context_.directory());
}

// Space may become available without notice, by another database or a raised limit. So the plan is
// retried every second, as writers may wait for this compaction.
Status CompactionWork::PutOff(ColumnFamily* family, const CompactionPlan& plan) {
  RecordTick(context_.statistics(), COMPACTION_CANCELLED);
  int64_t now = 0;
  if (context_.clock()->GetCurrentTime(&now).ok() && now > 0) {
    ask_again_at_ = static_cast<uint64_t>(now) + 1;
    timer_->Wake();
  }
  if (plan.is_manual && !family->dropped()) GoOnAfterCall(family);
  return NoRoomFor(plan);
}

// Success of compactions of other families or levels does not prove that the failed one works.
void CompactionWork::NoteSuccess(ColumnFamily* family, const CompactionPlan& plan) {
  if (!errors_.state().on_trial()) return;
  if (family->failed_compaction_level == plan.start_level) family->failed_compaction_level = -1;
  const bool others = std::ranges::any_of(state_.families.all(), [](const auto& each) {
    AssumeDbMutexHeld();
    return !each.second->dropped() && each.second->failed_compaction_level >= 0;
  });
  if (!others) errors_.NoteCompactionsWork();
}

// The first failure since compactions worked clears earlier ones.
void CompactionWork::NoteFailure(ColumnFamily* family, const CompactionPlan& plan) {
  if (errors_.state().soft_error().ok()) {
    for (const auto& [id, each] : state_.families.all()) each->failed_compaction_level = -1;
  }
  family->failed_compaction_level = plan.start_level;
}

// The failed compaction may not be needed any more: if this was the last one that was due, all that
// are due have succeeded.
void CompactionWork::NoteEndOfJob() {
  if (errors_.state().awaits_resume()) stalls_.WakeStopped();
  if (Working() == 1 && queue_.empty() && ask_again_at_ == 0) errors_.NoteCompactionsWork();
}

void CompactionWork::GoOnAfterCall(ColumnFamily* family) {
  Guarded([&] {
    state_.mu.AssertHeld();
    family->MeasureShape();
    Schedule(family);
  }).PermitUncheckedError();
}

// The purge that deletes them reports this number to listeners.
void CompactionWork::NoteJobOfInputs(const CompactionPlan& plan, int job_id) {
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) file->notes.last_job = job_id;
  }
}

void CompactionWork::CountRun(ColumnFamily* family, const CompactionPlan& plan,
                              const CompactionResult& result) {
  uint64_t at_level = 0;
  for (const CompactionInputLevel& input : plan.inputs) {
    if (input.level != plan.output_level || plan.start_level == plan.output_level) continue;
    for (const FileRef& file : input.files) at_level += file->size;
  }
  LevelWork work;
  work.count = 1;
  if (plan.trivial_move) work.bytes_moved = plan.InputBytes();
  work.bytes_read_at_level = std::min(at_level, result.bytes_read);
  work.bytes_read_above = result.bytes_read - work.bytes_read_at_level;
  work.bytes_written = result.bytes_written;
  work.micros = result.micros;
  work.cpu_micros = result.cpu_micros;
  work.entries_in = result.entries_in;
  work.entries_dropped = result.entries_dropped_obsolete + result.entries_dropped_by_filter;
  family->work.Level(plan.output_level).Add(work);
}

Status CompactionWork::RunPlan(Participant* participant, std::unique_ptr<CompactionPlan> plan,
                               const RunControl& control, CompactionResult* result) {
  state_.mu.AssertHeld();
  ColumnFamily* const family = participant->family();
  VARVE_ASSERT(!plan->inputs.empty() && plan->output_level < family->current()->num_levels());
  const int job_id = state_.NextJobId();
  const SpaceHold space(context_.table_space(), *plan);
  if (!space.fits()) return PutOff(family, *plan);
  TaskSlot slot;  // an automatic job has its slot already
  if (plan->is_manual) slot.Take(LimiterOf(*family), /*force=*/true);
  ListedOperation listed(context_.options().enable_thread_tracking, ThreadStatus::OP_COMPACTION,
                         context_.given_name(), family->name());
  List(*plan, job_id, &listed);
  Status s;
  {
    const Step step(participant, plan.get());
    // Another thread may compact other files of the family meanwhile.
    Schedule(family);
    listed.Enter(ThreadStatus::STAGE_COMPACTION_RUN);
    s = Execute(family, *plan, control, job_id, result);
    listed.Enter(ThreadStatus::STAGE_COMPACTION_INSTALL);
    listed.Set(ThreadStatus::COMPACTION_BYTES_READ, result->bytes_read);
    listed.Set(ThreadStatus::COMPACTION_BYTES_WRITTEN, result->bytes_written);
    if (s.ok()) {
      s = Guarded([&] {
        state_.mu.AssertHeld();
        NoteForCalls(*family, *plan, *result, control, job_id);
        return Install(family, *plan, *result);
      });
      if (!s.ok()) DeleteNewTables(context_, &state_, *family, job_id, result->outputs);
    }
    if (s.ok()) {
      if (!plan->trivial_move) NoteJobOfInputs(*plan, job_id);
      for (const NewFile& file : result->outputs) context_.NoteTable(family->table_paths(), file);
      CountRun(family, *plan, *result);
    }
  }
  if (s.ok()) {
    OpenNewTables(&state_.mu, family, result->outputs);
    errors_.InstallSuperVersion(family).PermitUncheckedError();
    stalls_.Update();
    stalls_.Tell();
    Schedule(family);
    // Writes must stop, not only compactions.
    const Status room = result->outputs.empty() ? Status::OK() : context_.CheckSpace();
    if (!room.ok()) errors_.Report(room, BackgroundErrorReason::kFlush);
    NoteSuccess(family, *plan);
  } else if (plan->is_manual && !family->dropped()) {
    GoOnAfterCall(family);  // the error is returned to the caller only
  } else {
    NoteFailure(family, *plan);
  }
  {
    const int l0_files = family->shape().l0_files;
    // The plan may hold the last references to files, which are closed without the lock.
    DbUnlock unlock(&state_.mu);
    CompactionJobInfo info = MakeInfo(*family, *plan, *result, job_id);
    info.num_l0_files = l0_files;
    if (events::Wanted(context_) || control.info != nullptr) {
      BestEffort([&] { AddInputProperties(*family, *plan, &info); });
    }
    info.status = s;
    info.aborted = s.IsIncomplete() || s.IsShutdownInProgress();
    NotifyEnd(*family, *plan, *result, info);
    if (control.info != nullptr) *control.info = std::move(info);
    plan.reset();
  }
  state_.work.SignalAll();
  return s;
}

void CompactionWork::List(const CompactionPlan& plan, int job_id, ListedOperation* listed) {
  listed->Enter(ThreadStatus::STAGE_COMPACTION_PREPARE);
  listed->Set(ThreadStatus::COMPACTION_JOB_ID, static_cast<uint64_t>(job_id));
  listed->Set(
      ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL,
      static_cast<uint64_t>(plan.start_level) << 32 | static_cast<uint64_t>(plan.output_level));
  const uint64_t flags =
      (plan.is_manual ? 1u : 0u) | (plan.deletion_only ? 2u : 0u) | (plan.trivial_move ? 4u : 0u);
  listed->Set(ThreadStatus::COMPACTION_PROP_FLAGS, flags);
  listed->Set(ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES, plan.InputBytes());
}

CompactionJobInfo CompactionWork::MakeInfo(const ColumnFamily& family, const CompactionPlan& plan,
                                           const CompactionResult& result, int job_id) const {
  CompactionJobInfo info;
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.thread_id = context_.env()->GetThreadID();
  info.job_id = job_id;
  info.base_input_level = plan.start_level;
  info.output_level = plan.output_level;
  info.compaction_reason = plan.reason;
  info.compression = plan.output.compression;
  CompactionJobStats& stats = info.stats;
  stats.is_full_compaction = plan.TakesAll();
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      info.input_files.push_back(file->FileName());
      info.input_file_infos.push_back({level.level, file->number, 0});
      stats.num_input_files++;
      if (level.level == plan.output_level) stats.num_input_files_at_output_level++;
      if (plan.trivial_move) stats.num_input_files_trivially_moved++;
      stats.total_input_raw_key_bytes += file->counts().raw_key_bytes;
      stats.total_input_raw_value_bytes += file->counts().raw_value_bytes;
      stats.num_input_deletion_records += file->counts().deletions;
    }
  }
  if (plan.trivial_move) {
    // The outputs are the input tables, which were neither read nor written.
    info.output_files = info.input_files;
    for (const CompactionFileInfo& file : info.input_file_infos) {
      info.output_file_infos.push_back({plan.output_level, file.file_number, 0});
    }
    stats.num_output_files = info.output_files.size();
    stats.total_input_bytes = plan.InputBytes();
    stats.total_output_bytes = plan.InputBytes();
    return info;
  }
  VARVE_ASSERT(result.outputs.size() == result.output_properties.size());
  for (size_t i = 0; i < result.outputs.size(); i++) {
    const NewFile& file = result.outputs[i];
    info.output_files.push_back(family.table_paths().FileName(file));
    info.output_file_infos.push_back({file.level, file.number, 0});
    info.table_properties[info.output_files.back()] =
        std::make_shared<TableProperties>(result.output_properties[i]);
  }
  stats.elapsed_micros = result.micros;
  stats.cpu_micros = result.cpu_micros;
  stats.num_input_records = result.entries_in;
  stats.num_output_records = result.entries_out;
  stats.num_output_files = result.outputs.size();
  stats.total_input_bytes = result.bytes_in;
  stats.total_output_bytes = result.bytes_written;
  stats.num_records_replaced = result.entries_dropped_obsolete;
  stats.is_manual_compaction = plan.is_manual;
  stats.file_prepare_write_nanos = result.file_times.prepare;
  stats.file_write_nanos = result.file_times.write;
  stats.file_range_sync_nanos = result.file_times.range_sync;
  stats.file_fsync_nanos = result.file_times.sync;
  return info;
}

void CompactionWork::NotifyOfSubcompaction(const ColumnFamily& family, const CompactionPlan& plan,
                                           int job_id, const Subcompaction& sub) const {
  BestEffort([&] {
    SubcompactionJobInfo info;
    info.cf_id = family.id();
    info.cf_name = family.name();
    info.status = sub.status;
    info.thread_id = context_.env()->GetThreadID();
    info.job_id = job_id;
    info.subcompaction_job_id = static_cast<int>(sub.index);
    info.base_input_level = plan.start_level;
    info.output_level = plan.output_level;
    info.compaction_reason = plan.reason;
    info.compression = plan.output.compression;
    info.stats = sub.stats;
    sub.over ? events::SubcompactionCompleted(context_, info)
             : events::SubcompactionBegin(context_, info);
  });
}

// Skips tables that cannot be opened.
void CompactionWork::AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                        CompactionJobInfo* info) {
  const std::shared_ptr<TableCache> tables = family.shared_table_cache();
  size_t i = 0;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      TableRef table;
      if (tables->Find(file.get(), level.level, ReadOptions(), &table).ok()) {
        info->table_properties[info->input_files[i]] = table->properties();
      }
      i++;
    }
  }
}

void CompactionWork::NotifyEnd(const ColumnFamily& family, const CompactionPlan& plan,
                               const CompactionResult& result, const CompactionJobInfo& info) {
  if (info.status.ok()) {
    const char* what = plan.trivial_move ? "moved" : plan.deletion_only ? "deleted" : "compacted";
    LogInfo(context_.info_log(),
            "[%s] [JOB %d] %s %zu table(s) to L%d: %zu table(s), %llu bytes, %llu of %llu entries, "
            "%.3f s",
            family.name().c_str(), info.job_id, what, info.input_files.size(), plan.output_level,
            info.output_files.size(),
            static_cast<unsigned long long>(info.stats.total_output_bytes),
            static_cast<unsigned long long>(result.entries_out),
            static_cast<unsigned long long>(result.entries_in),
            static_cast<double>(result.micros) / 1e6);
  } else {
    LogWarn(context_.info_log(), "[%s] [JOB %d] compaction failed: %s", family.name().c_str(),
            info.job_id, info.status.ToString().c_str());
  }
  if (!events::Wanted(context_)) return;
  events::CompactionCompleted(context_, info);
}

// Must precede the installation: after that, other compactions may use and delete the tables.
void CompactionWork::NotifyCreated(const ColumnFamily& family, int job_id,
                                   const CompactionResult& result) const {
  for (size_t i = 0; i < result.outputs.size(); i++) {
    events::TableFileCreated(
        context_,
        events::DescribeNewTable(context_, family, job_id, TableFileCreationReason::kCompaction,
                                 result.outputs[i], result.output_properties[i]));
  }
}

}  // namespace varve
