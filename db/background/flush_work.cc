// SPDX-License-Identifier: Apache-2.0

// Switching a memtable and writing it to a table are separate steps. A memtable becomes immutable
// (SwitchMemTables) on a thread that holds the commit path exclusively, so that no batch is split
// between the old and the new memtable, and together with the start of a new log, so that its data
// is in logs below a known number. Tables are written later by threads of the Env's pool, or by
// callers that wait.
//
// Invariants
// 1. scheduled_ counts jobs given to the pool which have not ended; running_ counts those among
//    them that have begun. No job is given to the pool beyond the limit of the options.
// 2. family->flush_requested is true as long as the queue has a job with the family, so that a
//    family is in the queue at most once.
// 3. With atomic_flush all families that wait are one job, one job runs at a time, and it takes
//    everything that is immutable: memtables of one switch go into one edit of the MANIFEST.
// 4. After a hard error no job begins. Recovery calls FlushNow itself, for all families in one
//    step.
// 5. Waiting callers do not rely on signals alone: each also checks the Env's pools periodically,
//    as a user may change their sizes.

#include "db/background/flush_work.h"

#include <algorithm>
#include <utility>

#include "db/background/short_jobs.h"
#include "db/engine/events.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Interval at which WaitForRoom checks again without a signal.
constexpr uint64_t kRoomPollMicros = 50 * 1000;
// Time for which the thread of a failed flush waits before it ends (RestAfterFailure).
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
      purger_(parts.purger),
      reserve_(parts.reserve),
      reports_(parts.context, &parts.state.mu),
      runner_({parts.context, parts.dynamic, parts.state, parts.lifecycle, parts.errors,
               parts.stalls, parts.statistics, parts.purger, *this}) {}

FlushWork::~FlushWork() {
  context_.write_buffer_manager()->Leave(this);
}

// Begins a log, unless the current one is empty, and switches each non-empty memtable with the
// number of that log. Then raises the log numbers of families without data in memory to it. If an
// error is returned, no memtable was switched.
Status FlushWork::SwitchMemTables(const std::vector<ColumnFamily*>& families) {
  state_.mu.AssertHeld();
  const bool any = std::any_of(families.begin(), families.end(),
                               [](ColumnFamily* f) { return !f->dropped() && !f->mem()->Empty(); });
  if (!any) return Status::OK();
  // The log is begun first: if that fails, nothing has changed.
  Status s = new_logs_.Start(/*force=*/false);
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  const uint64_t log_number = state_.logs->current_number();
  // Writers are blocked, so the new memtables' first entry gets this number.
  const SequenceNumber next_seq = state_.versions->last_sequence() + 1;
  std::vector<MemTableInfo> sealed;
  for (ColumnFamily* family : families) {
    if (family->dropped() || family->mem()->Empty()) continue;
    if (events::Wanted(context_)) sealed.push_back(DescribeMemTable(*family));
    VARVE_PROBE_MEMTABLE_SWITCH(family->name().c_str(), family->mem()->entry_count(),
                                family->mem()->MemoryUsage(), log_number);
    family->SwitchMemTable(family->NewMemTable(next_seq), log_number);
    VARVE_ASSERT(family->mem()->Empty());
  }
  // A family without data in memory needs no log before this one. But after a failed write a log
  // may have a batch that only some families have in memory: then all families must change their
  // log numbers together, in error recovery.
  for (const auto& [id, family] : state_.families.all()) {
    if (errors_.state().writes_stopped()) break;
    if (family->mem()->Empty() && family->immutables().empty()) {
      family->versions()->log_number = std::max(family->versions()->log_number, log_number);
    }
  }
  stalls_.Update();
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (VARVE_CANARY(kTellStallsInSwitch)) stalls_.Tell();
  if (!sealed.empty()) {
    DbUnlock unlock(&state_.mu);
    for (const MemTableInfo& info : sealed) events::MemTableSealed(context_, info);
  }
  return Status::OK();
}

// A family is in the queue at most once. If it is queued already, only the reason of its job may
// change.
void FlushWork::Request(const std::vector<ColumnFamily*>& families, FlushReason reason) {
  state_.mu.AssertHeld();
  // With atomic_flush, memtables of one switch must be installed atomically, so all waiting
  // families form one job.
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
      queue_.push_back(FlushJob{{family->shared_from_this()}, reason});
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

void FlushWork::NoteReason(const ColumnFamily& family, FlushReason reason) {
  for (FlushJob& job : queue_) {
    const bool has_it = std::ranges::any_of(
        job.families, [&](const auto& member) { return member.get() == &family; });
    if (has_it && job.IsOfFullMemTable()) job.reason = reason;
  }
}

// While writes are stopped, memtables that wait to be merged with more would wait forever.
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

// Does nothing while no flush may begin. Jobs that wait in a pool without threads are rescheduled
// in the one that has some.
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
    scheduled_++;  // the job takes the mutex before it decrements this
  }
}

void FlushWork::CancelScheduledJobs() {
  state_.mu.AssertHeld();
  scheduled_ -= TakeBackShortJobs(context_.env(), this);
  VARVE_ASSERT(scheduled_ >= running_);
  if (TakeBackShortJobs(context_.env(), &freeing_memory_) > 0) freeing_memory_ = false;
}

// With atomic_flush, jobs run one at a time, as memtables that were switched together must be
// installed together and in order.
bool FlushWork::CanStart() const {
  return !context_.options().atomic_flush || !job_running_;
}

void FlushWork::RunOne(void* work) {
  static_cast<FlushWork*>(work)->BackgroundFlush();
}

// There may be nothing to do, as the queue or the state of the database may have changed since the
// job was scheduled. In any case it schedules the next jobs and wakes waiting threads.
void FlushWork::BackgroundFlush() {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  DbLock lock(&state_.mu);
  running_++;
  // After a hard error, only error recovery flushes, all families in one job.
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
    Schedule();  // does nothing after a hard error
  }));
  state_.work.SignalAll();
}

void FlushWork::Report(const Status& s) {
  if (!s.ok() && !lifecycle_.shutting_down()) {
    errors_.Report(s, BackgroundErrorReason::kFlush);
  }
}

// A failure is reported, and then the thread waits, so that a persistent failure is not retried at
// once.
void FlushWork::RunNextJob() {
  VARVE_ASSERT(!queue_.empty() && CanStart());
  // The job is removed from the queue before it runs, since running releases the mutex.
  FlushJob job = std::move(queue_.front());
  queue_.pop_front();
  job_running_ = true;
  const Status s = Guarded([&] {
    state_.mu.AssertHeld();
    return runner_.Run(job, context_.options().atomic_flush ? FlushRunner::Extent::kAll
                                                            : FlushRunner::Extent::kPiece);
  });
  job_running_ = false;
  Report(s);
  if (!s.ok() && !s.IsColumnFamilyDropped()) RestAfterFailure();
  // The new tables may have used up the allowed space; that error stops writes.
  if (s.ok()) Report(context_.CheckSpace());
  if (s.ok() && reserve_.Lacks()) {
    DbUnlock unlock(&state_.mu);
    reserve_.TakeIfThereIsRoom();
  }
  // This may release the last reference to a dropped family, whose tables then become obsolete.
  job.families.clear();
  purger_.Purge();
}

// A failed flush is a hard error, after which no job begins and no rest is needed. But if a
// listener has suppressed the error, the next job would begin at once, and fail again while the
// cause persists.
void FlushWork::RestAfterFailure() {
  const uint64_t until = context_.MonotonicMicros() + kRestAfterFailureMicros;
  const auto next_job_may_begin = [this] {
    state_.mu.AssertHeld();
    return !lifecycle_.shutting_down() && tree_.paused() == 0 &&
           errors_.state().severity() < ErrorState::Severity::kHard;
  };
  while (next_job_may_begin()) {
    const uint64_t now = context_.MonotonicMicros();
    if (now >= until) return;
    state_.work.WaitFor(until - now);
  }
}

bool FlushWork::WantsFlush(const ColumnFamily& family, FlushReason reason) const {
  const auto wanted =
      static_cast<size_t>(std::max(1, family.options()->min_write_buffer_number_to_merge));
  return family.unpicked_count() >= wanted || !FlushJob{{}, reason}.IsOfFullMemTable() ||
         context_.options().atomic_flush;
}

void FlushWork::RequestRest(ColumnFamily* family, FlushReason reason) {
  if (WantsFlush(*family, reason)) Request({family}, reason);
}

Status FlushWork::FlushFamilies(const std::vector<ColumnFamily*>& families,
                                const FlushOptions& options, FlushReason reason) {
  // All families are flushed even if one is named, since a batch over two families is completely in
  // tables only if both are flushed.
  if (context_.options().atomic_flush && !VARVE_CANARY(kTearAtomicFlush)) {
    return FlushAll(options, reason);
  }
  return SwitchAndFlush(families, options, reason);
}

// Switches the memtables while writers are blocked, and then waits, while writers continue, until
// the memtables that were immutable at the switch are in tables. Newer memtables do not prolong the
// wait. The waiting call checks periodically: the memtables of a failed flush are requested again,
// unless the error stops all flushes; then the error is returned, and the request remains queued.
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
  if (s.ok() && reason == FlushReason::kManualFlush) reports_.ManualScheduled(families);

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
        Schedule();  // the pool of short jobs may have changed
      }
    }
  }
  return s;
}

bool FlushWork::WouldStall(const ColumnFamily& family) const {
  // A flush first adds an immutable memtable, by the switch, and then tables to L0. Both count
  // here, although the memtable is gone when the tables are there.
  StallInput after;
  after.unflushed_memtables = family.unflushed_count() + 1;
  after.l0_files = family.shape().runs + family.shape().runs_per_flush;
  after.pending_compaction_bytes = family.shape().pending_compaction_bytes;
  if (JudgeStall(after, *family.options()).condition == WriteStallCondition::kNormal) return false;
  const bool under_way = Busy() || compaction_->MayMakeRoom();
  return under_way && tree_.paused() == 0;
}

// Checks again after each change of background work, and periodically. A background error of any
// severity ends the wait.
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

// Holds references to the families, since they may be dropped while the mutex is released.
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

// Repeats, since a background job may have picked some of the memtables and failed; they are then
// flushed here.
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

// Stops stamping new logs, flushes everything, and begins another log if the current one is still
// stamped.
Status FlushWork::LeaveStampedLogs() {
  {
    DbLock lock(&state_.mu);
    if (!new_logs_.stamped() || !state_.prepared.Undecided().empty()) return Status::OK();
    new_logs_.StopStamping();
  }
  // New logs are not stamped any more, and this flush makes the stamped ones obsolete.
  VARVE_RETURN_IF_ERROR(FlushAllHere(FlushReason::kShutDown));
  const ExclusiveCommit exclusive(state_.commit.get());
  DbLock lock(&state_.mu);
  return new_logs_.current_stamped() ? LeaveLog(/*force=*/true) : Status::OK();
}

// Switches all families while writers are blocked, and then flushes on this thread until the
// memtables that were immutable then are in tables. Repeats, since a background job may have picked
// some of them and failed.
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

// The first failure ends the call; families that were flushed before stay flushed.
Status FlushWork::FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families,
                           FlushReason reason, bool together) {
  state_.mu.AssertHeld();
  const auto running = [&] {
    return std::ranges::any_of(families, [](const auto& family) {
      AssumeDbMutexHeld();
      return family->flushes_running > 0;
    });
  };
  // A running job has picked older memtables, which must be in tables first.
  while (running()) state_.work.AwaitWork();
  // In error recovery the logs may be damaged, so all families are flushed atomically: a batch over
  // two of them must not be in the tables of one alone.
  together |= context_.options().atomic_flush || reason == FlushReason::kErrorRecovery;
  std::vector<FlushJob> jobs;
  for (const auto& family : families) {
    if (jobs.empty() || !together) jobs.push_back(FlushJob{{}, reason});
    jobs.back().families.push_back(family);
  }
  for (const FlushJob& job : jobs) {
    Status s = runner_.Run(job, FlushRunner::Extent::kAll);
    // A family that was dropped meanwhile needs no flush, but the others do.
    if (!s.ok() && !s.IsColumnFamilyDropped()) return s;
  }
  return Status::OK();
}

// Each round flushes the memtables that no other job has picked. If others have picked all of them,
// the call waits and checks again, as those jobs may fail.
Status FlushWork::FlushFrozen(const std::vector<Frozen>& frozen, FlushReason reason) {
  for (;;) {
    FlushJob job{{}, reason};
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
    const Status s = runner_.Run(job, FlushRunner::Extent::kAll);
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

// Begins a new log, and sets the log numbers of all families to it in one edit, which makes the old
// logs obsolete. The old logs are synced first: a decision about a prepared transaction must be
// durable before the log with the transaction is deleted. After a failure the old logs are still
// needed.
Status FlushWork::LeaveLog(bool force) {
  Status s = new_logs_.Start(force);
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  const uint64_t current = state_.logs->current_number();
  {
    DbUnlock unlock(&state_.mu);
    s = state_.logs->SyncClosed();
  }
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kMemTable);
  state_.prepared.NoteDurable(current);
  std::vector<VersionEdit> of_empty;  // owns what `edits` points to
  std::vector<FamilyEdit> edits;
  runner_.AddEmptyFamilies(&of_empty, &edits);
  s = state_.versions->LogAndApply(std::move(edits), context_.directory());
  if (!s.ok()) return errors_.Reported(s, BackgroundErrorReason::kManifestWriteNoWAL);
  state_.prepared.Prune(state_.versions->FamilyLogs());
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

}  // namespace varve
