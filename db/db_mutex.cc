// SPDX-License-Identifier: Apache-2.0
#include "db/db_mutex.h"

#include "util/metrics/statistics.h"

namespace varve {

void DbMutex::LockTimed() {
  Statistics* statistics = statistics_.load(std::memory_order_relaxed);
  if (statistics != nullptr && statistics->get_stats_level() <= kExceptTimeForMutex) {
    statistics = nullptr;
  }
  const PerfTimer<&PerfContext::db_mutex_lock_nanos, kEnableTime> timer;
  if (statistics == nullptr) {
    Mutex::Lock();
    return;
  }
  const uint64_t start = PerfClockNanos();
  Mutex::Lock();
  constexpr uint64_t kNanosPerMicro = 1000;
  RecordTick(statistics, DB_MUTEX_WAIT_MICROS, (PerfClockNanos() - start) / kNanosPerMicro);
}

}  // namespace varve
