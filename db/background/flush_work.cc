// SPDX-License-Identifier: Apache-2.0
#include "db/background/flush_work.h"

#include <algorithm>
#include <utility>

#include "db/background/new_tables.h"
#include "db/background/short_jobs.h"
#include "db/background/work_paces.h"
#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/thread_registry.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Interval at which WaitForRoom checks again without a signal.
constexpr uint64_t kRoomPollMicros = 50 * 1000;
constexpr uint64_t kRestAfterFailureMicros = 1000 * 1000;
// Interval at which callers that wait for a flush check if its pool still has threads.
constexpr uint64_t kPoolPollMicros = 100 * 1000;

MemTableInfo DescribeMemTable(const ColumnFamily& family) {
  const MemTable& mem = *family.mem();
  MemTableInfo info;
  info.cf_name = family.name();
  info.first_seqno = mem.first_seq();
  info.earliest_seqno = mem.earliest_seq();
  info.num_entries = mem.entry_count();
  info.num_deletes = mem.deletion_count();
  return info;
}

}  // namespace

// One family's part of a job.
struct FlushWork::FamilyFlush {
  std::shared_ptr<ColumnFamily> family;
  FlushInput input;
  FlushResult result;
  VersionEdit edit;
  int job_id = 0;
  bool in_force = false;  // true: the table, if there is one, is in the MANIFEST
  FillingMemTable filling;
  uint64_t micros = 0;  // time of writing the table
};

namespace {

// True if the only reason is a full memtable.
bool IsOfFullMemTable(FlushReason reason) {
  return reason == FlushReason::kWriteBufferFull ||
         reason == FlushReason::kMemtableMaxRangeDeletions;
}

// True if no caller waits for the end of the job, for example for memory.
bool NobodyWaits(FlushReason reason) {
  return IsOfFullMemTable(reason) || reason == FlushReason::kWalFull;
}

// The tickers of a reason: for each table's flush, and for each job that flushes families together.
struct ReasonTickers {
  FlushReason reason;
  Tickers of_flush;
  Tickers of_atomic;
};
constexpr ReasonTickers kReasonTickers[] = {
    {FlushReason::kWriteBufferFull, FLUSH_REASON_WRITE_BUFFER_FULL,
     ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL},
    {FlushReason::kWriteBufferManager, FLUSH_REASON_WRITE_BUFFER_MANAGER,
     ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER},
    {FlushReason::kMemtableMaxRangeDeletions, FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
     ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS},
};

void CountAtomicJob(Statistics* statistics, FlushReason reason) {
  for (const ReasonTickers& row : kReasonTickers) {
    if (row.reason == reason) return RecordTick(statistics, row.of_atomic);
  }
  RecordTick(statistics, ATOMIC_FLUSH_REQUEST_REASON_OTHER);
}

}  // namespace

FlushWork::FlushWork(const Parts& parts)
    : context_(parts.context),
      dynamic_(parts.dynamic),
      state_(parts.state),
      lifecycle_(parts.lifecycle),
      errors_(parts.errors),
      stalls_(parts.stalls),
      log_gate_(parts.log_gate),
      new_logs_(parts.new_logs),
      tree_(parts.tree),
      statistics_(parts.statistics),
      purger_(parts.purger),
      reserve_(parts.reserve),
      order_changed_(&parts.state.mu) {}

FlushWork::~FlushWork() {
  context_.write_buffer_manager()->Leave(this);
}

Status FlushWork::SwitchMemTables(const std::vector<ColumnFamily*>& families) {
  state_.mu.AssertHeld();
  const bool any = std::any_of(families.begin(), families.end(),
                               [](ColumnFamily* f) { return !f->dropped() && !f->mem()->Empty(); });
  if (!any) return Status::OK();
  Status s = new_logs_.Start(/*force=*/false);
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  const uint64_t log_number = state_.logs->current_number();
  const SequenceNumber next_seq = state_.versions->last_sequence() + 1;
  std::vector<MemTableInfo> sealed;
  for (ColumnFamily* family : families) {
    if (family->dropped() || family->mem()->Empty()) continue;
    if (events::Wanted(context_)) sealed.push_back(DescribeMemTable(*family));
    family->SwitchMemTable(family->NewMemTable(next_seq), log_number);
    VARVE_ASSERT(family->mem()->Empty());
  }
  // A family with nothing in memory needs no log before this one. But a log may have parts of a
  // failed batch for several families: these must leave it together, once the others are in tables.
  for (const auto& [id, family] : state_.families.all()) {
    if (errors_.state().writes_stopped()) break;
    if (family->mem()->Empty() && family->immutables().empty()) {
      family->versions()->log_number = std::max(family->versions()->log_number, log_number);
    }
  }
  stalls_.Update();
  if (VARVE_CANARY(kTellStallsInSwitch)) stalls_.Tell();
  if (!sealed.empty()) {
    DbUnlock unlock(&state_.mu);
    for (const MemTableInfo& info : sealed) events::MemTableSealed(context_, info);
  }
  return Status::OK();
}

void FlushWork::Request(const std::vector<ColumnFamily*>& families, FlushReason reason) {
  state_.mu.AssertHeld();
  // Memtables frozen in one switch must be installed in one step: everything that has not begun yet
  // is one job.
  const bool together = context_.options().atomic_flush;
  if (together && !queue_.empty()) queue_.front().reason = reason;
  for (ColumnFamily* family : together ? AllFamilies() : families) {
    if (family->dropped() || family->unpicked_count() == 0) continue;
    if (family->flush_requested) {
      NoteReason(*family, reason);
      continue;
    }
    if (together && !queue_.empty()) {
      queue_.front().families.push_back(family->shared_from_this());
    } else {
      queue_.push_back(Job{{family->shared_from_this()}, reason});
    }
    family->flush_requested = true;
  }
  Schedule();
}

std::vector<ColumnFamily*> FlushWork::AllFamilies() const {
  std::vector<ColumnFamily*> all;
  for (const auto& [id, family] : state_.families.all()) all.push_back(family.get());
  return all;
}

// Notes the reason at the waiting job: a job only flushes full memtables, unless another reason
// asks for the rest too.
void FlushWork::NoteReason(const ColumnFamily& family, FlushReason reason) {
  for (Job& job : queue_) {
    const bool has_it = std::ranges::any_of(
        job.families, [&](const auto& member) { return member.get() == &family; });
    if (has_it && IsOfFullMemTable(job.reason)) job.reason = reason;
  }
}

void FlushWork::RequestStopped() {
  state_.mu.AssertHeld();
  std::vector<ColumnFamily*> stopped;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->stall_condition == WriteStallCondition::kStopped &&
        family->stall_cause == WriteStallCause::kMemtableLimit && !family->flush_requested &&
        family->flushes_running == 0) {
      stopped.push_back(family.get());
    }
  }
  if (!stopped.empty()) Request(stopped, FlushReason::kWriteBufferFull);
}

void FlushWork::FlushStopped() {
  RequestStopped();
  Schedule();
}

void FlushWork::Schedule() {
  state_.mu.AssertHeld();
  if (lifecycle_.shutting_down()) return;
  if (tree_.paused() > 0) return;
  if (errors_.state().severity() >= ErrorState::Severity::kHard) return;
  Env* const env = context_.env();
  if (scheduled_ > running_ && !VARVE_CANARY(kFlushInHighOnly)) {
    scheduled_ -= TakeBackStrandedJobs(env, this);
  }
  const auto pool = VARVE_CANARY(kFlushInHighOnly) ? Env::Priority::HIGH : PoolOfShortJobs(env);
  const int limit = dynamic_.MaxFlushes();
  const int runnable = CanStart() ? static_cast<int>(queue_.size()) : 0;
  while (scheduled_ < limit && scheduled_ - running_ < runnable) {
    env->Schedule(&FlushWork::RunOne, this, pool, this);
    scheduled_++;  // the job takes mu before it decrements this
  }
}

void FlushWork::CancelScheduledJobs() {
  state_.mu.AssertHeld();
  scheduled_ -= TakeBackShortJobs(context_.env(), this);
  VARVE_ASSERT(scheduled_ >= running_);
  if (TakeBackShortJobs(context_.env(), &freeing_memory_) > 0) freeing_memory_ = false;
}

// Memtables that were frozen together are installed together, and in order.
bool FlushWork::CanStart() const {
  return !context_.options().atomic_flush || !job_running_;
}

void FlushWork::RunOne(void* work) {
  static_cast<FlushWork*>(work)->BackgroundFlush();
}

void FlushWork::BackgroundFlush() {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  DbLock lock(&state_.mu);
  running_++;
  // Memtables left by an error are flushed by its recovery: those of all families in one step.
  const bool may_run = !lifecycle_.shutting_down() && tree_.paused() == 0 &&
                       errors_.state().severity() < ErrorState::Severity::kHard;
  if (!queue_.empty() && CanStart() && may_run) {
    Report(Guarded([this] {
      state_.mu.AssertHeld();
      RunNextJob();
    }));
  }
  if (pressure_ != nullptr) pressure_->TellAfterFlush();
  VARVE_ASSERT(running_ > 0 && scheduled_ >= running_);
  running_--;
  scheduled_--;
  Report(Guarded([this] {
    state_.mu.AssertHeld();
    if (stalls_.stopped() && stalls_.AnyWaits()) RequestStopped();
    Schedule();  // does nothing once an error is serious
  }));
  state_.work.SignalAll();
}

void FlushWork::Report(const Status& s) {
  if (!s.ok() && !lifecycle_.shutting_down()) {
    errors_.Report(s, BackgroundErrorReason::kFlush);
  }
}

void FlushWork::RunNextJob() {
  VARVE_ASSERT(!queue_.empty() && CanStart());
  Job job = std::move(queue_.front());
  queue_.pop_front();
  job_running_ = true;
  const Status s = Guarded([&] {
    state_.mu.AssertHeld();
    return RunJob(job, context_.options().atomic_flush ? Extent::kAll : Extent::kPiece);
  });
  job_running_ = false;
  Report(s);
  if (!s.ok() && !s.IsColumnFamilyDropped()) RestAfterFailure();
  if (s.ok()) Report(context_.CheckSpace());
  if (s.ok() && reserve_.Lacks()) {
    DbUnlock unlock(&state_.mu);
    reserve_.TakeIfThereIsRoom();
  }
  // With the last reference to a dropped family its tables become obsolete.
  job.families.clear();
  purger_.Purge();
}

// Pauses: a failure that a listener has cleared is retried, but its cause may last.
void FlushWork::RestAfterFailure() {
  const uint64_t until = context_.MonotonicMicros() + kRestAfterFailureMicros;
  const auto is_quiet = [this] {
    state_.mu.AssertHeld();
    return !lifecycle_.shutting_down() && tree_.paused() == 0 &&
           errors_.state().severity() < ErrorState::Severity::kHard;
  };
  while (is_quiet()) {
    const uint64_t now = context_.MonotonicMicros();
    if (now >= until) return;
    state_.work.AwaitWorkFor(until - now);
  }
}

// A piece is as many memtables as min_write_buffer_number_to_merge requires, and more small ones up
// to a full one: if many wait, space for writers is freed table by table, and other jobs can flush
// the rest in parallel.
bool FlushWork::Pick(ColumnFamily* family, Extent extent, FlushInput* input) {
  const auto options = family->options();
  const auto least = static_cast<size_t>(std::max(1, options->min_write_buffer_number_to_merge));
  size_t bytes = 0;
  for (ImmutableMemTable& imm : family->immutables()) {
    if (imm.picked && input->memtables.empty()) continue;
    if (imm.picked) break;  // earlier ones were picked by a flush that failed
    bytes += imm.mem->MemoryUsage();
    const bool enough = input->memtables.size() >= least && bytes > options->write_buffer_size;
    if (extent == Extent::kPiece && enough) break;
    input->memtables.push_back(imm.mem);
    imm.picked = true;
    if (imm.ends_table > 0) break;
  }
  return !input->memtables.empty();
}

void FlushWork::Unpick(const FamilyFlush& flush) {
  for (ImmutableMemTable& imm : flush.family->immutables()) {
    if (std::ranges::find(flush.input.memtables, imm.mem) != flush.input.memtables.end()) {
      imm.picked = false;
    }
  }
}

// Returns the epoch of its newest memtable, unless the family is dropped.
uint64_t FlushWork::EpochOf(const FamilyFlush& flush) {
  const auto& newest = flush.input.memtables.back();
  const auto& immutables = flush.family->immutables();
  const auto imm = std::ranges::find(immutables, newest, &ImmutableMemTable::mem);
  return imm == immutables.end() ? kUnknownEpochNumber : imm->epoch_number;
}

bool FlushWork::WantsFlush(const ColumnFamily& family, FlushReason reason) const {
  const auto wanted =
      static_cast<size_t>(std::max(1, family.options()->min_write_buffer_number_to_merge));
  return family.unpicked_count() >= wanted || !IsOfFullMemTable(reason) ||
         context_.options().atomic_flush;
}

Status FlushWork::PickAll(const Job& job, Extent extent, std::vector<FamilyFlush>* flushes) {
  try {
    flushes->reserve(job.families.size());
    for (const auto& family : job.families) {
      family->flush_requested = false;
      if (family->dropped()) continue;
      FamilyFlush& flush = flushes->emplace_back();
      flush.family = family;
      family->flushes_running++;
      if (!Pick(family.get(), extent, &flush.input)) {
        family->flushes_running--;
        flushes->pop_back();
        continue;
      }
      FillFlushInput(context_, dynamic_, &state_, *family, TableFileCreationReason::kFlush,
                     family->shape().base_level, &flush.input);
      VARVE_ASSERT(flush.input.build.file_number != 0);
      flush.filling = {family->shared_mem(), family->options()->write_buffer_size,
                       family->options()->max_write_buffer_number - family->unflushed_count()};
      flush.job_id = state_.NextJobId();
      flush.input.output.on_create = events::TableFileCreationStarted(
          context_, family->name(), flush.job_id, TableFileCreationReason::kFlush);
      if (WantsFlush(*family, job.reason)) Request({family.get()}, job.reason);
    }
  } catch (...) {
    // No one else would request those that were not reached.
    for (const auto& family : job.families) family->flush_requested = false;
    return CaughtException();
  }
  return Status::OK();
}

FlushPace FlushWork::PaceOf(std::vector<FamilyFlush>* flushes) const {
  std::vector<FillingMemTable> filling;
  uint64_t entries = 0;
  for (FamilyFlush& flush : *flushes) {
    filling.push_back(std::move(flush.filling));
    for (const auto& mem : flush.input.memtables) entries += mem->entry_count();
  }
  return FlushPace(context_, lifecycle_, state_.work, std::move(filling), entries);
}

Status FlushWork::RunPicked(const Job& job, std::vector<FamilyFlush>* flushes, bool* in_order) {
  if (context_.options().atomic_flush) CountAtomicJob(context_.statistics(), job.reason);
  {
    DbUnlock unlock(&state_.mu);
    FlushPace pace = PaceOf(flushes);
    const bool gives_way = context_.options().background_gives_way && NobodyWaits(job.reason);
    const GiveWay at_pace(gives_way ? &pace : nullptr);
    for (FamilyFlush& flush : *flushes) {
      ListedOperation listed(context_.options().enable_thread_tracking, ThreadStatus::OP_FLUSH,
                             context_.given_name(), flush.family->name());
      listed.Enter(ThreadStatus::STAGE_FLUSH_WRITE_L0);
      listed.Set(ThreadStatus::FLUSH_JOB_ID, static_cast<uint64_t>(flush.job_id));
      listed.Set(ThreadStatus::FLUSH_BYTES_MEMTABLES, BytesOf(flush.input));
      NotifyBegin(flush, job.reason);
      const uint64_t began = context_.MonotonicMicros();
      StopWatch watch(context_.clock(), context_.statistics(), FLUSH_TIME);
      VARVE_RETURN_IF_ERROR(RunFlush(flush.input, &flush.result));
      flush.micros = context_.MonotonicMicros() - began;
      listed.Set(ThreadStatus::FLUSH_BYTES_WRITTEN, flush.result.file.size);
      Count(flush, job.reason);
      NotifyCreated(flush);
    }
    statistics_.CountPauses(pace);
  }
  // Once one family's part of a batch is in a table, the other families' parts must not be lost
  // with an unsynced log: after a power loss they would be at different moments. Error recovery,
  // whose logs may be broken, puts all families into one job instead. The same holds for the
  // decision about a prepared transaction, which without it would be prepared again.
  const bool apart = state_.families.all().size() > 1 || state_.sections.InUse();
  if (apart && job.reason != FlushReason::kErrorRecovery) {
    DbUnlock unlock(&state_.mu);
    const uint64_t current = state_.logs->current_number();
    const ActiveWork log(ActiveWork::kLog, state_.commit.get(), "the log,");
    VARVE_RETURN_IF_ERROR(state_.logs->SyncClosed());
    state_.sections.NoteDurable(current);
  }
  *in_order = WaitForOlder(*flushes);
  return *in_order ? Install(flushes, job.reason) : Status::OK();
}

Status FlushWork::RunJob(const Job& job, Extent extent) {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  std::vector<FamilyFlush> flushes;
  Status s = PickAll(job, extent, &flushes);
  if (flushes.empty()) return s;
  bool in_order = false;
  if (s.ok()) {
    s = Guarded([&] {
      state_.mu.AssertHeld();
      return RunPicked(job, &flushes, &in_order);
    });
  }
  const bool in_force = s.ok() && in_order;
  // A failure is reported before other jobs may pick the memtables: otherwise a recovery that waits
  // for the job would repair an error that the database hears of only afterwards.
  if (!in_force) {
    BestEffort([&] {
      state_.mu.AssertHeld();
      CleanUp(flushes, s);
    });
  }
  for (FamilyFlush& flush : flushes) {
    VARVE_ASSERT(flush.family->flushes_running > 0);
    flush.family->flushes_running--;
    Unpick(flush);
  }
  order_changed_.SignalAll();
  if (!in_force) return s;
  for (FamilyFlush& flush : flushes) compaction_->Schedule(flush.family.get());
  RemoveOutputs(flushes);
  stalls_.Tell();
  {
    DbUnlock unlock(&state_.mu);
    // These are usually the last references: the memory is freed before listeners take their time,
    // and without the mutex.
    for (FamilyFlush& flush : flushes) flush.input.memtables.clear();
    for (FamilyFlush& flush : flushes) NotifyEnd(flush, job.reason);
  }
  // Callers that wait for the flush may continue now, and expect that its log is deleted.
  BestEffort([this] {
    state_.mu.AssertHeld();
    purger_.Purge();
  });
  for (FamilyFlush& flush : flushes) {
    if (flush.result.wrote_file) {
      OpenNewTables(&state_.mu, flush.family.get(), {flush.result.file});
    }
  }
  return s;
}

void FlushWork::CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) {
  RemoveOutputs(flushes);
  DbUnlock unlock(&state_.mu);
  LogError(context_.info_log(), "flush failed: %s",
           s.ok() ? "so did that of an older memtable" : s.ToString().c_str());
}

// Readers search memtables first, so the table of a newer memtable must not be in force while an
// older one is in memory. Returns false if the flush of an older one has failed, which its own job
// reports.
bool FlushWork::WaitForOlder(const std::vector<FamilyFlush>& flushes) {
  for (const FamilyFlush& flush : flushes) {
    ColumnFamily& family = *flush.family;
    const std::shared_ptr<MemTable>& own = flush.input.memtables.front();
    VARVE_ASSERT(family.dropped() || !family.immutables().empty());
    while (!family.dropped() && family.immutables().front().mem != own) {
      if (!family.immutables().front().picked) return false;
      order_changed_.Wait();
    }
  }
  return true;
}

void FlushWork::AddEmptyFamilies(std::vector<VersionEdit>* edits,
                                 std::vector<FamilyEdit>* changes) const {
  edits->resize(state_.families.all().size());  // the addresses must not change
  size_t i = 0;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->dropped() || !family->mem()->Empty() || !family->immutables().empty()) continue;
    VersionEdit& edit = (*edits)[i++];
    edit.column_family = id;
    edit.log_number = state_.logs->current_number();
    changes->push_back(FamilyEdit{family->versions(), {&edit}});
  }
}

Status FlushWork::Install(std::vector<FamilyFlush>* flushes, FlushReason reason) {
  std::vector<FamilyEdit> edits;
  std::vector<VersionEdit> of_empty;
  for (FamilyFlush& flush : *flushes) {
    flush.edit.column_family = flush.family->id();
    flush.edit.log_number = flush.input.memtables.back()->next_log_number();
    VARVE_ASSERT(flush.edit.log_number != 0);
    flush.edit.numbers.prev_log = 0;
    if (flush.result.wrote_file) {
      flush.result.file.epoch_number = EpochOf(flush);
      flush.edit.new_files.push_back(flush.result.file);
    }
    if (!flush.result.full_history_ts_low.empty()) {
      flush.edit.family.full_history_ts_low = flush.result.full_history_ts_low;
    }
    if (flush.family->dropped()) continue;
    edits.push_back(FamilyEdit{flush.family->versions(), {&flush.edit}});
  }
  if (reason == FlushReason::kErrorRecovery) AddEmptyFamilies(&of_empty, &edits);
  if (edits.empty()) return Status::OK();
  VARVE_RETURN_IF_ERROR(state_.versions->LogAndApply(std::move(edits), context_.directory()));
  for (FamilyFlush& flush : *flushes) {
    if (flush.family->dropped()) continue;
    flush.in_force = true;
    VARVE_ASSERT(flush.family->immutables().front().mem == flush.input.memtables.front());
    flush.family->DropFlushed(flush.input.memtables.size());
    flush.family->work.CountFlush(flush.result.file.size, flush.micros);
    if (flush.result.wrote_file) {
      context_.NoteTable(flush.family->table_paths(), flush.result.file);
    }
  }
  // After all are installed: an error is reported, which may release the mutex.
  for (const FamilyFlush& flush : *flushes) {
    if (flush.in_force) errors_.InstallSuperVersion(flush.family.get()).PermitUncheckedError();
  }
  if (state_.sections.InUse()) state_.sections.Prune(state_.versions->FamilyLogs());
  order_changed_.SignalAll();
  stalls_.Update();
  return Status::OK();
}

// Removes the tables of a job that are not in the MANIFEST, because it failed or the family was
// dropped.
void FlushWork::RemoveOutputs(const std::vector<FamilyFlush>& flushes) {
  for (const FamilyFlush& flush : flushes) {
    if (!flush.result.wrote_file || flush.in_force) continue;
    DeleteNewTables(context_, &state_, *flush.family, flush.job_id, {flush.result.file});
  }
}

Status FlushWork::FlushFamilies(const std::vector<ColumnFamily*>& families,
                                const FlushOptions& options, FlushReason reason) {
  // Even for one family: a batch over two is completely in files only if both are flushed.
  if (context_.options().atomic_flush && !VARVE_CANARY(kTearAtomicFlush)) {
    return FlushAll(options, reason);
  }
  return SwitchAndFlush(families, options, reason);
}

Status FlushWork::SwitchAndFlush(const std::vector<ColumnFamily*>& families,
                                 const FlushOptions& options, FlushReason reason) {
  std::vector<std::pair<ColumnFamily*, uint64_t>> targets;  // newest memtable id to be flushed
  Status s;
  if (options.wait && !VARVE_CANARY(kWaitInCallback)) {
    s = RefuseHeldUp("flush", ActiveWork::kFlush, &lifecycle_);
  }
  if (!s.ok()) return s;
  {
    const ExclusiveCommit exclusive(state_.commit.get());
    DbLock lock(&state_.mu);
    const bool refused = errors_.state().writes_stopped() && reason != FlushReason::kErrorRecovery;
    s = refused ? errors_.state().error() : SwitchMemTables(families);
    if (s.ok()) {
      for (ColumnFamily* family : families) {
        if (!family->dropped() && !family->immutables().empty()) {
          targets.emplace_back(family, family->immutables().back().mem->id());
        }
      }
      Request(families, reason);
    }
  }
  if (s.ok() && reason == FlushReason::kManualFlush) NotifyManual(families, reason);

  DbLock lock(&state_.mu);
  stalls_.Tell();
  if (!s.ok() || !options.wait) return s;
  for (auto& [family, id] : targets) {
    while (s.ok() && !family->dropped() && !family->immutables().empty() &&
           family->immutables().front().mem->id() <= id) {
      if (lifecycle_.shutting_down()) {
        s = Status::ShutdownInProgress("flush: the database is being closed");
      } else if (errors_.state().severity() >= ErrorState::Severity::kHard) {
        s = errors_.state().error();
      } else {
        const bool unpicked =
            std::ranges::any_of(family->immutables(), [&target = id](const ImmutableMemTable& imm) {
              return !imm.picked && imm.mem->id() <= target;
            });
        if (unpicked) Request({family}, reason);
        state_.work.AwaitWorkFor(kPoolPollMicros);
        Schedule();  // the pool may be another than before
      }
    }
  }
  return s;
}

bool FlushWork::WouldStall(const ColumnFamily& family) const {
  StallInput after;
  after.unflushed_memtables = family.unflushed_count() + 1;
  after.l0_files = family.shape().l0_files + 1;
  after.pending_compaction_bytes = family.shape().pending_compaction_bytes;
  if (JudgeStall(after, *family.options()).condition == WriteStallCondition::kNormal) return false;
  const bool under_way = Busy() || compaction_->MayMakeRoom();
  return under_way && tree_.paused() == 0;
}

Status FlushWork::WaitForRoom(const std::vector<ColumnFamily*>& families) {
  DbLock lock(&state_.mu);
  const auto waits = [&](ColumnFamily* family) {
    state_.mu.AssertHeld();
    const bool empty = family->mem()->Empty() && family->immutables().empty();
    return !family->dropped() && !empty && WouldStall(*family);
  };
  while (!lifecycle_.shutting_down() && errors_.state().severity() == ErrorState::Severity::kNone &&
         std::ranges::any_of(families, waits)) {
    VARVE_RETURN_IF_ERROR(
        RefuseHeldUp("flush", ActiveWork::kFlush | ActiveWork::kCompaction, &lifecycle_));
    state_.work.AwaitWorkFor(kRoomPollMicros);
  }
  return Status::OK();
}

Status FlushWork::FlushAll(const FlushOptions& options, FlushReason reason) {
  std::vector<std::shared_ptr<ColumnFamily>> pinned;
  std::vector<ColumnFamily*> families;
  {
    DbLock lock(&state_.mu);
    for (const auto& [id, family] : state_.families.all()) {
      pinned.push_back(family);
      families.push_back(family.get());
    }
  }
  return SwitchAndFlush(families, options, reason);
}

Status FlushWork::FlushAllHere(FlushReason reason) {
  std::vector<std::shared_ptr<ColumnFamily>> pinned;
  std::vector<ColumnFamily*> families;
  Status s;
  {
    const ExclusiveCommit exclusive(state_.commit.get());
    DbLock lock(&state_.mu);
    if (errors_.state().writes_stopped()) return errors_.state().error();
    for (const auto& [id, family] : state_.families.all()) {
      pinned.push_back(family);
      families.push_back(family.get());
    }
    s = SwitchMemTables(families);
  }
  DbLock lock(&state_.mu);
  stalls_.Tell();
  const auto in_memory = [](const auto& family) {
    AssumeDbMutexHeld();
    return !family->dropped() && !family->immutables().empty();
  };
  while (s.ok() && std::ranges::any_of(pinned, in_memory)) {
    s = FlushNow(pinned, reason);
    if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kFlush);
    // A flush of another job may have failed.
    if (errors_.state().severity() >= ErrorState::Severity::kHard) s = errors_.state().error();
  }
  return s;
}

Status FlushWork::LeaveStampedLogs() {
  {
    DbLock lock(&state_.mu);
    if (!new_logs_.stamped() || !state_.sections.Undecided().empty()) return Status::OK();
    new_logs_.StopStamping();
  }
  VARVE_RETURN_IF_ERROR(FlushAllHere(FlushReason::kShutDown));
  const ExclusiveCommit exclusive(state_.commit.get());
  DbLock lock(&state_.mu);
  return new_logs_.current_stamped() ? LeaveLog(/*force=*/true) : Status::OK();
}

Status FlushWork::FlushTogether(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                                FlushReason reason) {
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("flush", ActiveWork::kFlush, &lifecycle_));
  std::vector<std::pair<ColumnFamily*, uint64_t>> targets;  // newest memtable id to be flushed
  {
    const ExclusiveCommit exclusive(state_.commit.get());
    DbLock lock(&state_.mu);
    if (errors_.state().writes_stopped()) return errors_.state().error();
    std::vector<ColumnFamily*> all;
    for (const auto& family : families) all.push_back(family.get());
    VARVE_RETURN_IF_ERROR(SwitchMemTables(all));
    for (ColumnFamily* family : all) {
      if (family->immutables().empty()) continue;
      targets.emplace_back(family, family->immutables().back().mem->id());
    }
  }
  DbLock lock(&state_.mu);
  stalls_.Tell();
  const auto in_memory = [](const auto& target) {
    AssumeDbMutexHeld();
    const auto& [family, id] = target;
    return !family->dropped() && !family->immutables().empty() &&
           family->immutables().front().mem->id() <= id;
  };
  while (std::ranges::any_of(targets, in_memory)) {
    if (lifecycle_.shutting_down()) {
      return Status::ShutdownInProgress("flush: the database is being closed");
    }
    const Status s = FlushNow(families, reason, /*together=*/true);
    if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kFlush);
    // A flush of another job may have failed.
    if (errors_.state().severity() >= ErrorState::Severity::kHard) return errors_.state().error();
  }
  return Status::OK();
}

Status FlushWork::FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                           FlushReason reason, bool together) {
  state_.mu.AssertHeld();
  const auto running = [&] {
    return std::ranges::any_of(families, [](const auto& family) {
      AssumeDbMutexHeld();
      return family->flushes_running > 0;
    });
  };
  while (running()) state_.work.AwaitWork();
  together |= context_.options().atomic_flush || reason == FlushReason::kErrorRecovery;
  std::vector<Job> jobs;
  for (const auto& family : families) {
    if (jobs.empty() || !together) jobs.push_back(Job{{}, reason});
    jobs.back().families.push_back(family);
  }
  for (const Job& job : jobs) {
    Status s = RunJob(job, Extent::kAll);
    // A family dropped meanwhile needs no flush, but others may be left.
    if (!s.ok() && !s.IsColumnFamilyDropped()) return s;
  }
  return Status::OK();
}

Status FlushWork::FlushFrozen(const std::vector<Frozen>& frozen, FlushReason reason) {
  for (;;) {
    Job job{{}, reason};
    bool left = false;
    for (const Frozen& each : frozen) {
      if (each.family->dropped()) continue;
      bool unpicked = false;
      for (const ImmutableMemTable& imm : each.family->immutables()) {
        if (imm.mem->id() > each.memtable) break;
        left = true;
        unpicked |= !imm.picked;
      }
      if (unpicked) job.families.push_back(each.family);
    }
    if (!left) return Status::OK();
    if (lifecycle_.shutting_down()) {
      return Status::ShutdownInProgress("flush: the database is being closed");
    }
    if (errors_.state().severity() >= ErrorState::Severity::kHard) return errors_.state().error();
    if (job.families.empty()) {
      state_.work.AwaitWorkFor(kPoolPollMicros);
      continue;
    }
    const Status s = RunJob(job, Extent::kAll);
    if (!s.ok() && !s.IsColumnFamilyDropped())
      return errors_.Reported(s, BackgroundErrorReason::kFlush);
  }
}

Status FlushWork::SwitchFullMemTables() {
  for (const auto& [id, family] : state_.families.all()) family->LearnKeyPrefix();
  FlushReason reason;
  std::vector<ColumnFamily*> full = FullFamilies(&reason);
  if (!full.empty()) return Switch(std::move(full), reason);
  return OnlyLogIsFull() ? LeaveFullLog() : Status::OK();
}

// Decisions about prepared transactions must be durable before the logs that hold these may be
// deleted.
Status FlushWork::LeaveLog(bool force) {
  Status s = new_logs_.Start(force);
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  const uint64_t current = state_.logs->current_number();
  {
    DbUnlock unlock(&state_.mu);
    s = state_.logs->SyncClosed();
  }
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  state_.sections.NoteDurable(current);
  std::vector<VersionEdit> of_empty;
  std::vector<FamilyEdit> edits;
  AddEmptyFamilies(&of_empty, &edits);
  s = state_.versions->LogAndApply(std::move(edits), context_.directory());
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kManifestWriteNoWAL);
  state_.sections.Prune(state_.versions->FamilyLogs());
  purger_.Purge();
  return Status::OK();
}

Status FlushWork::Switch(std::vector<ColumnFamily*> families, FlushReason reason) {
  if (context_.options().atomic_flush) {
    families.clear();
    for (const auto& [id, family] : state_.families.all()) families.push_back(family.get());
  }
  VARVE_RETURN_IF_ERROR(SwitchMemTables(families));
  std::vector<ColumnFamily*> ready;
  for (ColumnFamily* family : families) {
    if (WantsFlush(*family, reason)) ready.push_back(family);
  }
  Request(ready, reason);
  return Status::OK();
}

uint64_t FlushWork::BytesOf(const FlushInput& input) {
  uint64_t bytes = 0;
  for (const auto& mem : input.memtables) bytes += mem->data_bytes();
  return bytes;
}

void FlushWork::Count(const FamilyFlush& flush, FlushReason reason) const {
  Statistics* const statistics = context_.statistics();
  if (statistics == nullptr) return;
  RecordTick(statistics, FLUSH_WRITE_BYTES, flush.result.file.size);
  const uint64_t payload = BytesOf(flush.input);
  const TableProperties& written = flush.result.properties;
  const uint64_t useful = written.raw_key_size + written.raw_value_size;
  RecordTick(statistics, MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, payload);
  RecordTick(statistics, MEMTABLE_GARBAGE_BYTES_AT_FLUSH, payload - std::min(payload, useful));
  uint64_t held = 0;
  for (const auto& mem : flush.input.memtables) held += mem->MemoryUsage();
  RecordInHistogram(statistics, FLUSH_MEMTABLE_MEMORY_BYTES, held);
  RecordInHistogram(statistics, FLUSH_MEMTABLE_TOTAL_DATA_SIZE_BYTES, payload);
  if (reason == FlushReason::kWriteBufferFull) {
    RecordInHistogram(statistics, FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES, held);
  } else if (reason == FlushReason::kWriteBufferManager) {
    RecordInHistogram(statistics, FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES, held);
  }
  for (const ReasonTickers& row : kReasonTickers) {
    if (row.reason == reason) RecordTick(statistics, row.of_flush);
  }
}

void FlushWork::NotifyBegin(const FamilyFlush& flush, FlushReason reason) {
  LogInfo(context_.info_log(), "[%s] [JOB %d] flushing %zu memtable(s), reason: %s",
          flush.family->name().c_str(), flush.job_id, flush.input.memtables.size(),
          GetFlushReasonString(reason));
  if (!events::Wanted(context_)) return;
  events::FlushBegin(context_, MakeInfo(flush, reason));
}

void FlushWork::NotifyEnd(const FamilyFlush& flush, FlushReason reason) {
  const NewFile& file = flush.result.file;
  LogInfo(context_.info_log(), "[%s] [JOB %d] flushed table #%llu: %llu bytes, %llu entries",
          flush.family->name().c_str(), flush.job_id, static_cast<unsigned long long>(file.number),
          static_cast<unsigned long long>(file.size),
          static_cast<unsigned long long>(file.counts.entries));
  if (events::Wanted(context_)) events::FlushCompleted(context_, MakeInfo(flush, reason));
}

// Must precede the installation: after that, compactions may use and delete the table.
void FlushWork::NotifyCreated(const FamilyFlush& flush) const {
  if (!events::Wanted(context_) || !flush.result.wrote_file) return;
  events::TableFileCreated(
      context_, events::DescribeNewTable(context_, *flush.family, flush.job_id,
                                         TableFileCreationReason::kFlush, flush.result.file,
                                         flush.result.properties));
}

void FlushWork::NotifyManual(const std::vector<ColumnFamily*>& families, FlushReason reason) const {
  if (!events::Wanted(context_)) return;
  std::vector<ManualFlushInfo> infos;
  for (const ColumnFamily* family : families)
    infos.push_back({family->id(), family->name(), reason});
  events::ManualFlushScheduled(context_, infos);
}

FlushJobInfo FlushWork::MakeInfo(const FamilyFlush& flush, FlushReason reason) const {
  FlushJobInfo info;
  info.cf_id = flush.family->id();
  info.cf_name = flush.family->name();
  info.file_number = flush.input.build.file_number;
  info.file_path =
      flush.family->table_paths().FileName(info.file_number, flush.input.output.path_id);
  info.thread_id = context_.env()->GetThreadID();
  info.job_id = flush.job_id;
  info.smallest_seqno = flush.result.file.smallest_seq;
  info.largest_seqno = flush.result.file.largest_seq;
  info.table_properties = flush.result.properties;
  info.flush_reason = reason;
  return info;
}

}  // namespace varve
