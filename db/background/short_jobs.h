// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses the environment's threads for flushes, and for other short jobs that callers may wait
// for: those of the pool HIGH, or those of LOW while HIGH has none. A pool's number of threads may
// change at any time.

#include "varve/env.h"

namespace varve {

inline Env::Priority PoolOfShortJobs(Env* env) {
  return env->GetBackgroundThreads(Env::Priority::HIGH) > 0 ? Env::Priority::HIGH
                                                            : Env::Priority::LOW;
}

// Cancels jobs that wait for a thread in either pool; returns their number.
inline int TakeBackShortJobs(Env* env, void* tag) {
  return env->UnSchedule(tag, Env::Priority::HIGH) + env->UnSchedule(tag, Env::Priority::LOW);
}

// Cancels only jobs in a pool that has no threads any more while the other one has some, since they
// would never begin; returns their number. The caller may schedule them again.
inline int TakeBackStrandedJobs(Env* env, void* tag) {
  const bool high = env->GetBackgroundThreads(Env::Priority::HIGH) > 0;
  const bool low = env->GetBackgroundThreads(Env::Priority::LOW) > 0;
  if (high == low) return 0;
  return env->UnSchedule(tag, high ? Env::Priority::LOW : Env::Priority::HIGH);
}

}  // namespace varve
