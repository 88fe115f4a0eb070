// SPDX-License-Identifier: Apache-2.0

// The queue of families that want compaction, and the running of plans.

#include "db/background/compaction_work.h"

#include <algorithm>
#include <utility>

#include "db/background/compaction_party.h"
#include "db/background/events.h"
#include "db/background/obsolete_files.h"
#include "db/background/table_context.h"
#include "db/background/work_paces.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Before one compaction.
constexpr size_t kTablesOpenedAtOnce = 64;

}  // namespace

void CompactionWork::Schedule(ColumnFamily* family) {
  Enqueue(family);
  Dispatch();
}

void CompactionWork::Enqueue(ColumnFamily* family) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  if (!e.read_only && !family->dropped() && !family->compaction_queued) {
    const auto options = family->options();
    if (!options->disable_auto_compactions &&
        NeedsCompaction(*family->current(), family->shape(), *options)) {
      queue_.push_back(family->shared_from_this());
      family->compaction_queued = true;
    }
  }
}

void CompactionWork::ScheduleAll() {
  engine_->mu.AssertHeld();
  for (const auto& [id, family] : engine_->families.all()) Enqueue(family.get());
  Dispatch();
}

bool CompactionWork::Busy() const {
  return Running() > 0 || !queue_.empty() || engine_->tree.AnyWaiting();
}

void CompactionWork::NoteSnapshotsGone() {
  MutexLock lock(&engine_->mu);
  if (engine_->read_only || engine_->closed.load(std::memory_order_acquire)) return;
  BestEffort([this] { ScheduleDue(); });
}

uint64_t CompactionWork::ScheduleDue() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  int64_t now = 0;
  if (!e.clock->GetCurrentTime(&now).ok()) now = 0;
  uint64_t next_due = UINT64_MAX;
  for (const auto& [id, family] : e.families.all()) {
    if (family->dropped()) continue;
    const DueFiles& due = family->shape().due;
    const bool aged = now > 0 && due.next_due <= static_cast<uint64_t>(now);
    // Whoever still waits for a snapshot has to ask again.
    if (aged || due.waits_for_snapshot != kMaxSequenceNumber) {
      family->MeasureShape();
      Enqueue(family.get());
    }
    next_due = std::min(next_due, family->shape().due.next_due);
  }
  Dispatch();
  return next_due;
}

bool CompactionWork::MayRunAutomatic() const {
  const Engine& e = *engine_;
  return !e.shutting_down.load(std::memory_order_acquire) &&
         e.errors.severity() == ErrorState::Severity::kNone;
}

bool CompactionWork::MayPlanFor(const ColumnFamily& family) const {
  return engine_->tree.MayPlan(TreeAdmission::Party(TreeAdmission::Kind::kJob, &family));
}

void CompactionWork::Dispatch() {
  if (!MayRunAutomatic()) return;
  const int limit = MaxRunning();
  int waiting = scheduled_ - running_;
  for (const auto& family : queue_) {
    if (scheduled_ >= limit) return;
    if (!MayPlanFor(*family)) continue;
    if (waiting-- > 0) continue;
    engine_->env->Schedule(&CompactionWork::RunOne, this, Env::Priority::LOW, this);
    scheduled_++;  // the job takes mu before it counts itself off
  }
}

void CompactionWork::TakeBackJobs() {
  engine_->mu.AssertHeld();
  scheduled_ -= engine_->env->UnSchedule(this, Env::Priority::LOW);
}

// The next family in the queue of which a compaction may be planned in this hold.
std::shared_ptr<ColumnFamily> CompactionWork::TakeRunnable() {
  if (!MayRunAutomatic()) return nullptr;
  const auto at = std::find_if(queue_.begin(), queue_.end(),
                               [this](const auto& family) { return MayPlanFor(*family); });
  if (at == queue_.end()) return nullptr;
  std::shared_ptr<ColumnFamily> family = std::move(*at);
  queue_.erase(at);
  family->compaction_queued = false;
  return family;
}

void CompactionWork::RunOne(void* work) {
  static_cast<CompactionWork*>(work)->BackgroundCompaction();
}

void CompactionWork::BackgroundCompaction() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  running_++;
  if (std::shared_ptr<ColumnFamily> family = TakeRunnable()) {
    Report(RunAutomatic(family));
    // With the last share of a dropped family its tables become obsolete.
    family.reset();
    Report(Guarded([&e] { e.obsolete->Purge(); }));
  }
  running_--;
  scheduled_--;
  Report(Guarded([this] { Dispatch(); }));
  e.background_changed.SignalAll();
}

void CompactionWork::Report(const Status& s) {
  if (s.ok() || engine_->shutting_down.load(std::memory_order_acquire)) return;
  engine_->ReportError(s, BackgroundErrorReason::kCompaction);
}

CompactionWork::PlanGround CompactionWork::GroundOf(const ColumnFamily& family) {
  auto options = family.options();
  // Measured in this hold: marks and unmarks since the last super-version change the scores, and
  // making that may have failed.
  LevelShape shape = family.ComputeShape();
  return {family.current(), std::move(shape), std::move(options), family.running_compactions};
}

// What cannot be opened now is not looked into; who needs it will say so.
bool CompactionWork::OpenTombstones(ColumnFamily* family) {
  Engine& e = *engine_;
  const ObsoleteFileQueue::LeaveOpen leave_open;  // the last share may be this one
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
    MutexUnlock unlock(&e.mu);
    for (const auto& [level, file] : files) {
      if (e.shutting_down.load(std::memory_order_acquire)) break;
      TableRef table;
      opened |= tables->Find(file.get(), level, ReadOptions(), &table).ok();
    }
    files.clear();
  }
  // Also for those who wait for a snapshot to go: they are known only now.
  if (opened && !family->dropped()) family->MeasureShape();
  return opened;
}

Status CompactionWork::RunAutomatic(const std::shared_ptr<ColumnFamily>& family) try {
  Engine& e = *engine_;
  const bool opened = OpenTombstones(family.get());
  if (family->dropped()) return Status::OK();
  Party job(this, TreeAdmission::Kind::kJob, family.get());
  if (!MayRunAutomatic() || !job.Ask()) {
    Schedule(family.get());  // it has left the queue
    return Status::OK();
  }
  // The plan is the last that holds its inputs, as a rule.
  const ObsoleteFileQueue::LeaveOpen leave_open;
  std::unique_ptr<CompactionPlan> plan;
  {
    const PlanGround ground = GroundOf(*family);
    if (ground.options->disable_auto_compactions) return Status::OK();
    plan = PickCompaction(ground.version, ground.shape, *ground.options, ground.running);
  }
  if (plan == nullptr) {
    if (opened) Schedule(family.get());  // there may be more to open
    return Status::OK();
  }
  if (plan->start_level == 0) plan->max_subcompactions = e.dynamic->max_subcompactions;
  CompactionResult result;
  CompactionPace pace(&e);
  RunControl control;
  if (e.options.background_gives_way) control.pace = &pace;
  const Status s = RunPlan(&job, std::move(plan), control, &result);
  NotePauses(&e, pace);
  if (s.IsColumnFamilyDropped()) return Status::OK();
  return s;
} catch (...) {
  return CaughtException();
}

CompactionContext CompactionWork::MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                              const RunControl& control) const {
  Engine& e = *engine_;
  CompactionContext context;
  context.icmp = &family->icmp();
  context.options = family->options();
  context.table_cache = family->shared_table_cache();
  context.snapshots = e.snapshots.Pinned();
  context.full_history_ts_low = family->versions()->full_history_ts_low;
  context.trim_ts = control.trim_ts;
  context.output = MakeTableOutputContext(e, *context.options, Env::IO_LOW);
  context.build = MakeTableBuildOptions(e, *family, *context.options, plan.output_level);
  context.new_file_number = [&e] {
    if (VARVE_CANARY(kReuseFileNumber)) return e.versions->next_file_number() - 1;
    return e.versions->NewFileNumber();
  };
  context.cancelled = &e.shutting_down;
  context.manual_cancelled = control.manual_cancelled;
  context.user_cancelled = control.user_cancelled;
  context.statistics = e.statistics;
  context.info_log = e.info_log.get();
  context.env = e.env;
  context.family_name = family->name();
  context.enforce_single_del_contracts = e.options.enforce_single_del_contracts;
  context.verify_entry_count = e.options.compaction_verify_record_count;
  context.allow_data_in_errors = e.options.allow_data_in_errors;
  return context;
}

// Everything that needs no lock: reads, merges, writes.
Status CompactionWork::Execute(ColumnFamily* family, const CompactionPlan& plan,
                               const RunControl& control, int job_id,
                               CompactionResult* result) try {
  Engine& e = *engine_;
  const CompactionContext context = MakeContext(family, plan, control);
  MutexUnlock unlock(&e.mu);
  LogInfo(e.info_log.get(), "[%s] [JOB %d] compacting %s (%s, score %.2f, %llu bytes)",
          family->name().c_str(), job_id, plan.DebugString().c_str(),
          GetCompactionReasonString(plan.reason), plan.score,
          static_cast<unsigned long long>(plan.InputBytes()));
  if (events::Wanted(e)) {
    events::CompactionBegin(e, MakeInfo(*family, plan, CompactionResult(), job_id));
  }
  if (plan.trivial_move || plan.deletion_only) return Status::OK();
  const GiveWay at_pace(control.pace);
  return RunCompaction(plan, context, result);
} catch (...) {
  return CaughtException();
}

// What calls have to do with the inputs they will have to do with the outputs. Before these are in
// force: what fails for want of memory has changed nothing, and of tables that never come to be
// nobody asks.
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
  Engine& e = *engine_;
  if (family->dropped()) return Status::ColumnFamilyDropped("compaction", family->name());
  VersionEdit edit;
  edit.column_family = family->id();
  FillCompactionEdit(plan, result, &edit);
  return e.versions->LogAndApply({FamilyEdit{family->versions(), {&edit}}}, e.directory.get());
}

// Outputs that did not get into the MANIFEST. While it is not known whether they did, they stay.
void CompactionWork::RemoveOutputs(const CompactionResult& result) {
  Engine& e = *engine_;
  for (const NewFile& file : result.outputs) {
    e.fs->DeleteFile(TableFileName(e.name, file.number), IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

// Whoever deletes them tells listeners of that.
void CompactionWork::NoteJobOfInputs(const CompactionPlan& plan, int job_id) {
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) file->last_job = job_id;
  }
}

void CompactionWork::CountRun(const CompactionPlan& plan, const CompactionResult& result) {
  Engine& e = *engine_;
  const auto level = static_cast<size_t>(plan.output_level);
  if (e.level_stats.size() <= level) e.level_stats.resize(level + 1);
  LevelCompactionStats& stats = e.level_stats[level];
  stats.count++;
  if (plan.trivial_move) stats.bytes_moved += plan.InputBytes();
  stats.bytes_read += result.bytes_read;
  stats.bytes_written += result.bytes_written;
  stats.micros += result.micros;
  stats.entries_in += result.entries_in;
  stats.entries_dropped += result.entries_dropped_obsolete + result.entries_dropped_by_filter;
}

Status CompactionWork::RunPlan(Party* party, std::unique_ptr<CompactionPlan> plan,
                               const RunControl& control, CompactionResult* result) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  ColumnFamily* const family = party->family();
  const int job_id = e.NextJobId();
  Status s;
  {
    const Step step(party, plan.get());
    // Another thread may compact other files of the family meanwhile.
    Schedule(family);
    s = Execute(family, *plan, control, job_id, result);
    if (s.ok()) {
      s = Guarded([&] {
        NoteForCalls(*family, *plan, *result, control, job_id);
        return Install(family, *plan, *result);
      });
      if (!s.ok() && !e.versions->manifest_in_doubt()) {
        MutexUnlock unlock(&e.mu);
        RemoveOutputs(*result);
      }
    }
    if (s.ok()) {
      if (!plan->trivial_move) NoteJobOfInputs(*plan, job_id);
      CountRun(*plan, *result);
    }
  }
  if (s.ok()) {
    e.ShowChange(family).PermitUncheckedError();
    e.UpdateStalls();
    Schedule(family);
  } else if (plan->is_manual && !family->dropped()) {
    // A call that was given up has kept jobs from its files, and nobody is told of an error.
    Guarded([&] {
      family->MeasureShape();
      Schedule(family);
    }).PermitUncheckedError();
  }
  {
    const int l0_files = family->shape().l0_files;
    // The plan may hold the last share in files: they are closed without the lock.
    MutexUnlock unlock(&e.mu);
    CompactionJobInfo info = MakeInfo(*family, *plan, *result, job_id);
    info.num_l0_files = l0_files;
    if (events::Wanted(e) || control.info != nullptr) {
      BestEffort([&] { AddInputProperties(*family, *plan, &info); });
    }
    info.status = s;
    info.aborted = s.IsIncomplete() || s.IsShutdownInProgress();
    NotifyEnd(*family, *plan, *result, info);
    if (control.info != nullptr) *control.info = std::move(info);
    plan.reset();
  }
  e.background_changed.SignalAll();
  return s;
}

CompactionJobInfo CompactionWork::MakeInfo(const ColumnFamily& family, const CompactionPlan& plan,
                                           const CompactionResult& result, int job_id) const {
  const Engine& e = *engine_;
  CompactionJobInfo info;
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.thread_id = e.env->GetThreadID();
  info.job_id = job_id;
  info.base_input_level = plan.start_level;
  info.output_level = plan.output_level;
  info.compaction_reason = plan.reason;
  info.compression = plan.compression;
  CompactionJobStats& stats = info.stats;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      info.input_files.push_back(TableFileName(e.name, file->number));
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
    // The tables themselves, which nobody has read or written.
    info.output_files = info.input_files;
    for (const CompactionFileInfo& file : info.input_file_infos) {
      info.output_file_infos.push_back({plan.output_level, file.file_number, 0});
    }
    stats.num_output_files = info.output_files.size();
    stats.total_input_bytes = plan.InputBytes();
    stats.total_output_bytes = plan.InputBytes();
    return info;
  }
  for (size_t i = 0; i < result.outputs.size(); i++) {
    const NewFile& file = result.outputs[i];
    info.output_files.push_back(TableFileName(e.name, file.number));
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

// Those of a table that cannot be opened are left out.
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
  Engine& e = *engine_;
  if (info.status.ok()) {
    const char* what = plan.trivial_move ? "moved" : plan.deletion_only ? "deleted" : "compacted";
    LogInfo(e.info_log.get(),
            "[%s] [JOB %d] %s %zu table(s) to L%d: %zu table(s), %llu bytes, %llu of %llu entries, "
            "%.3f s",
            family.name().c_str(), info.job_id, what, info.input_files.size(), plan.output_level,
            info.output_files.size(),
            static_cast<unsigned long long>(info.stats.total_output_bytes),
            static_cast<unsigned long long>(result.entries_out),
            static_cast<unsigned long long>(result.entries_in),
            static_cast<double>(result.micros) / 1e6);
  } else {
    LogWarn(e.info_log.get(), "[%s] [JOB %d] compaction failed: %s", family.name().c_str(),
            info.job_id, info.status.ToString().c_str());
  }
  if (!events::Wanted(e)) return;
  for (size_t i = 0; i < result.outputs.size(); i++) {
    TableFileCreationInfo created;
    created.db_name = e.given_name;
    created.cf_name = family.name();
    created.file_path = info.output_files[i];
    created.job_id = info.job_id;
    created.reason = TableFileCreationReason::kCompaction;
    created.file_size = result.outputs[i].size;
    created.file_checksum = result.outputs[i].file_checksum;
    created.file_checksum_func_name = result.outputs[i].file_checksum_func_name;
    created.table_properties = result.output_properties[i];
    created.status = info.status;
    events::TableFileCreated(e, created);
  }
  events::CompactionCompleted(e, info);
}

}  // namespace varve
