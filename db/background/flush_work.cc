// SPDX-License-Identifier: Apache-2.0
#include "db/background/flush_work.h"

#include <algorithm>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/background/events.h"
#include "db/background/log_files.h"
#include "db/background/obsolete_files.h"
#include "db/background/space_reserve.h"
#include "db/background/table_context.h"
#include "db/background/work_paces.h"
#include "db/wal/commit_log.h"
#include "db/write/log_mark.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/writable_file_writer.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// How often WaitForRoom looks again when nobody says that anything has changed.
constexpr uint64_t kRoomPollMicros = 50 * 1000;

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

// One family's share of a job.
struct FlushWork::FamilyFlush {
  std::shared_ptr<ColumnFamily> family;
  FlushInput input;
  FlushResult result;
  VersionEdit edit;
  int job_id = 0;
  bool in_force = false;  // the table, if there is one, is in the MANIFEST
  FillingMemTable filling;
};

namespace {

// Whether the job was not asked for by somebody who waits for its end, for memory, say.
bool NobodyWaits(FlushReason reason) {
  return reason == FlushReason::kWriteBufferFull || reason == FlushReason::kWalFull;
}

}  // namespace

Status FlushWork::StartNewLog(bool force) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  if (!force && e.logs->current_empty()) return Status::OK();
  {
    // Of a log that has failed nothing more can be had.
    MutexUnlock unlock(&e.mu);
    if (!e.logs->current_failed()) VARVE_RETURN_IF_ERROR(e.logs->FlushCurrent());
    VARVE_RETURN_IF_ERROR(e.logs->SyncNames());
  }
  NewLog wanted;
  wanted.number = e.versions->NewFileNumber();
  wanted.recycled = e.obsolete->TakeKeptLog();
  const WritableFileWriter::Options writer_options = e.LogWriterOptions();
  const LogSet::LogInfo before = e.logs->CurrentEnd();
  if (before.number != 0) {
    wanted.mark =
        MakeLogMark(LogMark{before.number, before.bytes}, e.versions->last_sequence() + 1);
  }
  for (const auto& [id, family] : e.families.all()) {
    const size_t size = family->icmp().timestamp_size();
    if (size != 0) wanted.timestamp_sizes[id] = size;
  }
  MutexUnlock unlock(&e.mu);
  std::unique_ptr<wal::CommitLog> log;
  const IOStatus made = MakeLogFile(e, wanted, writer_options, &log);
  if (!made.ok()) {
    log.reset();
    RemoveLogFile(e, wanted);
    return made;
  }
  // Who reads the current log's number meanwhile gets either one's: a family without entries needs
  // neither, and nobody writes.
  e.logs->Switch(std::move(log), e.wal_directory.get());
  return Status::OK();
}

Status FlushWork::SwitchMemTables(const std::vector<ColumnFamily*>& families) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  const bool any = std::any_of(families.begin(), families.end(),
                               [](ColumnFamily* f) { return !f->dropped() && !f->mem()->Empty(); });
  if (!any) return Status::OK();
  Status s = StartNewLog(/*force=*/false);
  if (!s.ok()) return e.ReportedError(s, BackgroundErrorReason::kMemTable);
  const uint64_t log_number = e.logs->current_number();
  const SequenceNumber next_seq = e.versions->last_sequence() + 1;
  std::vector<MemTableInfo> sealed;
  for (ColumnFamily* family : families) {
    if (family->dropped() || family->mem()->Empty()) continue;
    if (events::Wanted(e)) sealed.push_back(DescribeMemTable(*family));
    family->SwitchMemTable(family->NewMemTable(next_seq), log_number);
  }
  // A family with nothing in memory needs no log before this one. Of a batch that failed, though, a
  // log may have the shares of all families: they leave it together, once others are in tables.
  for (const auto& [id, family] : e.families.all()) {
    if (e.errors.writes_stopped()) break;
    if (family->mem()->Empty() && family->immutables().empty()) {
      family->versions()->log_number = std::max(family->versions()->log_number, log_number);
    }
  }
  e.UpdateStalls();
  if (!sealed.empty()) {
    MutexUnlock unlock(&e.mu);
    for (const MemTableInfo& info : sealed) events::MemTableSealed(e, info);
  }
  return Status::OK();
}

void FlushWork::Request(const std::vector<ColumnFamily*>& families, FlushReason reason) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  // What was frozen in one switch must be installed in one step: whatever has not begun yet is one
  // job.
  const bool together = e.options.atomic_flush;
  if (together && !queue_.empty()) queue_.front().reason = reason;
  for (ColumnFamily* family : families) {
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

// A job that waits takes what is full; for any other reason, the rest is flushed too.
void FlushWork::NoteReason(const ColumnFamily& family, FlushReason reason) {
  for (Job& job : queue_) {
    const bool has_it = std::ranges::any_of(
        job.families, [&](const auto& member) { return member.get() == &family; });
    if (has_it && job.reason == FlushReason::kWriteBufferFull) job.reason = reason;
  }
}

void FlushWork::RequestStopped() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  std::vector<ColumnFamily*> stopped;
  for (const auto& [id, family] : e.families.all()) {
    if (family->stall_condition == WriteStallCondition::kStopped &&
        family->stall_cause == WriteStallCause::kMemtableLimit && !family->flush_requested &&
        family->flushes_running == 0) {
      stopped.push_back(family.get());
    }
  }
  if (!stopped.empty()) Request(stopped, FlushReason::kWriteBufferFull);
}

void FlushWork::Schedule() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  if (e.shutting_down.load(std::memory_order_acquire)) return;
  if (e.tree.paused() > 0) return;
  if (e.errors.severity() >= ErrorState::Severity::kHard) return;
  const int limit = e.MaxFlushes();
  const int runnable = CanStart() ? static_cast<int>(queue_.size()) : 0;
  while (scheduled_ < limit && scheduled_ - running_ < runnable) {
    e.env->Schedule(&FlushWork::RunOne, this, Env::Priority::HIGH, this);
    scheduled_++;  // the job takes mu before it counts itself off
  }
}

void FlushWork::TakeBackJobs() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  scheduled_ -= e.env->UnSchedule(this, Env::Priority::HIGH);
  if (e.env->UnSchedule(&freeing_memory_, Env::Priority::HIGH) > 0) freeing_memory_ = false;
}

// What was frozen together goes into force together, and in order.
bool FlushWork::CanStart() const {
  return !engine_->options.atomic_flush || !job_running_;
}

void FlushWork::RunOne(void* work) {
  static_cast<FlushWork*>(work)->BackgroundFlush();
}

void FlushWork::BackgroundFlush() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  running_++;
  // What an error left in memory is for its recovery to flush: of all families in one step.
  const bool may_run = !e.shutting_down.load(std::memory_order_acquire) && e.tree.paused() == 0 &&
                       e.errors.severity() < ErrorState::Severity::kHard;
  if (!queue_.empty() && CanStart() && may_run) {
    Report(Guarded([this] { RunNextJob(); }));
  }
  running_--;
  scheduled_--;
  Report(Guarded([this] {
    if (engine_->stopped_families > 0 && engine_->stalled_writers > 0) RequestStopped();
    Schedule();  // refuses once an error is serious
  }));
  e.background_changed.SignalAll();
}

void FlushWork::Report(const Status& s) {
  Engine& e = *engine_;
  if (!s.ok() && !e.shutting_down.load(std::memory_order_acquire)) {
    e.ReportError(s, BackgroundErrorReason::kFlush);
  }
}

void FlushWork::RunNextJob() {
  Engine& e = *engine_;
  Job job = std::move(queue_.front());
  queue_.pop_front();
  job_running_ = true;
  const Status s =
      Guarded([&] { return RunJob(job, e.options.atomic_flush ? Extent::kAll : Extent::kPiece); });
  job_running_ = false;
  Report(s);
  if (s.ok() && e.reserve != nullptr && !e.reserve->held()) {
    MutexUnlock unlock(&e.mu);
    e.reserve->TakeIfThereIsRoom();
  }
  // With the last share of a dropped family its tables become obsolete.
  job.families.clear();
  e.obsolete->Purge();
}

// A piece is what min_write_buffer_number_to_merge wants together, and more of small memtables up
// to a full one: with many waiting, room for writers comes back table by table, and others can
// flush the rest at the same time.
bool FlushWork::Pick(ColumnFamily* family, Extent extent, FlushInput* input) {
  const auto options = family->options();
  const auto least = static_cast<size_t>(std::max(1, options->min_write_buffer_number_to_merge));
  size_t bytes = 0;
  for (ImmutableMemTable& imm : family->immutables()) {
    if (imm.picked && input->memtables.empty()) continue;
    if (imm.picked) break;  // what lies before it was picked by a flush that failed
    bytes += imm.mem->MemoryUsage();
    const bool enough = input->memtables.size() >= least && bytes > options->write_buffer_size;
    if (extent == Extent::kPiece && enough) break;
    input->memtables.push_back(imm.mem);
    imm.picked = true;
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

bool FlushWork::WantsFlush(const ColumnFamily& family, FlushReason reason) const {
  const auto wanted =
      static_cast<size_t>(std::max(1, family.options()->min_write_buffer_number_to_merge));
  return family.unpicked_count() >= wanted || reason != FlushReason::kWriteBufferFull ||
         engine_->options.atomic_flush;
}

void FlushWork::MakeInput(ColumnFamily* family, FlushInput* result) {
  Engine& e = *engine_;
  FlushInput& input = *result;
  input.snapshots = e.snapshots.Pinned();
  input.full_history_ts_low = family->versions()->full_history_ts_low;
  input.options = family->options();
  input.info_log = e.info_log.get();
  input.icmp = &family->icmp();
  input.enforce_single_del_contracts = e.options.enforce_single_del_contracts;
  input.verify_entry_count = e.options.flush_verify_memtable_count;
  input.allow_data_in_errors = e.options.allow_data_in_errors;
  input.output = MakeTableOutputContext(e, *input.options, Env::IO_HIGH);
  input.build = MakeTableBuildOptions(e, *family, *input.options, /*level=*/0);
  input.build.reason = TableFileCreationReason::kFlush;
  input.build.file_number = e.versions->NewFileNumber();
  input.build.compression = CompressionForLevel(*input.options, 0, family->shape().base_level,
                                                /*bottommost=*/false);
  uint64_t oldest = input.build.creation_time;
  for (const auto& mem : input.memtables) {
    if (mem->oldest_key_time() != 0) oldest = std::min(oldest, mem->oldest_key_time());
  }
  input.build.creation_time = oldest;
  input.build.oldest_key_time = oldest;
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
      MakeInput(family.get(), &flush.input);
      flush.filling = {family->shared_mem(), family->options()->write_buffer_size,
                       family->options()->max_write_buffer_number - family->unflushed_count()};
      flush.job_id = engine_->NextJobId();
      if (WantsFlush(*family, job.reason)) Request({family.get()}, job.reason);
    }
  } catch (...) {
    // Nobody else would ask for those that were not reached.
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
  return FlushPace(engine_, std::move(filling), entries);
}

Status FlushWork::RunPicked(const Job& job, std::vector<FamilyFlush>* flushes, bool* in_order) {
  Engine& e = *engine_;
  {
    MutexUnlock unlock(&e.mu);
    FlushPace pace = PaceOf(flushes);
    const bool gives_way = e.options.background_gives_way && NobodyWaits(job.reason);
    const GiveWay at_pace(gives_way ? &pace : nullptr);
    for (FamilyFlush& flush : *flushes) {
      NotifyBegin(flush, job.reason);
      StopWatch watch(e.clock, e.statistics, FLUSH_TIME);
      VARVE_RETURN_IF_ERROR(RunFlush(flush.input, &flush.result));
      RecordTick(e.statistics, FLUSH_WRITE_BYTES, flush.result.file.size);
    }
    NotePauses(&e, pace);
  }
  // Once one family's share of a batch is in a table, the other families' shares must not be lost
  // with an unsynced log: after a power loss they would be at different moments. Recovery from
  // errors, whose logs may be broken, puts all families into one job instead.
  if (e.families.all().size() > 1 && job.reason != FlushReason::kErrorRecovery) {
    MutexUnlock unlock(&e.mu);
    VARVE_RETURN_IF_ERROR(e.logs->SyncClosed());
  }
  *in_order = WaitForOlder(*flushes);
  return *in_order ? Install(flushes, job.reason) : Status::OK();
}

Status FlushWork::RunJob(const Job& job, Extent extent) {
  Engine& e = *engine_;
  std::vector<FamilyFlush> flushes;
  Status s = PickAll(job, extent, &flushes);
  if (flushes.empty()) return s;
  bool in_order = false;
  if (s.ok()) s = Guarded([&] { return RunPicked(job, &flushes, &in_order); });
  const bool in_force = s.ok() && in_order;
  // What failed is told before others may take it up: a recovery that waits for the job would
  // else make good an error of which the database hears only afterwards.
  if (!in_force) BestEffort([&] { CleanUp(flushes, s); });
  for (FamilyFlush& flush : flushes) {
    flush.family->flushes_running--;
    Unpick(flush);
  }
  order_changed_.SignalAll();
  if (!in_force) return s;
  for (FamilyFlush& flush : flushes) e.compaction->Schedule(flush.family.get());
  RemoveOutputs(flushes);
  MutexUnlock unlock(&e.mu);
  // As a rule the last shares: the memory goes back before listeners take their time, and without
  // the mutex.
  for (FamilyFlush& flush : flushes) flush.input.memtables.clear();
  for (FamilyFlush& flush : flushes) NotifyEnd(flush, job.reason);
  return s;
}

void FlushWork::CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) {
  Engine& e = *engine_;
  if (s.ok() || !e.versions->manifest_in_doubt()) RemoveOutputs(flushes);
  MutexUnlock unlock(&e.mu);
  LogError(e.info_log.get(), "flush failed: %s",
           s.ok() ? "so did that of an older memtable" : s.ToString().c_str());
}

// Readers look into memtables first, so the table of a newer one must not be in force while an
// older one is in memory. False: the flush of an older one has failed, which its own job reports.
bool FlushWork::WaitForOlder(const std::vector<FamilyFlush>& flushes) {
  for (const FamilyFlush& flush : flushes) {
    ColumnFamily& family = *flush.family;
    const std::shared_ptr<MemTable>& own = flush.input.memtables.front();
    while (!family.dropped() && family.immutables().front().mem != own) {
      if (!family.immutables().front().picked) return false;
      order_changed_.Wait();
    }
  }
  return true;
}

void FlushWork::AddEmptyFamilies(std::vector<VersionEdit>* edits,
                                 std::vector<FamilyEdit>* changes) const {
  Engine& e = *engine_;
  edits->resize(e.families.all().size());  // they stay where they are
  size_t i = 0;
  for (const auto& [id, family] : e.families.all()) {
    if (family->dropped() || !family->mem()->Empty() || !family->immutables().empty()) continue;
    VersionEdit& edit = (*edits)[i++];
    edit.column_family = id;
    edit.log_number = e.logs->current_number();
    changes->push_back(FamilyEdit{family->versions(), {&edit}});
  }
}

Status FlushWork::Install(std::vector<FamilyFlush>* flushes, FlushReason reason) {
  Engine& e = *engine_;
  std::vector<FamilyEdit> edits;
  std::vector<VersionEdit> of_empty;
  for (FamilyFlush& flush : *flushes) {
    flush.edit.column_family = flush.family->id();
    flush.edit.log_number = flush.input.memtables.back()->next_log_number();
    flush.edit.prev_log_number = 0;
    if (flush.result.wrote_file) flush.edit.new_files.push_back(flush.result.file);
    if (!flush.result.full_history_ts_low.empty()) {
      flush.edit.full_history_ts_low = flush.result.full_history_ts_low;
    }
    if (flush.family->dropped()) continue;
    edits.push_back(FamilyEdit{flush.family->versions(), {&flush.edit}});
  }
  if (reason == FlushReason::kErrorRecovery) AddEmptyFamilies(&of_empty, &edits);
  if (edits.empty()) return Status::OK();
  Status s = e.versions->LogAndApply(std::move(edits), e.directory.get());
  if (!s.ok()) return s;
  for (FamilyFlush& flush : *flushes) {
    if (flush.family->dropped()) continue;
    flush.in_force = true;
    flush.family->DropFlushed(flush.input.memtables.size());
    e.flush_count++;
    e.flush_bytes += flush.result.file.size;
  }
  // Once all are: what cannot be shown is reported, which may let go of the mutex.
  for (const FamilyFlush& flush : *flushes) {
    if (flush.in_force) e.ShowChange(flush.family.get()).PermitUncheckedError();
  }
  order_changed_.SignalAll();
  e.UpdateStalls();
  return Status::OK();
}

// Tables of a job that did not get into the MANIFEST: it failed, or the family is gone. Not called
// when it is not known whether a failed edit is there: the next open explains the files or sets
// them aside.
void FlushWork::RemoveOutputs(const std::vector<FamilyFlush>& flushes) {
  Engine& e = *engine_;
  std::vector<std::string> paths;
  for (const FamilyFlush& flush : flushes) {
    if (flush.result.wrote_file && !flush.in_force) {
      paths.push_back(TableFileName(e.name, flush.result.file.number));
    }
  }
  if (paths.empty()) return;
  MutexUnlock unlock(&e.mu);
  for (const std::string& path : paths) {
    e.fs->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
  }
}

Status FlushWork::FlushFamilies(const std::vector<ColumnFamily*>& families,
                                const FlushOptions& options, FlushReason reason) {
  // Whoever asks for one family: a batch over two is whole in files only if both are flushed.
  if (engine_->options.atomic_flush && !VARVE_CANARY(kTearAtomicFlush)) {
    return FlushAll(options, reason);
  }
  return SwitchAndFlush(families, options, reason);
}

Status FlushWork::SwitchAndFlush(const std::vector<ColumnFamily*>& families,
                                 const FlushOptions& options, FlushReason reason) {
  Engine& e = *engine_;
  std::vector<std::pair<ColumnFamily*, uint64_t>> targets;  // newest memtable id to be flushed
  Status s;
  {
    const ExclusiveCommit exclusive(e.commit.get());
    MutexLock lock(&e.mu);
    const bool refused = e.errors.writes_stopped() && reason != FlushReason::kErrorRecovery;
    s = refused ? e.errors.error() : SwitchMemTables(families);
    if (s.ok()) {
      for (ColumnFamily* family : families) {
        if (!family->dropped() && !family->immutables().empty()) {
          targets.emplace_back(family, family->immutables().back().mem->id());
        }
      }
      Request(families, reason);
    }
  }
  if (!s.ok() || !options.wait) return s;

  MutexLock lock(&e.mu);
  for (auto& [family, id] : targets) {
    while (s.ok() && !family->dropped() && !family->immutables().empty() &&
           family->immutables().front().mem->id() <= id) {
      if (e.shutting_down.load(std::memory_order_acquire)) {
        s = Status::ShutdownInProgress("flush: the database is being closed");
      } else if (e.errors.severity() >= ErrorState::Severity::kHard) {
        s = e.errors.error();
      } else {
        const bool unpicked =
            std::ranges::any_of(family->immutables(), [&target = id](const ImmutableMemTable& imm) {
              return !imm.picked && imm.mem->id() <= target;
            });
        if (unpicked) Request({family}, reason);
        e.AwaitWork();
      }
    }
  }
  return s;
}

bool FlushWork::WouldStall(const ColumnFamily& family) const {
  const Engine& e = *engine_;
  StallInput after;
  after.unflushed_memtables = family.unflushed_count() + 1;
  after.l0_files = family.shape().l0_files + 1;
  after.pending_compaction_bytes = family.shape().pending_compaction_bytes;
  if (JudgeStall(after, *family.options()).condition == WriteStallCondition::kNormal) return false;
  const bool under_way = Busy() || e.compaction->MayMakeRoom();
  return under_way && e.tree.paused() == 0;
}

void FlushWork::WaitForRoom(const std::vector<ColumnFamily*>& families) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  const auto waits = [&](ColumnFamily* family) {
    const bool empty = family->mem()->Empty() && family->immutables().empty();
    return !family->dropped() && !empty && WouldStall(*family);
  };
  while (!e.shutting_down.load(std::memory_order_acquire) &&
         e.errors.severity() == ErrorState::Severity::kNone &&
         std::ranges::any_of(families, waits)) {
    e.AwaitWorkFor(kRoomPollMicros);
  }
}

Status FlushWork::FlushAll(const FlushOptions& options, FlushReason reason) {
  Engine& e = *engine_;
  std::vector<std::shared_ptr<ColumnFamily>> pinned;
  std::vector<ColumnFamily*> families;
  {
    MutexLock lock(&e.mu);
    for (const auto& [id, family] : e.families.all()) {
      pinned.push_back(family);
      families.push_back(family.get());
    }
  }
  return SwitchAndFlush(families, options, reason);
}

Status FlushWork::FlushAllHere(FlushReason reason) {
  Engine& e = *engine_;
  std::vector<std::shared_ptr<ColumnFamily>> pinned;
  std::vector<ColumnFamily*> families;
  Status s;
  {
    const ExclusiveCommit exclusive(e.commit.get());
    MutexLock lock(&e.mu);
    if (e.errors.writes_stopped()) return e.errors.error();
    for (const auto& [id, family] : e.families.all()) {
      pinned.push_back(family);
      families.push_back(family.get());
    }
    s = SwitchMemTables(families);
  }
  MutexLock lock(&e.mu);
  const auto in_memory = [](const auto& family) {
    return !family->dropped() && !family->immutables().empty();
  };
  while (s.ok() && std::ranges::any_of(pinned, in_memory)) {
    s = FlushNow(pinned, reason);
    if (!s.ok()) return e.ReportedError(s, BackgroundErrorReason::kFlush);
    // One that has failed elsewhere.
    if (e.errors.severity() >= ErrorState::Severity::kHard) s = e.errors.error();
  }
  return s;
}

Status FlushWork::FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                           FlushReason reason) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  const auto running = [&] {
    return std::any_of(families.begin(), families.end(),
                       [](const auto& family) { return family->flushes_running > 0; });
  };
  while (running()) e.AwaitWork();
  std::vector<Job> jobs;
  for (const auto& family : families) {
    const bool together = e.options.atomic_flush || reason == FlushReason::kErrorRecovery;
    if (jobs.empty() || !together) jobs.push_back(Job{{}, reason});
    jobs.back().families.push_back(family);
  }
  for (const Job& job : jobs) {
    Status s = RunJob(job, Extent::kAll);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status FlushWork::SwitchFullMemTables() {
  FlushReason reason;
  std::vector<ColumnFamily*> full = FullFamilies(&reason);
  return full.empty() ? Status::OK() : Switch(std::move(full), reason);
}

Status FlushWork::Switch(std::vector<ColumnFamily*> families, FlushReason reason) {
  Engine& e = *engine_;
  if (e.options.atomic_flush) {
    families.clear();
    for (const auto& [id, family] : e.families.all()) families.push_back(family.get());
  }
  Status s = SwitchMemTables(families);
  if (!s.ok()) return s;
  std::vector<ColumnFamily*> ready;
  for (ColumnFamily* family : families) {
    if (WantsFlush(*family, reason)) ready.push_back(family);
  }
  Request(ready, reason);
  return Status::OK();
}

void FlushWork::NotifyBegin(const FamilyFlush& flush, FlushReason reason) {
  Engine& e = *engine_;
  LogInfo(e.info_log.get(), "[%s] [JOB %d] flushing %zu memtable(s), reason: %s",
          flush.family->name().c_str(), flush.job_id, flush.input.memtables.size(),
          GetFlushReasonString(reason));
  if (!events::Wanted(e)) return;
  events::FlushBegin(e, MakeInfo(flush, reason));
}

void FlushWork::NotifyEnd(const FamilyFlush& flush, FlushReason reason) {
  Engine& e = *engine_;
  const NewFile& file = flush.result.file;
  LogInfo(e.info_log.get(), "[%s] [JOB %d] flushed table #%llu: %llu bytes, %llu entries",
          flush.family->name().c_str(), flush.job_id, static_cast<unsigned long long>(file.number),
          static_cast<unsigned long long>(file.size),
          static_cast<unsigned long long>(file.counts.entries));
  if (!events::Wanted(e)) return;
  if (flush.result.wrote_file) {
    TableFileCreationInfo created;
    created.db_name = e.given_name;
    created.cf_name = flush.family->name();
    created.file_path = TableFileName(e.name, file.number);
    created.job_id = flush.job_id;
    created.reason = TableFileCreationReason::kFlush;
    created.file_size = file.size;
    created.file_checksum = file.file_checksum;
    created.file_checksum_func_name = file.file_checksum_func_name;
    created.table_properties = flush.result.properties;
    events::TableFileCreated(e, created);
  }
  events::FlushCompleted(e, MakeInfo(flush, reason));
}

FlushJobInfo FlushWork::MakeInfo(const FamilyFlush& flush, FlushReason reason) const {
  FlushJobInfo info;
  info.cf_id = flush.family->id();
  info.cf_name = flush.family->name();
  info.file_number = flush.input.build.file_number;
  info.file_path = TableFileName(engine_->name, info.file_number);
  info.thread_id = engine_->env->GetThreadID();
  info.job_id = flush.job_id;
  info.smallest_seqno = flush.result.file.smallest_seq;
  info.largest_seqno = flush.result.file.largest_seq;
  info.table_properties = flush.result.properties;
  info.flush_reason = reason;
  return info;
}

}  // namespace varve
