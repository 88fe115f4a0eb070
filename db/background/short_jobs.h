// SPDX-License-Identifier: Apache-2.0
#pragma once

// Choose the Env's pool for flushes and other short jobs that callers may wait for: HIGH, or LOW
// while HIGH has no threads. The number of threads of a pool may change at any time.

#include "varve/env.h"

namespace varve {

// Returns the pool in which to schedule a short job now.
inline Env::Priority PoolOfShortJobs(Env* env) {
  return env->GetBackgroundThreads(Env::Priority::HIGH) > 0 ? Env::Priority::HIGH
                                                            : Env::Priority::LOW;
}

// Cancels jobs with the tag that wait in either pool, and returns their number.
inline int TakeBackShortJobs(Env* env, void* tag) {
  return env->UnSchedule(tag, Env::Priority::HIGH) + env->UnSchedule(tag, Env::Priority::LOW);
}

// Cancels jobs with the tag that wait in a pool without threads while the other pool has some, as
// they would never begin. Returns their number; the caller may schedule them again.
inline int TakeBackStrandedJobs(Env* env, void* tag) {
  const bool high = env->GetBackgroundThreads(Env::Priority::HIGH) > 0;
  const bool low = env->GetBackgroundThreads(Env::Priority::LOW) > 0;
  if (high == low) return 0;
  return env->UnSchedule(tag, high ? Env::Priority::LOW : Env::Priority::HIGH);
}

}  // namespace varve
