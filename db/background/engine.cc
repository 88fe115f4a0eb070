// SPDX-License-Identifier: Apache-2.0
#include "db/background/engine.h"

#include <algorithm>
#include <cstdio>

#include "varve/merge_operator.h"

#include "db/background/compaction_work.h"
#include "db/background/error_recovery.h"
#include "db/background/events.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/periodic_work.h"
#include "db/background/scrubber.h"
#include "db/background/space_reserve.h"
#include "db/background/table_context.h"
#include "db/background/write_admission.h"
#include "db/compaction/plan.h"
#include "db/write/commit_ring.h"
#include "memtable/voided_sequences.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"
#include "util/options/block_based_table_factory.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// Of one batch each. A writer whose insertion fails returns when writes are refused, so there is
// one for each thread that writes, and each of these may have begun another before. With more
// threads, as unordered writes admit, what is too much counts as damage (OnInsertError).
constexpr size_t kMostVoided = 2 * CommitRing::kSlots;

StallInput StallInputOf(const ColumnFamily& family) {
  StallInput input;
  input.unflushed_memtables = family.unflushed_count();
  input.l0_files = family.shape().l0_files;
  input.pending_compaction_bytes = family.shape().pending_compaction_bytes;
  const std::vector<double>& scores = family.shape().scores;
  if (scores.size() > 1) input.worst_score = *std::max_element(scores.begin() + 1, scores.end());
  return input;
}

}  // namespace

Engine::Engine() : voided(std::make_shared<VoidedSequences>(kMostVoided)) {}
Engine::~Engine() = default;

FileOptions Engine::LogFileOptions() const {
  FileOptions result = file_options;
  result.use_direct_writes = false;
  result.use_mmap_writes = false;
  return result;
}

WritableFileWriter::Options Engine::LogWriterOptions() const {
  WritableFileWriter::Options result;
  result.max_buffer_size = dynamic->writable_file_max_buffer_size;
  result.bytes_per_sync = dynamic->wal_bytes_per_sync;
  return result;
}

int Engine::MaxFlushes() const {
  return DeriveDbOptions(*dynamic).max_background_flushes;
}

int Engine::MaxCompactions() const {
  return DeriveDbOptions(*dynamic).max_background_compactions;
}

ColumnFamily* Engine::Resolve(ColumnFamilyHandle* handle, Status* status) const {
  if (handle == nullptr) {
    *status = Status::InvalidArgument("column family handle is null");
    return nullptr;
  }
  // The class is final: this asks what dynamic_cast would, for a tenth of its price.
  if (typeid(*handle) != typeid(ColumnFamilyHandleImpl) ||
      !static_cast<ColumnFamilyHandleImpl*>(handle)->BelongsTo(&mu)) {
    *status = Status::InvalidArgument("column family handle is not of this database");
    return nullptr;
  }
  return static_cast<ColumnFamilyHandleImpl*>(handle)->family().get();
}

void Engine::ReleaseFamilies() {
  if (flush != nullptr) flush->ClearQueue();
  if (compaction != nullptr) compaction->ClearQueue();
  families.Clear();
}

void Engine::TakeBackJobs() {
  mu.AssertHeld();
  // Those for which there is no memory run, and find nothing to do.
  BestEffort([this] { flush->TakeBackJobs(); });
  BestEffort([this] { compaction->TakeBackJobs(); });
}

void Engine::ForgetVoided() {
  mu.AssertHeld();
  if (!voided->empty()) voided = std::make_shared<VoidedSequences>(kMostVoided);
}

Status Engine::WriteRefusal() {
  mu.AssertHeld();
  Status s;
  if (shutting_down.load(std::memory_order_acquire)) {
    s = Status::ShutdownInProgress("write: the database is being closed");
  } else if (errors.writes_stopped()) {
    s = errors.error();
  }
  refuses_writes.store(!s.ok(), std::memory_order_release);
  if (!s.ok()) stop_ended.Signal();
  return s;
}

void Engine::AwaitWork() {
  waiting_calls.fetch_add(1, std::memory_order_relaxed);
  background_changed.Wait();
  waiting_calls.fetch_sub(1, std::memory_order_relaxed);
}

void Engine::AwaitWorkFor(uint64_t micros) {
  waiting_calls.fetch_add(1, std::memory_order_relaxed);
  background_changed.WaitFor(micros);
  waiting_calls.fetch_sub(1, std::memory_order_relaxed);
}

void Engine::UpdateStalls() {
  mu.AssertHeld();
  const int stopped_before = stopped_families;
  const bool stalled_before = stopped_families + delayed_families > 0;
  delayed_families = 0;
  stopped_families = 0;
  stall_reason.clear();
  uint64_t debt = 0;
  bool near_stop = false;
  Haste flushes = Haste::kCalm;
  Haste compactions = Haste::kCalm;
  std::vector<WriteStallInfo> changes;
  for (const auto& [id, family] : families.all()) {
    if (family->dropped()) continue;
    const StallInput input = StallInputOf(*family);
    const auto cf_options = family->options();
    flushes = std::max(flushes, FlushHaste(input, *cf_options));
    compactions = std::max(compactions, CompactionHaste(input, *cf_options));
    const StallVerdict verdict = JudgeStall(input, *cf_options);
    if (verdict.condition == WriteStallCondition::kStopped) stopped_families++;
    if (verdict.condition == WriteStallCondition::kDelayed) {
      delayed_families++;
      debt = std::max(debt, input.pending_compaction_bytes);
      near_stop |= verdict.near_stop;
    }
    BestEffort([&, &of = *family] { DescribeVerdict(of, verdict, input, &changes); });
    family->stall_condition = verdict.condition;
    family->stall_cause = verdict.cause;
  }
  if (delayed_families > 0) {
    pacer->Adjust(last_debt_bytes, debt, near_stop || stopped_families > 0,
                  stopped_before > 0 && stopped_families == 0);
  } else {
    pacer->Release();
  }
  last_debt_bytes = debt;
  // Work that does not run makes nobody else's hurry.
  const bool stands = errors.writes_stopped();
  flush_haste.Set(stands ? Haste::kCalm : flushes);
  compaction_haste.Set(stands ? Haste::kCalm : compactions);
  const bool stalled = stopped_families + delayed_families > 0;
  if (stalled) attention.store(true, std::memory_order_release);
  if (stopped_before > 0 && stopped_families == 0) {
    background_changed.SignalAll();
    stop_ended.Signal();
  }
  const uint64_t now = MonotonicMicros();
  if (stalled && !stalled_before) stall_since = now;
  const uint64_t lasted = stalled_before && now > stall_since ? now - stall_since : 0;
  if (!stalled) stall_since = 0;
  if (!changes.empty()) BestEffort([&] { TellStallChanges(stalled, lasted, changes); });
}

// What people are told of a stall: it is in force without that, if there is no memory for it.
void Engine::DescribeVerdict(const ColumnFamily& family, const StallVerdict& verdict,
                             const StallInput& input, std::vector<WriteStallInfo>* changes) {
  const bool stopped = verdict.condition == WriteStallCondition::kStopped;
  if (verdict.condition != WriteStallCondition::kNormal &&
      (stall_reason.empty() || (stopped && stopped_families == 1))) {
    stall_reason = "[" + family.name() + "] " + verdict.Reason(input, *family.options());
  }
  if (verdict.condition != family.stall_condition) {
    WriteStallInfo change;
    change.cf_name = family.name();
    change.condition.cur = verdict.condition;
    change.condition.prev = family.stall_condition;
    changes->push_back(change);
  }
  NoteVerdict(family, verdict);
}

// One family's condition is now this; counts it when it is another one than before.
void Engine::NoteVerdict(const ColumnFamily& family, const StallVerdict& verdict) {
  if (verdict.condition == family.stall_condition && verdict.cause == family.stall_cause) return;
  const bool compacting_l0 =
      std::any_of(family.running_compactions.begin(), family.running_compactions.end(),
                  [](const CompactionPlan* plan) { return plan->start_level == 0; });
  stall_counts[family.id()].Count(verdict, compacting_l0);
}

void Engine::TellStallChanges(bool stalled, uint64_t lasted,
                              const std::vector<WriteStallInfo>& changes) {
  const std::string reason = stall_reason;
  const uint64_t rate = delayed_families > 0 ? pacer->bytes_per_second() : 0;
  MutexUnlock unlock(&mu);
  if (stalled) {
    LogWarn(info_log.get(), "writes: %s (delayed ones get %llu bytes/s)", reason.c_str(),
            static_cast<unsigned long long>(rate));
  } else {
    LogWarn(info_log.get(), "writes: no stall any more, after %.3f s",
            static_cast<double>(lasted) / 1e6);
  }
  if (!events::Wanted(*this)) return;
  for (const WriteStallInfo& change : changes) events::StallConditionsChanged(*this, change);
}

std::string Engine::DescribeStall() const {
  mu.AssertHeld();
  if (stall_reason.empty()) return "";
  const uint64_t now = MonotonicMicros();
  char length[48];
  snprintf(length, sizeof(length), "; for %.3f s so far",
           static_cast<double>(now > stall_since ? now - stall_since : 0) / 1e6);
  return stall_reason + length;
}

uint64_t Engine::StallMicros() const {
  mu.AssertHeld();
  if (stalled_writers == 0) return total_stall_micros;
  const uint64_t now = MonotonicMicros();
  return total_stall_micros + (now > writers_stalled_since ? now - writers_stalled_since : 0);
}

Status Engine::ShowChange(ColumnFamily* family) {
  mu.AssertHeld();
  const Status s = Guarded([&] { family->InstallSuperVersion(); });
  // As after a compaction that failed: all is there, and work goes on.
  if (!s.ok()) ReportError(s, BackgroundErrorReason::kCompaction);
  return s;
}

void Engine::ReportError(const Status& error, BackgroundErrorReason reason) {
  mu.AssertHeld();
  Status judged = ErrorState::Judged(error, reason);
  const uint64_t repairs = errors.repairs();
  if (events::Wanted(*this)) {
    MutexUnlock unlock(&mu);
    events::BackgroundError(*this, reason, &judged);
  }
  // While listeners took their time somebody may have made good what failed.
  const bool repairable = ErrorState::Judge(error, reason) == ErrorState::Severity::kHard;
  if (errors.repairs() != repairs && repairable) return;
  // What is half in memory is not whole because somebody says so.
  if (!voided->empty() && ErrorState::Judge(judged, reason) < ErrorState::Judge(error, reason)) {
    judged = ErrorState::Judged(error, reason);
  }
  if (judged.ok()) return;
  const ErrorState::Severity before = errors.severity();
  Status now = errors.Report(judged, reason);
  if (now.ok()) return;
  WriteRefusal().PermitUncheckedError();
  background_changed.SignalAll();
  if (before == ErrorState::Severity::kNone) {
    MutexUnlock unlock(&mu);
    BestEffort([&] { LogError(info_log.get(), "background error: %s", now.ToString().c_str()); });
  }
  if (!errors.recoverable() || read_only) return;
  bool automatic = true;
  if (events::Wanted(*this) && errors.severity() > before) {
    MutexUnlock unlock(&mu);
    events::ErrorRecoveryBegin(*this, reason, now, &automatic);
  }
  if (automatic && errors.recoverable()) recovery_work->StartRetrying();
}

Status Engine::ReportedError(const Status& error, BackgroundErrorReason reason) {
  ReportError(error, reason);
  return ErrorState::Judged(error, reason);
}

Status Engine::Resume() {
  return recovery_work->Resume();
}

TableOutputContext MakeTableOutputContext(const Engine& engine, const ColumnFamilyOptions& options,
                                          Env::IOPriority priority) {
  TableOutputContext context;
  context.db_path = engine.name;
  context.fs = engine.fs;
  context.file_options = engine.file_options;
  context.clock = engine.clock;
  context.rate_limiter = engine.options.rate_limiter.get();
  context.io_priority = priority;
  context.bytes_per_sync = engine.dynamic->bytes_per_sync;
  context.file_buffer_bytes = engine.dynamic->writable_file_max_buffer_size;
  context.use_fsync = engine.options.use_fsync;
  context.use_direct_io = engine.options.use_direct_io_for_flush_and_compaction;
  context.checksum_factory = engine.options.file_checksum_gen_factory.get();
  context.read_back = options.paranoid_file_checks;
  context.time_files = options.report_bg_io_stats;
  return context;
}

TableBuildOptions MakeTableBuildOptions(const Engine& engine, const ColumnFamily& family,
                                        const ColumnFamilyOptions& options, int level) {
  TableBuildOptions build;
  build.icmp = &family.icmp();
  build.table = TableOptionsOf(options);
  build.compression_opts = options.compression_opts;
  build.prefix_extractor = options.prefix_extractor.get();
  build.collector_factories = options.table_properties_collector_factories;
  if (options.merge_operator != nullptr) build.merge_operator_name = options.merge_operator->Name();
  build.statistics = engine.statistics;
  build.column_family_id = family.id();
  build.column_family_name = family.name();
  build.persist_timestamps =
      options.persist_user_defined_timestamps || family.icmp().timestamp_size() == 0;
  build.level = level;
  build.db_id = engine.versions->db_id();
  build.db_session_id = engine.session_id;
  build.allow_data_in_errors = engine.options.allow_data_in_errors;
  build.db_host_id = engine.host_name;
  int64_t now = 0;
  if (engine.clock->GetCurrentTime(&now).ok() && now > 0) {
    build.creation_time = static_cast<uint64_t>(now);
    build.file_creation_time = build.creation_time;
    build.oldest_key_time = build.creation_time;
  }
  return build;
}

const BlockBasedTableOptions& TableOptionsOf(const ColumnFamilyOptions& options) {
  return static_cast<const BlockBasedTableFactory*>(options.table_factory.get())->table_options();
}

}  // namespace varve
