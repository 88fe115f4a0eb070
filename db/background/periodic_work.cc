// SPDX-License-Identifier: Apache-2.0
#include "db/background/periodic_work.h"

#include <algorithm>

#include "db/background/compaction_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

constexpr uint64_t kSecond = 1000 * 1000;
constexpr uint64_t kLongestWaitMicros = 3600 * kSecond;

}  // namespace

PeriodicWork::PeriodicWork(Engine* engine, std::function<std::string()> statistics)
    : engine_(engine), statistics_(std::move(statistics)) {}

void PeriodicWork::Start() {
  told_micros_ = engine_->MonotonicMicros();
  purged_micros_ = told_micros_;
  ticks_ = SharedTimer::Default().Add(this);
}

void PeriodicWork::Stop() {
  SharedTimer::Default().Remove(this);
}

void PeriodicWork::Wake() {
  SharedTimer::Default().Wake(this);
}

bool PeriodicWork::Due(uint64_t now, uint64_t period, uint64_t* last, uint64_t* wait) {
  if (period == 0) return false;
  const uint64_t passed = now > *last ? now - *last : 0;
  const bool due = passed >= period;
  if (due) *last = now;
  *wait = std::min(*wait, due ? period : period - passed);
  return due;
}

uint64_t PeriodicWork::OnTime() noexcept {
  Engine& e = *engine_;
  uint64_t wait = kLongestWaitMicros;
  if (e.shutting_down.load(std::memory_order_acquire)) return wait;
  const uint64_t now = e.MonotonicMicros();
  bool tell = false;
  {
    MutexLock lock(&e.mu);
    const DBOptions& options = *e.dynamic;
    tell = Due(now, uint64_t{options.stats_dump_period_sec} * 1000 * 1000, &told_micros_, &wait);
    if (Due(now, options.delete_obsolete_files_period_micros, &purged_micros_, &wait)) {
      // In a job: a listener may do whatever it likes there, and holds no other database up.
      e.obsolete->PurgeSoon();
    }
    wait = std::min(wait, e.options_keeper->HandOut(now));
    BestEffort([&] { wait = std::min(wait, ScheduleAged()); });
  }
  if (tell) BestEffort([this] { TellStatistics(); });
  return wait;
}

// Files become due as they age, with nobody writing. The answer is for how long none will, not even
// of those that are made meanwhile.
uint64_t PeriodicWork::ScheduleAged() {
  Engine& e = *engine_;
  int64_t time = 0;
  if (!e.clock->GetCurrentTime(&time).ok() || time < 0) return kLongestWaitMicros;
  const auto now = static_cast<uint64_t>(time);
  const uint64_t due = e.compaction->ScheduleDue();
  uint64_t seconds = due > now ? due - now : 1;
  for (const auto& [id, family] : e.families.all()) {
    const auto options = family->options();
    for (const uint64_t age : {options->ttl, options->periodic_compaction_seconds,
                               uint64_t{options->bottommost_file_compaction_delay}}) {
      if (age != 0) seconds = std::min(seconds, age);
    }
  }
  return seconds < kLongestWaitMicros / kSecond ? seconds * kSecond : kLongestWaitMicros;
}

// Line by line: a LOG has no room for more in one entry.
void PeriodicWork::TellStatistics() {
  Logger* const log = engine_->info_log.get();
  const std::string text = statistics_();
  LogInfo(log, "------- statistics -------");
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) LogInfo(log, "%s", text.substr(start, end - start).c_str());
    start = end + 1;
  }
}

}  // namespace varve
