// SPDX-License-Identifier: Apache-2.0

// The rules are a table, kRules: which measure, from which limit on, leads to which condition, and
// the name of the option for the message. The verdict, its reason, the distance to a stall
// (StallProximity) and the urgency of compactions are computed from the same rows, so they cannot
// contradict each other.
//
// A limit that the options do not set is 0 and never reached. Without automatic compactions only
// the memtables stall writes, because nothing would end the other stalls; StallProximity still
// counts all measures.
//
// The urgency of compactions rises on the way to a stall, by quarters, so that they hurry before
// writers have to wait. The rate of DelayPacer is steered by the sign of the change of pending
// bytes, in steps of a fifth; near a stop, or after one, it falls in larger steps whatever that is.
// It is never computed from a measured speed of compactions, which would follow each burst.

#include "db/write/write_stall.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

using Condition = WriteStallCondition;
using Cause = WriteStallCause;

constexpr uint64_t kDefaultRate = uint64_t{16} << 20;
constexpr uint64_t kMinRate = 16 << 10;
// Shorter waits are accumulated, because sleeps are not that exact.
constexpr double kSliceMicros = 1000;

constexpr double kSlowDown = 0.8;
constexpr double kSlowDownNearStop = 0.6;
constexpr double kAfterRelease = 1.4;

// Fractions of the way from a normal state to a delay, or from a delay to a stop.
constexpr double kWayToSoon = 0.25;
constexpr double kWayToPressing = 0.5;
constexpr double kWayToHurry = 0.75;
constexpr double kWayNearStop = 0.75;
constexpr uint64_t kFilesNearStop = 2;  // Before a stop, one more is a large step.
// Scores of a level: full, and behind by half its size and by its whole size.
constexpr double kFull = 1;
constexpr double kOverfull = 1.5;
constexpr double kTwiceFull = 2;
// Files in level 0, as a multiple of the trigger, that end the way to a delay for compactions.
// Every reader searches each of these files, so they must not pile up until writes are delayed.
constexpr double kTriggersToDelay = 2.5;

// Returns the limit; a negative option sets none.
uint64_t Limit(int option) {
  return static_cast<uint64_t>(std::max(option, 0));
}

// Returns the number of memtables at which writes are delayed: when the one being filled is the
// last but one, of more than three, and a flush would take the waiting ones.
uint64_t MemtablesThatDelay(const ColumnFamilyOptions& o) {
  const int at = std::max(o.max_write_buffer_number - 1, o.min_write_buffer_number_to_merge + 1);
  return o.max_write_buffer_number > 3 ? Limit(at) : 0;
}

// A quantity that can cause a stall.
struct Measure {
  Cause cause;
  bool needs_compaction;  // Ignored without automatic compactions.
  uint64_t (*value)(const StallInput& input);
  const char* what;
  const char* ends;
};

constexpr Measure kMemtables{
    Cause::kMemtableLimit, false,
    [](const StallInput& in) { return static_cast<uint64_t>(in.unflushed_memtables); },
    "memtables wait to be flushed", "ends with a flush"};
constexpr Measure kL0Files{Cause::kL0FileCountLimit, true,
                           [](const StallInput& in) { return static_cast<uint64_t>(in.l0_files); },
                           "files in level 0",
                           "ends when compactions have taken files out of level 0"};
constexpr Measure kPendingBytes{Cause::kPendingCompactionBytes, true,
                                [](const StallInput& in) { return in.pending_compaction_bytes; },
                                "bytes wait to be compacted",
                                "ends when compactions have caught up"};

// A rule: the condition holds from the limit on; 0: never.
struct StallRule {
  Condition condition;
  const Measure& measure;
  uint64_t (*limit)(const ColumnFamilyOptions& options);
  const char* option;
};

// The rules of RocksDB's page "Write Stalls", in its order; the first that matches decides.
constexpr StallRule kRules[] = {
    {Condition::kStopped, kMemtables,
     [](const ColumnFamilyOptions& o) { return Limit(o.max_write_buffer_number); },
     "max_write_buffer_number"},
    {Condition::kStopped, kL0Files,
     [](const ColumnFamilyOptions& o) { return Limit(o.level0_stop_writes_trigger); },
     "level0_stop_writes_trigger"},
    {Condition::kStopped, kPendingBytes,
     [](const ColumnFamilyOptions& o) { return o.hard_pending_compaction_bytes_limit; },
     "hard_pending_compaction_bytes_limit"},
    {Condition::kDelayed, kMemtables, &MemtablesThatDelay, "max_write_buffer_number"},
    {Condition::kDelayed, kL0Files,
     [](const ColumnFamilyOptions& o) { return Limit(o.level0_slowdown_writes_trigger); },
     "level0_slowdown_writes_trigger"},
    {Condition::kDelayed, kPendingBytes,
     [](const ColumnFamilyOptions& o) { return o.soft_pending_compaction_bytes_limit; },
     "soft_pending_compaction_bytes_limit"},
};

const StallRule* RuleOf(Condition condition, Cause cause) {
  const auto* const rule = std::ranges::find_if(kRules, [&](const StallRule& r) {
    return r.condition == condition && r.measure.cause == cause;
  });
  return rule == std::end(kRules) ? nullptr : rule;
}

// Returns the limit of the rule for this condition and measure; 0: the options set none. Each of
// the three measures has a rule for a stop and one for a delay.
uint64_t LimitOf(Condition condition, const Measure& measure, const ColumnFamilyOptions& options) {
  return RuleOf(condition, measure.cause)->limit(options);
}

// Returns which part of the way from `from` to `to` a value has gone: 0 up to `from`, 1 from `to`
// on. If `to` is 0 there is no limit, and the result is 0.
double Way(uint64_t value, uint64_t from, uint64_t to) {
  if (to == 0 || value <= from) return 0;
  if (value >= to) return 1;
  return static_cast<double>(value - from) / static_cast<double>(to - from);
}

// True if little is left between a delay and a stop: the rate then falls faster.
bool NearStop(const StallInput& input, const ColumnFamilyOptions& options) {
  const uint64_t files = LimitOf(Condition::kStopped, kL0Files, options);
  if (files != 0 && kL0Files.value(input) + kFilesNearStop >= files) return true;
  const uint64_t delay = LimitOf(Condition::kDelayed, kPendingBytes, options);
  const uint64_t stop = LimitOf(Condition::kStopped, kPendingBytes, options);
  return delay != 0 && Way(kPendingBytes.value(input), delay, stop) >= kWayNearStop;
}

}  // namespace

int StallProximity(const StallInput& input, const ColumnFamilyOptions& options) {
  double farthest = 0;
  for (const Measure* measure : {&kMemtables, &kL0Files, &kPendingBytes}) {
    uint64_t limit = LimitOf(Condition::kDelayed, *measure, options);
    if (limit == 0) limit = LimitOf(Condition::kStopped, *measure, options);
    if (limit == 0) continue;
    const auto value = static_cast<double>(measure->value(input));
    farthest = std::max(farthest, 100 * value / static_cast<double>(limit));
  }
  return static_cast<int>(std::min(farthest, 1e6));  // far beyond a stall, and within an int
}

StallVerdict JudgeStall(const StallInput& input, const ColumnFamilyOptions& options) {
  VARVE_ASSERT(input.unflushed_memtables >= 0 && input.l0_files >= 0);
  for (const StallRule& rule : kRules) {
    if (rule.measure.needs_compaction && !CompactsUnasked(options)) continue;
    const uint64_t limit = rule.limit(options);
    if (limit == 0 || rule.measure.value(input) < limit) continue;
    const bool near_stop = rule.condition == Condition::kDelayed && rule.measure.needs_compaction &&
                           NearStop(input, options);
    return {rule.condition, rule.measure.cause, near_stop};
  }
  return {};
}

Urgency FlushUrgency(const StallInput& input, const ColumnFamilyOptions& options) {
  // One memtable being flushed while another fills is normal.
  const bool few = input.unflushed_memtables <= 1 && options.max_write_buffer_number > 1;
  const bool full = input.unflushed_memtables >= options.max_write_buffer_number - 1;
  return full && !few ? Urgency::kHurry : Urgency::kCalm;
}

// L0 files and pending bytes count as a fraction of the way to the delay (the header has the
// table). If L0 files do not delay, their way ends at the stop. The farther of the two decides, or
// the score of the worst level below L0.
Urgency CompactionUrgency(const StallInput& input, const ColumnFamilyOptions& options) {
  if (!CompactsUnasked(options)) return Urgency::kCalm;
  uint64_t files_end = LimitOf(Condition::kDelayed, kL0Files, options);
  if (files_end == 0) files_end = LimitOf(Condition::kStopped, kL0Files, options);
  const uint64_t trigger = Limit(std::max(options.level0_file_num_compaction_trigger, 1));
  const auto enough = static_cast<uint64_t>(static_cast<double>(trigger) * kTriggersToDelay);
  files_end = files_end == 0 ? enough : std::min(files_end, enough);
  const double way = std::max(
      Way(kL0Files.value(input), trigger, files_end),
      Way(input.pending_compaction_bytes, 0, LimitOf(Condition::kDelayed, kPendingBytes, options)));
  if (way >= kWayToHurry || input.worst_score >= kTwiceFull) return Urgency::kHurry;
  if (way >= kWayToPressing || input.worst_score >= kOverfull) return Urgency::kPressing;
  return way >= kWayToSoon || input.worst_score >= kFull ? Urgency::kSoon : Urgency::kCalm;
}

// The verdict may come from elsewhere than JudgeStall, with a cause that no rule has.
std::string StallVerdict::Reason(const StallInput& input,
                                 const ColumnFamilyOptions& options) const {
  if (condition == Condition::kNormal) return "no stall";
  const std::string verb = condition == Condition::kStopped ? "stopped: " : "delayed: ";
  const StallRule* const rule = RuleOf(condition, cause);
  if (rule == nullptr) return verb + "for a reason outside the column family";
  // Memtables delay writes below the value of the option that the message names
  // (MemtablesThatDelay), and the message gives that value.
  const uint64_t limit = cause == Cause::kMemtableLimit ? Limit(options.max_write_buffer_number)
                                                        : rule->limit(options);
  return verb + std::to_string(rule->measure.value(input)) + " " + rule->measure.what + ", " +
         rule->option + " is " + std::to_string(limit) + "; " + rule->measure.ends;
}

DelayPacer::DelayPacer(uint64_t initial_bytes_per_second)
    : max_rate_(std::max(kMinRate,
                         initial_bytes_per_second != 0 ? initial_bytes_per_second : kDefaultRate)),
      rate_(max_rate_) {}

void DelayPacer::Scale(double factor) {
  const double scaled = static_cast<double>(rate_) * factor;
  rate_ = scaled >= static_cast<double>(max_rate_)
              ? max_rate_
              : std::max(kMinRate, static_cast<uint64_t>(scaled));
  VARVE_ASSERT(rate_ >= kMinRate && rate_ <= max_rate_);
}

// One step for each judgement, down or up; Scale keeps the rate within its bounds.
void DelayPacer::Adjust(uint64_t pending_bytes_before, uint64_t pending_bytes_now, bool near_stop,
                        bool left_stop) {
  delaying_ = true;
  // A rate that led to a stop was much too high, so leaving one counts like being near one.
  if (near_stop || left_stop) {
    Scale(kSlowDownNearStop);
  } else if (pending_bytes_now >= pending_bytes_before) {
    Scale(kSlowDown);
  } else {
    Scale(1 / kSlowDown);
  }
}

void DelayPacer::Release() {
  if (!delaying_) return;
  delaying_ = false;
  // The rate recovers by more than a step down took, so that short delays do not slow the database
  // down for long.
  Scale(kAfterRelease);
  debt_bytes_ = 0;
}

// Brings the debt up to now first, then adds these bytes to it.
uint64_t DelayPacer::DelayMicros(uint64_t n, uint64_t now_micros) {
  const double bytes_per_micro = static_cast<double>(rate_) / 1e6;
  // A clock that steps back pays off nothing.
  if (now_micros > settled_micros_) {
    const auto elapsed = static_cast<double>(now_micros - settled_micros_);
    debt_bytes_ = std::max(0.0, debt_bytes_ - elapsed * bytes_per_micro);
  }
  settled_micros_ = now_micros;
  VARVE_ASSERT(debt_bytes_ >= 0);
  const double wait = debt_bytes_ / bytes_per_micro;
  // The write's own bytes delay the next write, and not this one.
  debt_bytes_ += static_cast<double>(n);
  return wait < kSliceMicros ? 0 : static_cast<uint64_t>(wait);
}

uint64_t DelayPacer::DebtMicros() const {
  return static_cast<uint64_t>(debt_bytes_ * 1e6 / static_cast<double>(rate_));
}

}  // namespace varve
