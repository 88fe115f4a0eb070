// SPDX-License-Identifier: Apache-2.0

// Judges how urgent the work of a flush or a compaction is, from what waits for it.
//
//      flush        share of the room of memtables that is filled: taken
//                   share of its own entries that it has passed: done
//                     done < 2 taken             hurry: writers would stall before it ends
//                     ahead by less than 1/4     soon
//                     else                       calm
//      compaction   the nearest urgency of all compactions of the process
//
// Work for which a call waits, or which delays a closing, is always in a hurry.

#include "db/background/work_paces.h"

#include <algorithm>

#include "db/background/short_jobs.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Factor by which the work is to be ahead of the filling.
constexpr double kEarly = 2;
// Lead, as a share of the whole work, from which on it is calm. If memtables fill as fast as they
// are flushed it is never calm, as each pause would delay the writers, too.
constexpr double kFarAhead = 0.25;

// True if a call waits for running work.
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
