// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_stall.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace varve {

namespace {

constexpr uint64_t kDefaultRate = uint64_t{16} << 20;
constexpr uint64_t kMinRate = 16 << 10;
// Shorter waits are owed until they add up: a sleep is not that exact.
constexpr double kSliceMicros = 1000;

constexpr double kSlowDown = 0.8;
constexpr double kSlowDownNearStop = 0.6;
constexpr double kAfterRelease = 1.4;

// Files of L0 before a stop that count as near.
constexpr int kFilesNearStop = 2;

// Of the way to where writes are delayed.
constexpr double kWayToSoon = 0.25;
constexpr double kWayToPressing = 0.5;
constexpr double kWayToHurry = 0.75;
constexpr double kScoreForSoon = 2;

bool NearStop(const StallInput& input, const ColumnFamilyOptions& options) {
  if (options.level0_stop_writes_trigger > 0 &&
      input.l0_files >= options.level0_stop_writes_trigger - kFilesNearStop) {
    return true;
  }
  const uint64_t soft = options.soft_pending_compaction_bytes_limit;
  const uint64_t hard = options.hard_pending_compaction_bytes_limit;
  return hard > soft && input.pending_compaction_bytes >= hard - (hard - soft) / 4;
}

std::string Exceeds(const char* what, uint64_t value, const char* option, uint64_t limit) {
  return std::to_string(value) + " " + what + ", " + option + " is " + std::to_string(limit);
}

// Limits of counts: one that is not positive never matches.
bool Reached(int value, int limit) {
  return limit > 0 && value >= limit;
}
bool Reached(uint64_t value, uint64_t limit) {
  return limit > 0 && value >= limit;
}

}  // namespace

StallVerdict JudgeStall(const StallInput& input, const ColumnFamilyOptions& options) {
  using Condition = WriteStallCondition;
  using Cause = WriteStallCause;
  const bool compacts = !options.disable_auto_compactions;
  if (input.unflushed_memtables >= options.max_write_buffer_number) {
    return {Condition::kStopped, Cause::kMemtableLimit};
  }
  if (compacts && Reached(input.l0_files, options.level0_stop_writes_trigger)) {
    return {Condition::kStopped, Cause::kL0FileCountLimit};
  }
  if (compacts &&
      Reached(input.pending_compaction_bytes, options.hard_pending_compaction_bytes_limit)) {
    return {Condition::kStopped, Cause::kPendingCompactionBytes};
  }
  if (options.max_write_buffer_number > 3 &&
      input.unflushed_memtables >= options.max_write_buffer_number - 1 &&
      input.unflushed_memtables - 1 >= options.min_write_buffer_number_to_merge) {
    return {Condition::kDelayed, Cause::kMemtableLimit};
  }
  if (compacts && Reached(input.l0_files, options.level0_slowdown_writes_trigger)) {
    return {Condition::kDelayed, Cause::kL0FileCountLimit, NearStop(input, options)};
  }
  if (compacts &&
      Reached(input.pending_compaction_bytes, options.soft_pending_compaction_bytes_limit)) {
    return {Condition::kDelayed, Cause::kPendingCompactionBytes, NearStop(input, options)};
  }
  return {};
}

Haste FlushHaste(const StallInput& input, const ColumnFamilyOptions& options) {
  // One memtable is flushed while another fills: that is how it should be.
  const bool few = input.unflushed_memtables <= 1 && options.max_write_buffer_number > 1;
  const bool full = input.unflushed_memtables >= options.max_write_buffer_number - 1;
  return full && !few ? Haste::kHurry : Haste::kCalm;
}

Haste CompactionHaste(const StallInput& input, const ColumnFamilyOptions& options) {
  if (options.disable_auto_compactions) return Haste::kCalm;
  double way = 0;  // from where all is well to where writes are delayed
  int delayed_at = options.level0_slowdown_writes_trigger;
  if (delayed_at <= 0) delayed_at = options.level0_stop_writes_trigger;
  const int trigger = std::max(options.level0_file_num_compaction_trigger, 1);
  if (delayed_at > 0 && input.l0_files > trigger) {
    way = delayed_at <= trigger ? 1
                                : static_cast<double>(input.l0_files - trigger) /
                                      static_cast<double>(delayed_at - trigger);
  }
  if (const uint64_t limit = options.soft_pending_compaction_bytes_limit; limit > 0) {
    way = std::max(
        way, static_cast<double>(input.pending_compaction_bytes) / static_cast<double>(limit));
  }
  if (way >= kWayToHurry) return Haste::kHurry;
  if (way >= kWayToPressing) return Haste::kPressing;
  return way >= kWayToSoon || input.worst_score >= kScoreForSoon ? Haste::kSoon : Haste::kCalm;
}

std::string StallVerdict::Reason(const StallInput& input,
                                 const ColumnFamilyOptions& options) const {
  if (condition == WriteStallCondition::kNormal) return "no stall";
  const bool stopped = condition == WriteStallCondition::kStopped;
  const std::string verb = stopped ? "stopped: " : "delayed: ";
  switch (cause) {
    case WriteStallCause::kMemtableLimit:
      return verb +
             Exceeds("memtables wait to be flushed",
                     static_cast<uint64_t>(input.unflushed_memtables), "max_write_buffer_number",
                     static_cast<uint64_t>(options.max_write_buffer_number)) +
             "; ends with a flush";
    case WriteStallCause::kL0FileCountLimit:
      return verb +
             Exceeds("files in level 0", static_cast<uint64_t>(input.l0_files),
                     stopped ? "level0_stop_writes_trigger" : "level0_slowdown_writes_trigger",
                     static_cast<uint64_t>(stopped ? options.level0_stop_writes_trigger
                                                   : options.level0_slowdown_writes_trigger)) +
             "; ends when compactions have taken files out of level 0";
    case WriteStallCause::kPendingCompactionBytes:
      return verb +
             Exceeds("bytes wait to be compacted", input.pending_compaction_bytes,
                     stopped ? "hard_pending_compaction_bytes_limit"
                             : "soft_pending_compaction_bytes_limit",
                     stopped ? options.hard_pending_compaction_bytes_limit
                             : options.soft_pending_compaction_bytes_limit) +
             "; ends when compactions have caught up";
    default:
      return verb + "for a reason outside the column family";
  }
}

void StallCounts::Count(const StallVerdict& verdict, bool compacting_l0) {
  const auto cause = static_cast<size_t>(verdict.cause);
  if (verdict.condition == WriteStallCondition::kNormal || cause >= kCauses) return;
  const bool stop = verdict.condition == WriteStallCondition::kStopped;
  (stop ? stops : delays)[cause]++;
  if (verdict.cause == WriteStallCause::kL0FileCountLimit && compacting_l0) {
    (stop ? l0_stops_while_compacting : l0_delays_while_compacting)++;
  }
}

uint64_t StallCounts::total_stops() const {
  return std::accumulate(std::begin(stops), std::end(stops), uint64_t{0});
}

uint64_t StallCounts::total_delays() const {
  return std::accumulate(std::begin(delays), std::end(delays), uint64_t{0});
}

std::map<std::string, std::string> StallCounts::ToMap() const {
  static constexpr const char* kNames[kCauses] = {"memtable-limit", "l0-file-count-limit",
                                                  "pending-compaction-bytes"};
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < kCauses; i++) {
    result[std::string(kNames[i]) + "-stops"] = std::to_string(stops[i]);
    result[std::string(kNames[i]) + "-delays"] = std::to_string(delays[i]);
  }
  const std::string l0 = kNames[static_cast<size_t>(WriteStallCause::kL0FileCountLimit)];
  result[l0 + "-stops-with-ongoing-compaction"] = std::to_string(l0_stops_while_compacting);
  result[l0 + "-delays-with-ongoing-compaction"] = std::to_string(l0_delays_while_compacting);
  result["total-stops"] = std::to_string(total_stops());
  result["total-delays"] = std::to_string(total_delays());
  return result;
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
}

void DelayPacer::Adjust(uint64_t pending_bytes_before, uint64_t pending_bytes_now, bool near_stop,
                        bool left_stop) {
  delaying_ = true;
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
  Scale(kAfterRelease);
  debt_bytes_ = 0;
}

uint64_t DelayPacer::DelayMicros(uint64_t n, uint64_t now_micros) {
  const double bytes_per_micro = static_cast<double>(rate_) / 1e6;
  // A clock that steps back pays nothing.
  if (now_micros > settled_micros_) {
    const auto elapsed = static_cast<double>(now_micros - settled_micros_);
    debt_bytes_ = std::max(0.0, debt_bytes_ - elapsed * bytes_per_micro);
  }
  settled_micros_ = now_micros;
  const double wait = debt_bytes_ / bytes_per_micro;
  debt_bytes_ += static_cast<double>(n);
  return wait < kSliceMicros ? 0 : static_cast<uint64_t>(wait);
}

uint64_t DelayPacer::DebtMicros() const {
  return static_cast<uint64_t>(debt_bytes_ * 1e6 / static_cast<double>(rate_));
}

}  // namespace varve
