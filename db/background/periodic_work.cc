// SPDX-License-Identifier: Apache-2.0

// One thread of the process serves all databases (SharedTimer), so nothing here may take long: work
// that does is scheduled as a job.

#include "db/background/periodic_work.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

constexpr uint64_t kSecondMicros = 1000 * 1000;
constexpr uint64_t kLongestWaitMicros = 3600 * kSecondMicros;

}  // namespace

void PeriodicWork::Start(std::function<std::string()> statistics) {
  VARVE_ASSERT(!ticks() && statistics != nullptr);
  statistics_ = std::move(statistics);
  told_micros_ = with_.context.MonotonicMicros();
  purged_micros_ = told_micros_;
  recorded_micros_ = told_micros_;
  archive_micros_ = told_micros_;
  ticks_.store(SharedTimer::Default().Add(this), std::memory_order_relaxed);
}

void PeriodicWork::Stop() {
  if (ticks()) SharedTimer::Default().Remove(this);
}

void PeriodicWork::Wake() {
  if (ticks()) SharedTimer::Default().Wake(this);
}

bool PeriodicWork::Due(uint64_t now, uint64_t period, uint64_t* last, uint64_t* wait) {
  if (period == 0) return false;
  const uint64_t passed = now > *last ? now - *last : 0;
  const bool due = passed >= period;
  if (due) *last = now;
  *wait = std::min(*wait, due ? period : period - passed);
  return due;
}

// Decides under the mutex what is due, and does the two longer tasks after its release.
uint64_t PeriodicWork::OnTime() noexcept {
  const ActiveWork active(ActiveWork::kBackground, &with_.lifecycle, "a job of the database,");
  uint64_t wait = kLongestWaitMicros;
  if (with_.lifecycle.shutting_down()) return wait;
  const uint64_t now = with_.context.MonotonicMicros();
  bool tell = false;
  bool record = false;
  size_t history_bytes = 0;
  {
    DbLock lock(&with_.state.mu);
    const DBOptions& options = *with_.dynamic.current();
    tell = Due(now, uint64_t{options.stats_dump_period_sec} * kSecondMicros, &told_micros_, &wait);
    record = with_.context.statistics() != nullptr &&
             Due(now, uint64_t{options.stats_persist_period_sec} * kSecondMicros, &recorded_micros_,
                 &wait);
    history_bytes = options.stats_history_buffer_size;
    if (Due(now, options.delete_obsolete_files_period_micros, &purged_micros_, &wait)) {
      // Runs as a job, since it calls listeners, which may take long and must not delay other
      // databases.
      with_.obsolete.PurgeSoon();
    }
    if (Due(now, with_.obsolete.kept_period_micros(), &archive_micros_, &wait)) {
      with_.obsolete.PurgeKeptSoon();
    }
    wait = std::min(wait, with_.options_keeper.HandOut(now));
    // After a failed allocation it is retried soon.
    uint64_t aged = kSecondMicros;
    BestEffort([&] {
      with_.state.mu.AssertHeld();
      aged = ScheduleAged();
    });
    wait = std::min(wait, aged);
  }
  if (tell) BestEffort([this] { TellStatistics(); });
  if (record) BestEffort([this, history_bytes] { with_.recorder.Record(history_bytes); });
  return wait;
}

// Schedules compactions of files that have become old, and postponed compactions. The returned time
// also covers files that are created meanwhile.
uint64_t PeriodicWork::ScheduleAged() {
  uint64_t wait = std::min(kLongestWaitMicros, with_.compaction.ScheduleDue());
  for (const auto& [id, family] : with_.state.families.all()) {
    const auto options = family->options();
    for (const uint64_t age : {options->ttl, options->periodic_compaction_seconds,
                               uint64_t{options->bottommost_file_compaction_delay}}) {
      if (age == 0 || age >= kLongestWaitMicros / kSecondMicros) continue;
      wait = std::min(wait, age * kSecondMicros);
    }
  }
  return wait;
}

// Writes line by line, as the size of a LOG entry is limited.
void PeriodicWork::TellStatistics() {
  Logger* const log = with_.context.info_log();
  const std::string text = statistics_();
  LogInfo(log, "------- statistics -------");
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) LogInfo(log, "%s", text.substr(start, end - start).c_str());
    start = end + 1;
  }
}

}  // namespace varve
