// SPDX-License-Identifier: Apache-2.0

// Update judges all families in one pass, whenever a shape or a count of memtables has changed.
// From the results follow the pace of delayed writers, the urgency of background jobs, and whether
// stopped writers may go on. Listeners are not called in it, since that would release the mutex in
// the midst of other work: the news is queued, and whoever changed something calls Tell when the
// mutex may be released. Only one thread tells at a time, so that news comes in order.

#include "db/engine/stall_control.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "varve/statistics.h"

#include "db/compaction/plan.h"
#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/env/info_log.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// The number of runs speaks for L0, so worst_score is the highest of the levels below it.
StallInput StallInputOf(const ColumnFamily& family) VARVE_REQUIRES(kDbMutex) {
  StallInput input;
  input.unflushed_memtables = family.unflushed_count();
  input.l0_files = family.shape().runs;
  input.pending_compaction_bytes = family.shape().pending_compaction_bytes;
  const std::vector<double>& scores = family.shape().scores;
  if (scores.size() > 1) input.worst_score = *std::max_element(scores.begin() + 1, scores.end());
  return input;
}

}  // namespace

// Results of one pass over the families.
struct StallControl::Judged {
  uint64_t debt = 0;       // most pending compaction bytes of a delayed family
  bool near_stop = false;  // some delayed family will soon stop writes
  // The highest urgency that any family gives to this kind of work.
  Urgency flushes = Urgency::kCalm;
  Urgency compactions = Urgency::kCalm;
  int proximity = 0;  // see StallControl::proximity
  std::vector<WriteStallInfo> changes;
};

// Holds the changes of one judgement, for Tell.
struct StallControl::News {
  bool stalled = false;  // false: the stall is over
  std::string reason;
  uint64_t rate = 0;    // of delayed writes, in bytes per second
  uint64_t lasted = 0;  // microseconds since the stall began; 0 at its beginning
  std::vector<WriteStallInfo> changes;
};

StallControl::StallControl(DbMutex* mu, const DbContext& context, const ColumnFamilySet& families,
                           const ErrorState& errors, WorkSignal* work)
    : mu_(mu),
      context_(context),
      families_(families),
      errors_(errors),
      work_(*work),
      pacer_(std::make_unique<DelayPacer>(context.options().delayed_write_rate)),
      stop_ended_(mu) {}

StallControl::~StallControl() = default;

void StallControl::SetRate(uint64_t bytes_per_second) {
  pacer_ = std::make_unique<DelayPacer>(bytes_per_second);
}

// Computes everything anew in one pass, then acts on what has changed: the pace of delayed writers,
// the hurry of background work, the flag that makes writers look, those who sleep, and the news for
// listeners. Lack of memory costs the news, and nothing else.
void StallControl::Update() {
  mu_->AssertHeld();
  const bool stopped_before = stopped();
  const bool stopped_for_compaction_before = stopped_for_compaction_;
  const bool stalled_before = stopped() || delayed();
  // Everything is computed anew: a stall that one family's end has lifted may still be another's.
  delayed_families_ = 0;
  stopped_families_ = 0;
  stopped_for_compaction_ = false;
  stalled_for_compaction_ = false;
  reason_.clear();
  Judged all;
  for (const auto& [id, family] : families_.all()) {
    if (!family->dropped()) JudgeFamily(family.get(), &all);
  }
  AdjustPace(all, stopped_for_compaction_before);
  VARVE_ASSERT(reason_.empty() || stopped() || delayed());
  // Work that does not run must not make other work hurry.
  const bool stands = errors_.writes_stopped();
  flush_haste_.Set(stands ? Urgency::kCalm : all.flushes);
  compaction_haste_.Set(stands ? Urgency::kCalm : all.compactions);
  compactions_hurry_ = all.compactions != Urgency::kCalm;
  proximity_ = all.proximity;
  const bool stalled = stopped() || delayed();
  // The flag makes the next writer look. It is cleared by a writer that finds nothing left
  // (WriteAdmission), not here.
  if (stalled) slow_path_.Set();
  // Stopped writers sleep on a condition of their own, calls that wait for work on another.
  if (stopped_before && !stopped()) {
    work_.SignalAll();
    WakeStopped();
  }
  const uint64_t now = context_.MonotonicMicros();
  if (stalled && !stalled_before) since_ = now;
  // A stall counts from the first family's stall to the last one's end, whatever condition each is
  // in.
  const uint64_t lasted = stalled_before && now > since_ ? now - since_ : 0;
  if (!stalled) since_ = 0;
  if (all.changes.empty()) return;
  BestEffort([&] {
    mu_->AssertHeld();
    untold_.push_back({stalled, reason_, DelayedRate(), lasted, std::move(all.changes)});
  });
}

// Sets the family's own condition; adds what concerns all families to *all and to the counters
// (stopped_families_, delayed_families_).
void StallControl::JudgeFamily(ColumnFamily* family, Judged* all) {
  const StallInput input = StallInputOf(*family);
  const auto options = family->options();
  all->flushes = std::max(all->flushes, FlushUrgency(input, *options));
  all->compactions = std::max(all->compactions, CompactionUrgency(input, *options));
  all->proximity = std::max(all->proximity, StallProximity(input, *options));
  const StallVerdict verdict = JudgeStall(input, *options);
  const bool stops = verdict.condition == WriteStallCondition::kStopped;
  const bool for_compaction = verdict.cause == WriteStallCause::kL0FileCountLimit ||
                              verdict.cause == WriteStallCause::kPendingCompactionBytes;
  if (stops) stopped_families_++;
  stopped_for_compaction_ |= stops && for_compaction;
  stalled_for_compaction_ |= for_compaction;
  if (verdict.condition == WriteStallCondition::kDelayed) {
    delayed_families_++;
    all->debt = std::max(all->debt, input.pending_compaction_bytes);
    all->near_stop |= verdict.near_stop;
  }
  // Only the texts and events for users need memory. Without it they are left out; conditions and
  // counts are right all the same.
  BestEffort([&] {
    mu_->AssertHeld();
    DescribeVerdict(*family, verdict, input, &all->changes);
  });
  CountVerdict(family, verdict);
  // The condition is stored last, as the functions above compare with the old one.
  family->stall_condition = verdict.condition;
  family->stall_cause = verdict.cause;
}

// A stop by full memtables alone changes nothing: it lasts as long as a flush, at any rate of
// writes, and says nothing of whether compactions keep up. If such a family would otherwise be
// delayed, its delay goes on afterwards at the same rate.
void StallControl::AdjustPace(const Judged& all, bool stopped_before) {
  if (stopped() && !delayed() && !stopped_for_compaction_) return;
  if (delayed()) {
    pacer_->Adjust(last_debt_bytes_, all.debt, all.near_stop || stopped_for_compaction_,
                   stopped_before && !stopped_for_compaction_);
  } else {
    pacer_->Release();
  }
  last_debt_bytes_ = all.debt;
}

// Adds to the reason of the stall and, if the family's condition changes, to the events for
// listeners. Throws std::bad_alloc; the stall is in force all the same.
void StallControl::DescribeVerdict(const ColumnFamily& family, const StallVerdict& verdict,
                                   const StallInput& input, std::vector<WriteStallInfo>* changes) {
  const bool stops = verdict.condition == WriteStallCondition::kStopped;
  // The reason is that of the first family that stalls, until one is found that stops.
  if (verdict.condition != WriteStallCondition::kNormal &&
      (reason_.empty() || (stops && stopped_families_ == 1))) {
    reason_ = "[" + family.name() + "] " + verdict.Reason(input, *family.options());
  }
  if (verdict.condition != family.stall_condition) {
    WriteStallInfo change;
    change.cf_name = family.name();
    change.condition.cur = verdict.condition;
    change.condition.prev = family.stall_condition;
    changes->push_back(change);
  }
}

// Counts the family's new condition if it differs from the last one.
void StallControl::CountVerdict(ColumnFamily* family, const StallVerdict& verdict) {
  if (verdict.condition == family->stall_condition && verdict.cause == family->stall_cause) return;
  const bool compacting_l0 =
      std::any_of(family->running_compactions.begin(), family->running_compactions.end(),
                  [](const CompactionPlan* plan) { return plan->start_level == 0; });
  family->stall_counts.Count(verdict.condition, verdict.cause, compacting_l0);
}

// Returns at once if another thread is calling listeners: it takes this news from untold_ as well.
void StallControl::Tell() {
  if (telling_) return;  // that thread checks again
  telling_ = true;
  while (!untold_.empty()) {
    // The queue is taken as a whole: listeners run without the mutex, and more news may come
    // meanwhile.
    std::vector<News> all = std::move(untold_);
    untold_.clear();
    DbUnlock unlock(mu_);
    for (const News& news : all) {
      BestEffort([&] { TellNews(news); });
    }
  }
  telling_ = false;
}

void StallControl::TellNews(const News& news) const {
  if (news.stalled) {
    LogWarn(context_.info_log(), "writes: %s (delayed ones get %llu bytes/s)", news.reason.c_str(),
            static_cast<unsigned long long>(news.rate));
  } else {
    LogWarn(context_.info_log(), "writes: no stall any more, after %.3f s",
            static_cast<double>(news.lasted) / 1e6);
  }
  for (const WriteStallInfo& change : news.changes) {
    event_log::StallChanged(context_, change);
    if (events::Wanted(context_)) events::StallConditionsChanged(context_, change);
  }
}

std::string StallControl::Describe() const {
  if (reason_.empty()) return "";
  const uint64_t now = context_.MonotonicMicros();
  char length[48];
  snprintf(length, sizeof(length), "; for %.3f s so far",
           static_cast<double>(now > since_ ? now - since_ : 0) / 1e6);
  if (!stalled_for_compaction_ || !errors_.awaits_resume()) return reason_ + length;
  return reason_ + length + "; no compaction ends it before DB::Resume is called, after " +
         errors_.error().ToString();
}

uint64_t StallControl::BeginWait() {
  const uint64_t now = context_.MonotonicMicros();
  // Time counts once, however many writers wait side by side.
  if (waiting_writers_++ == 0) waiting_since_ = now;
  VARVE_PROBE_WRITE_STALL_BEGIN(reason_.c_str(), stopped());
  return now;
}

void StallControl::EndWait(uint64_t started) {
  VARVE_ASSERT(waiting_writers_ > 0);
  const uint64_t now = std::max(context_.MonotonicMicros(), started);
  VARVE_PROBE_WRITE_STALL_END(now - started);
  RecordInHistogram(context_.statistics(), WRITE_STALL, now - started);
  if (--waiting_writers_ > 0) return;
  const uint64_t waited = now - std::min(now, waiting_since_);
  waited_micros_ += waited;
  RecordTick(context_.statistics(), STALL_MICROS, waited);
}

uint64_t StallControl::WaitedMicros() const {
  if (waiting_writers_ == 0) return waited_micros_;
  const uint64_t now = context_.MonotonicMicros();
  return waited_micros_ + (now > waiting_since_ ? now - waiting_since_ : 0);
}

void StallControl::ResetTotals() {
  waited_micros_ = 0;
  totals_ = StallTotals();
}

void StallControl::Calm() {
  flush_haste_.Set(Urgency::kCalm);
  compaction_haste_.Set(Urgency::kCalm);
}

}  // namespace varve
