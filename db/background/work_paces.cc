// SPDX-License-Identifier: Apache-2.0

// Determines how urgent a flush or a compaction is:
//
//      flush        taken: the share of the room in memtables that is used
//                   done: the share of its entries that it has processed
//                     done < 2 taken             hurry: writers would stall before it ends
//                     ahead by less than 1/4     soon
//                     else                       calm
//      compaction   the highest urgency of all databases of the process
//
// Work for which a call or Close waits is always in a hurry.

#include "db/background/work_paces.h"

#include <algorithm>

#include "db/background/short_jobs.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Factor by which the work should be ahead of the filling of memtables.
constexpr double kEarly = 2;
// Lead, as a share of the whole work, from which on the work is calm. If memtables fill as fast as
// they are flushed it is never calm, as each pause would then delay writers.
constexpr double kFarAhead = 0.25;

// Returns true if a call waits for background work, or the database is being closed.
bool IsWaitedFor(const Lifecycle& lifecycle, const WorkSignal& work) {
  return work.IsAwaited() || lifecycle.shutting_down();
}

}  // namespace

Urgency FlushPace::Judge(double taken, double done) {
  VARVE_ASSERT(taken >= 0 && taken <= 1 && done >= 0 && done <= 1);
  const double ahead = done - taken * kEarly;
  if (ahead < 0) return Urgency::kHurry;
  return ahead < kFarAhead ? Urgency::kSoon : Urgency::kCalm;
}

// `steps` is the number of entries that were flushed so far.
Urgency FlushPace::Judge(uint64_t steps) {
  if (IsWaitedFor(lifecycle_, work_) || SharedUrgency::OfFlushes().nearest() == Urgency::kHurry) {
    return Urgency::kHurry;
  }
  // Another flush, of any database, needs the thread.
  if (env_->GetThreadPoolQueueLen(PoolOfShortJobs(env_)) > 0) return Urgency::kHurry;
  double taken = 0;
  for (const FillingMemTable& filling : filling_) {
    const auto room = static_cast<double>(std::max(filling.room, 1)) *
                      static_cast<double>(std::max<uint64_t>(filling.write_buffer_bytes, 1));
    taken = std::max(taken, static_cast<double>(filling.mem->data_bytes()) / room);
  }
  const double done =
      static_cast<double>(steps) / static_cast<double>(std::max<uint64_t>(entries_, 1));
  return Judge(std::min(taken, 1.0), std::min(done, 1.0));
}

Urgency CompactionPace::Judge(uint64_t) {
  return IsWaitedFor(lifecycle_, work_) ? Urgency::kHurry
                                        : SharedUrgency::OfCompactions().nearest();
}

}  // namespace varve
