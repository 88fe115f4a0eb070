// SPDX-License-Identifier: Apache-2.0

// Executes one compaction plan: runs it, installs its result, and reports the outcome.
//
// Invariants
// 1. While the Step exists, the inputs have being_compacted set, and the plan is among the running
//    ones: no other plan takes the files, or writes into its range.
// 2. A compaction that fails leaves the version as it was. A failed automatic one is a background
//    error; the error of a call is only returned to the caller.
// 3. If there is no space for a plan (SstFileManager), that is not a failure: it is retried a
//    second later.

#include <algorithm>
#include <utility>

#include "db/background/compaction_participant.h"
#include "db/background/compaction_work.h"
#include "db/background/new_tables.h"
#include "db/background/work_paces.h"
#include "db/compaction/blob_output.h"
#include "db/compaction/blob_work.h"
#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"
#include "util/env/table_space.h"
#include "util/env/thread_registry.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Time after which a plan for which there was no space is retried.
constexpr uint64_t kAskAgainMicros = 1000 * 1000;

// Returns an upper bound of the bytes that the compaction may write to tables and blob files.
uint64_t MostBytesWritten(const ColumnFamily& family, const CompactionPlan& plan) {
  const auto options = family.options();
  const bool persists_timestamps =
      options->persist_user_defined_timestamps || family.icmp().timestamp_size() == 0;
  return plan.InputBytes() + MostBlobBytes(BlobPolicyOf(*options, plan, persists_timestamps), plan);
}

// Reserves, while the object lives, the bytes that a compaction may write at most.
class SpaceHold {
 public:
  // With a null `space` there is always space.
  SpaceHold(TableSpace* space, const ColumnFamily& family, const CompactionPlan& plan)
      : space_(plan.trivial_move || plan.deletion_only ? nullptr : space),
        bytes_(space_ == nullptr ? 0 : MostBytesWritten(family, plan)),
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

Status NoRoomFor(const ColumnFamily& family, const CompactionPlan& plan) {
  return Status::CompactionTooLarge(
      "compaction: it may write " + std::to_string(MostBytesWritten(family, plan)) +
      " bytes, and SstFileManager::SetMaxAllowedSpaceUsage leaves less");
}

}  // namespace

// State that may change while the job runs is passed as flags and functions; the rest is copied
// now, under the mutex.
CompactionContext CompactionWork::MakeContext(ColumnFamily* family, const CompactionPlan& plan,
                                              const RunControl& control) const {
  CompactionContext context;
  context.icmp = &family->icmp();
  context.options = family->options();
  context.table_cache = family->shared_table_cache();
  // Later snapshots need not be known: they see the newest entries, which are kept in any case.
  context.snapshots = state_.snapshots.Pinned(&context.conflict_check_floor);
  context.history = {family->versions()->full_history_ts_low, control.trim_ts};
  context.output =
      MakeTableOutputContext(context_, dynamic_, *family, *context.options, Env::IO_LOW);
  context.output.path_id = plan.output.path_id;
  context.output.file_options.temperature = plan.output.temperature;
  context.build = MakeTableBuildOptions(context_, state_.versions->db_id(), *family,
                                        *context.options, plan.output_level);
  context.new_file_number = [this] {
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    if (VARVE_CANARY(kReuseFileNumber)) return state_.versions->next_file_number() - 1;
    return state_.versions->NewFileNumber();
  };
  context.cancel = control.cancel;
  context.cancel.closing = &lifecycle_.shutting_down_flag();
  context.statistics = context_.statistics();
  context.info_log = context_.info_log();
  context.family_name = family->name();
  context.checks = {context_.options().enforce_single_del_contracts,
                    context_.options().compaction_verify_record_count,
                    context_.options().allow_data_in_errors};
  return context;
}

// Runs the plan without the mutex: reads, merges and writes.
Status CompactionWork::Execute(ColumnFamily* family, const CompactionPlan& plan,
                               const RunControl& control, int job_id,
                               CompactionResult* result) try {
  CompactionContext context = MakeContext(family, plan, control);
  context.output.on_create = events::TableFileCreationStarted(context_, family->name(), job_id,
                                                              TableFileCreationReason::kCompaction);
  context.output.on_create_blobs = events::BlobFileCreationStarted(
      context_, family->name(), job_id, BlobFileCreationReason::kCompaction);
  if (events::Wanted(context_)) {
    context.on_subcompaction = [&, job_id](const Subcompaction& sub) {
      reports_.OfSubcompaction(*family, plan, job_id, sub);
    };
  }
  DbUnlock unlock(&state_.mu);
  reports_.Begin(*family, plan, job_id);
  // A plan that moves or deletes whole files is only an edit: no file is read.
  if (plan.trivial_move || plan.deletion_only) return Status::OK();
  {
    const GiveWay at_pace(control.pace);
    VARVE_RETURN_IF_ERROR(RunCompaction(plan, context, result));
  }
  reports_.Written(*family, job_id, *result);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Lets calls that follow the inputs follow the outputs instead. Runs before the installation, so
// that an allocation failure changes nothing; if the installation fails, following tables that do
// not exist is harmless.
void CompactionWork::NoteForCalls(const ColumnFamily& family, const CompactionPlan& plan,
                                  const CompactionResult& result, const RunControl& control,
                                  int job_id) {
  if (followed_.empty() || plan.trivial_move) return;
  Remainder::Work work;
  work.job_id = job_id;
  work.bottommost = plan.bottommost;
  work.in_place = plan.IsInPlace();
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

// Space may become available without notification, through another database or a raised limit, so
// the plan is retried every second.
Status CompactionWork::PutOff(ColumnFamily* family, const CompactionPlan& plan) {
  RecordTick(context_.statistics(), COMPACTION_CANCELLED);
  // Uses the monotonic clock, as the wall clock may be set back.
  ask_again_at_ = context_.MonotonicMicros() + kAskAgainMicros;
  timer_->Wake();
  // An automatic plan is picked again at that time (ScheduleDue). A call ends with this error, and
  // automatic jobs take over its files now.
  if (plan.is_manual && !family->dropped()) GoOnAfterCall(family);
  return NoRoomFor(*family, plan);
}

// Dropped records become garbage with the present version. Files that this version lacks are
// deleted as a whole.
void CompactionWork::NoteDroppedRecords(const ColumnFamily& family, CompactionResult* result) {
  const Version& version = *family.current();
  for (auto& [number, records] : result->dropped_records) {
    const BlobFileState* const file = version.blob_files().Find(number);
    if (file == nullptr) continue;
    state_.blob_holes.Add(family.id(), file->blobs, version.version_number(), std::move(records));
  }
  result->dropped_records.clear();
}

// Only the success of a compaction of the same family and level shows that the failed one works
// again.
void CompactionWork::NoteSuccess(ColumnFamily* family, const CompactionPlan& plan) {
  if (!errors_.state().on_trial()) return;
  if (family->failed_compaction_level == plan.start_level) family->failed_compaction_level = -1;
  const bool others = std::ranges::any_of(state_.families.all(), [](const auto& each) {
    AssumeDbMutexHeld();
    return !each.second->dropped() && each.second->failed_compaction_level >= 0;
  });
  if (!others) errors_.NoteCompactionsWork();
}

// The first failure of a new error clears the levels of earlier failures.
void CompactionWork::NoteFailure(ColumnFamily* family, const CompactionPlan& plan) {
  if (errors_.state().soft_error().ok()) {
    for (const auto& [id, each] : state_.families.all()) each->failed_compaction_level = -1;
  }
  family->failed_compaction_level = plan.start_level;
}

void CompactionWork::GoOnAfterCall(ColumnFamily* family) {
  Guarded([&] {
    state_.mu.AssertHeld();
    family->MeasureShape();
    Schedule(family);
  }).PermitUncheckedError();
}

// The deletion of the files is reported to listeners with this number.
void CompactionWork::NoteJobOfInputs(const CompactionPlan& plan, int job_id) {
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) file->notes.last_job = job_id;
  }
}

// The bytes that were read are counted separately for the output level and for the levels above it.
// All bytes of a plan within one level count as those of levels above. The job may have read less
// than the files have, so the sum of their sizes is only a limit of what is counted at the level.
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
  work.blob_bytes_read = result.blob_bytes_read;
  work.blob_bytes_written = BytesOf(result.blob_files);
  work.micros = result.micros;
  work.cpu_micros = result.cpu_micros;
  work.entries_in = result.entries_in;
  work.entries_dropped = result.entries_dropped_obsolete + result.entries_dropped_by_filter;
  family->work.Level(plan.output_level).Add(work);
  Statistics* const statistics = context_.statistics();
  if (plan.reason == CompactionReason::kFIFOMaxSize) {
    RecordTick(statistics, FIFO_MAX_SIZE_COMPACTIONS);
  } else if (plan.reason == CompactionReason::kFIFOTtl) {
    RecordTick(statistics, FIFO_TTL_COMPACTIONS);
  } else if (plan.reason == CompactionReason::kChangeTemperature) {
    RecordTick(statistics, FIFO_CHANGE_TEMPERATURE_COMPACTIONS);
  }
}

// Reserves the space, marks the inputs (Step), writes (Execute), installs and unmarks; then makes
// the new version visible to readers, queues the family again, and notifies listeners. An error
// before the installation leaves the tree unchanged; Execute deletes its own outputs, and outputs
// that could not be installed are deleted here.
Status CompactionWork::RunPlan(Participant* participant, std::unique_ptr<CompactionPlan> plan,
                               const RunControl& control, CompactionResult* result) {
  state_.mu.AssertHeld();
  ColumnFamily* const family = participant->family();
  VARVE_ASSERT(!plan->inputs.empty() && plan->output_level < family->current()->num_levels());
  const int job_id = state_.NextJobId();
  // Space is reserved before anything is written, so that two compactions cannot both use the same
  // bytes.
  const SpaceHold space(context_.table_space(), *family, *plan);
  if (!space.fits()) return PutOff(family, *plan);
  TaskSlot slot;  // automatic jobs have one already
  if (plan->is_manual) slot.Take(LimiterOf(*family), /*force=*/true);
  ListedOperation listed(context_.options().enable_thread_tracking, ThreadStatus::OP_COMPACTION,
                         context_.given_name(), family->name());
  CompactionReports::List(*plan, job_id, &listed);
  Status s;
  {
    // The step must end before super-versions are installed and others plan, which must not see the
    // inputs as marked.
    const Step step(participant, plan.get());
    // Another thread may compact other files of the family meanwhile.
    Schedule(family);
    listed.Enter(ThreadStatus::STAGE_COMPACTION_RUN);
    VARVE_PROBE_COMPACTION_BEGIN(family->name().c_str(), job_id, plan->start_level,
                                 plan->output_level, plan->reason);
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
      if (!s.ok()) {
        // No version has the outputs, so nothing else would delete them.
        DeleteNewTables(context_, &state_, *family, job_id, result->outputs);
        DeleteNewTables(context_, &state_, *family, job_id, AsDataFiles(result->blob_files));
      }
    }
    if (s.ok()) {
      if (!plan->trivial_move) NoteJobOfInputs(*plan, job_id);
      for (const NewFile& file : result->outputs) context_.NoteTable(family->table_paths(), file);
      for (const NewFile& blobs : AsDataFiles(result->blob_files)) {
        context_.NoteTable(family->table_paths(), blobs);
      }
      CountRun(family, *plan, *result);
      BestEffort([&] {
        state_.mu.AssertHeld();
        NoteDroppedRecords(*family, result);
      });
    }
    VARVE_PROBE_COMPACTION_END(family->name().c_str(), job_id, result->bytes_read,
                               result->bytes_written, s);
  }
  if (s.ok()) {
    OpenNewTables(&state_.mu, family, result->outputs);
    errors_.InstallSuperVersion(family).PermitUncheckedError();
    stalls_.Update();
    stalls_.Tell();
    Schedule(family);
    // At the space limit writes must stop, and not only compactions.
    const Status room = result->outputs.empty() ? Status::OK() : context_.CheckSpace();
    if (!room.ok()) errors_.Report(room, BackgroundErrorReason::kFlush);
    NoteSuccess(family, *plan);
  } else if (plan->is_manual && !family->dropped()) {
    GoOnAfterCall(family);  // the error is returned to the caller only
  } else {
    NoteFailure(family, *plan);
  }
  {
    const std::vector<uint64_t> files = family->current()->FileCounts();
    // The plan may hold the last references to files, which must be closed without the mutex.
    DbUnlock unlock(&state_.mu);
    CompactionJobInfo info = reports_.Describe(*family, *plan, *result, job_id);
    info.num_l0_files = static_cast<int>(files.front());
    if (events::Wanted(context_) || control.info != nullptr) {
      BestEffort([&] { CompactionReports::AddInputProperties(*family, *plan, &info); });
    }
    info.status = s;
    info.aborted = s.IsIncomplete() || s.IsShutdownInProgress();
    reports_.End(*family, *plan, *result, info, files);
    if (control.info != nullptr) *control.info = std::move(info);
    plan.reset();
  }
  state_.work.SignalAll();
  return s;
}

}  // namespace varve
