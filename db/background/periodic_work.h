// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an open database does every so often with nobody asking: tells its statistics to the LOG,
// tries again to delete what could not be deleted, has a large OPTIONS file written, and compacts
// what has become old.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "db/background/engine.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Thread safety: Start and Stop by whoever opens and closes; Wake from any thread.
class PeriodicWork final : private SharedTimer::Client {
 public:
  // `statistics` makes the text to be told. It is called without a lock.
  PeriodicWork(Engine* engine, std::function<std::string()> statistics);
  ~PeriodicWork() override { Stop(); }

  void Start();
  // False: the system gives no thread, and nothing is ever due.
  bool ticks() const { return ticks_; }
  // Idempotent. Must not hold the DB mutex.
  void Stop();
  // The periods may have changed: looks at once what is due.
  void Wake();

 private:
  uint64_t OnTime() noexcept override;
  // Whether `period` has passed since *last (which is now then); if not, *wait is no longer than
  // the rest. 0 never passes.
  static bool Due(uint64_t now, uint64_t period, uint64_t* last, uint64_t* wait);
  void TellStatistics();
  uint64_t ScheduleAged();  // requires the DB mutex

  Engine* const engine_;
  const std::function<std::string()> statistics_;
  bool ticks_ = false;  // since Start
  // Of the timer's thread, once started.
  uint64_t told_micros_ = 0;
  uint64_t purged_micros_ = 0;
};

}  // namespace varve
