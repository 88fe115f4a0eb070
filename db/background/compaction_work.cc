// SPDX-License-Identifier: Apache-2.0

// Implements the queue of families that need compaction, and automatic jobs.

#include "db/background/compaction_work.h"

#include <algorithm>
#include <utility>

#include "db/background/compaction_participant.h"
#include "db/background/work_paces.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// Maximum number of tables opened before one compaction.
constexpr size_t kTablesOpenedAtOnce = 64;
constexpr uint64_t kMicrosASecond = 1000 * 1000;

// Returns true if the limiter makes the family wait, which then stays in the queue. When the
// limiter has a free slot again, it wakes the database's timer (SharedTimer), which calls
// ScheduleDue.
bool MustWaitForOthers(const std::shared_ptr<ConcurrentTaskLimiter>& limiter) {
  return limiter != nullptr && TaskLimiterOf(limiter.get())->MustWait();
}

// Returns the microseconds until `due`, in seconds since 1970; one second if it has passed, since
// files that are due and not compacted wait for something else; UINT64_MAX if it is too far away.
uint64_t MicrosUntil(uint64_t due, int64_t now) {
  const uint64_t present = now > 0 ? static_cast<uint64_t>(now) : 0;
  const uint64_t seconds = due > present ? due - present : 1;
  return seconds < UINT64_MAX / kMicrosASecond ? seconds * kMicrosASecond : UINT64_MAX;
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
      purger_(parts.purger),
      reports_(parts.context) {}

std::shared_ptr<ConcurrentTaskLimiter> CompactionWork::LimiterOf(const ColumnFamily& family) {
  return family.dropped() ? nullptr : family.options()->compaction_thread_limiter;
}

void CompactionWork::Schedule(ColumnFamily* family) {
  Enqueue(family);
  Dispatch();
}

void CompactionWork::Enqueue(ColumnFamily* family) {
  state_.mu.AssertHeld();
  // A family is in the queue at most once; a job that does not finish its work queues it again.
  if (!context_.read_only() && !family->dropped() && !family->compaction_queued) {
    const auto options = family->options();
    if (CompactsUnasked(*options) && NeedsCompaction(family->current(), family->shape(), *options,
                                                     family->running_compactions)) {
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

// Ages of files are measured by the wall clock, as the times in tables are. Postponed compactions
// use the monotonic clock, which cannot be set.
uint64_t CompactionWork::ScheduleDue() {
  state_.mu.AssertHeld();
  int64_t now = 0;
  if (!context_.clock()->GetCurrentTime(&now).ok()) now = 0;
  const uint64_t monotonic = context_.MonotonicMicros();
  const bool asks_again = ask_again_at_ != 0 && monotonic >= ask_again_at_;
  uint64_t next_due = UINT64_MAX;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->dropped()) continue;
    const DueFiles& due = family->shape().due;
    const bool aged = now > 0 && due.next_due <= static_cast<uint64_t>(now);
    // Families that still wait for a snapshot must be measured again.
    if (aged || asks_again || due.waits_for_snapshot != kMaxSequenceNumber) {
      family->MeasureShape();
      Enqueue(family.get());
    }
    next_due = std::min(next_due, family->shape().due.next_due);
  }
  Dispatch();
  // Reset only now, as everything above may throw, and the next call must then retry. A job that is
  // postponed again sets it later, when it holds the mutex.
  if (asks_again) ask_again_at_ = 0;
  const uint64_t wait = MicrosUntil(next_due, now);
  return ask_again_at_ == 0 ? wait : std::min(wait, ask_again_at_ - monotonic);
}

bool CompactionWork::MayRunAutomatic() const {
  return !lifecycle_.shutting_down() && errors_.state().severity() == ErrorState::Severity::kNone;
}

bool CompactionWork::MayPlanFor(const ColumnFamily& family) const {
  return tree_.MayPlan(TreeAdmission::Participant(TreeAdmission::Kind::kJob, &family));
}

// Schedules one job for each family in the queue that may be planned for now, up to the limit.
void CompactionWork::Dispatch() {
  if (!MayRunAutomatic()) return;
  const int limit = dynamic_.MaxCompactions();
  // Scheduled jobs that have not begun will take the first runnable families, so new jobs are
  // needed only for the ones after these.
  int waiting = scheduled_ - running_;
  for (const auto& family : queue_) {
    if (scheduled_ >= limit) return;
    if (!MayPlanFor(*family) || MustWaitForOthers(LimiterOf(*family))) continue;
    if (waiting-- > 0) continue;
    context_.env()->Schedule(&CompactionWork::RunOne, this, Env::Priority::LOW, this);
    scheduled_++;  // the job takes the mutex before it decrements this
  }
}

void CompactionWork::CancelScheduledJobs() {
  state_.mu.AssertHeld();
  scheduled_ -= context_.env()->UnSchedule(this, Env::Priority::LOW);
  VARVE_ASSERT(scheduled_ >= running_);
}

// Requires that the admission and the family's limiter allow it. Other families keep their places.
std::shared_ptr<ColumnFamily> CompactionWork::TakeRunnable(TaskSlot* slot) {
  // The state may have changed since the job was scheduled.
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

// A job takes at most one family. It counts as running until everything after its work is done,
// since Close and pauses wait for that count.
void CompactionWork::BackgroundCompaction() {
  const ActiveWork active(ActiveWork::kCompaction, &lifecycle_, "a compaction");
  DbLock lock(&state_.mu);
  running_++;
  TaskSlot slot;
  if (std::shared_ptr<ColumnFamily> family = TakeRunnable(&slot)) {
    Report(RunAutomatic(family));
    slot.Release();
    // This may release the last reference to a dropped family, whose tables then become obsolete.
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
  // The shape is computed now, since files may have been marked for compaction since the last
  // super-version was made, or making that may have failed.
  LevelShape shape = family.ComputeShape();
  return {family.current(), std::move(shape), std::move(options), family.running_compactions};
}

// Skips a table that cannot be opened; a reader that needs it gets the error.
bool CompactionWork::OpenTombstones(ColumnFamily* family) {
  // `version` and `files` may hold last references to tables, which are not closed here.
  const ObsoleteFileQueue::LeaveOpen leave_open;
  const VersionRef version = family->current();
  std::vector<std::pair<int, FileRef>> files;
  for (const CoveredFile& file : family->shape().due.unopened) {
    if (files.size() == kTablesOpenedAtOnce) break;
    // The shape may be older than the version.
    if (file.level >= version->num_levels()) continue;
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
  // Also updates the snapshot that files wait for, which is known only now.
  if (opened && !family->dropped()) family->MeasureShape();
  return opened;
}

// The family was removed from the queue, so every return must leave it without work or queue it
// again: a job that may not plan now does so here, and RunPlan does so for a plan.
Status CompactionWork::RunAutomatic(const std::shared_ptr<ColumnFamily>& family) try {
  // The range tombstones of a table are known only when it is open, and may make files due.
  const bool opened = OpenTombstones(family.get());
  if (family->dropped()) return Status::OK();
  Participant job(this, TreeAdmission::Kind::kJob, family.get());
  // The mutex was released meanwhile.
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
  // Compactions of L0, and those for which the picker has set 0, may be split among threads.
  if (plan->start_level == 0 || plan->max_subcompactions == 0) {
    plan->max_subcompactions = dynamic_.current()->max_subcompactions;
  }
  CompactionResult result;
  CompactionPace pace(context_.clock(), lifecycle_, state_.work);
  RunControl control;
  if (context_.options().background_gives_way) control.pace = &pace;
  const Status s = RunPlan(&job, std::move(plan), control, &result);
  statistics_.CountPauses(pace);
  // A family that was dropped needs no compaction, and one without space was postponed: neither is
  // an error of the job.
  if (s.IsColumnFamilyDropped() || s.IsCompactionTooLarge()) return Status::OK();
  return s;
} catch (...) {
  return CaughtException();
}

// The failed compaction may not be needed any more: if no compaction is due after this job,
// compactions work again.
void CompactionWork::NoteEndOfJob() {
  if (errors_.state().awaits_resume()) stalls_.WakeStopped();
  if (Working() == 1 && queue_.empty() && ask_again_at_ == 0) errors_.NoteCompactionsWork();
}

}  // namespace varve
