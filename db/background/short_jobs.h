// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the environment's threads run flushes, and other jobs that are short and that somebody
// may wait for: those of the pool HIGH, or those of LOW while HIGH has none. A pool may be set to
// any number of threads at any time.

#include "varve/env.h"

namespace varve {

inline Env::Priority PoolOfShortJobs(Env* env) {
  return env->GetBackgroundThreads(Env::Priority::HIGH) > 0 ? Env::Priority::HIGH
                                                            : Env::Priority::LOW;
}

// Takes back what waits for a thread, wherever it does; returns how many jobs that were.
inline int TakeBackShortJobs(Env* env, void* tag) {
  return env->UnSchedule(tag, Env::Priority::HIGH) + env->UnSchedule(tag, Env::Priority::LOW);
}

// The same of what waits in a pool that has no threads any more, while the other one has some.
inline int TakeBackStrandedJobs(Env* env, void* tag) {
  const bool high = env->GetBackgroundThreads(Env::Priority::HIGH) > 0;
  const bool low = env->GetBackgroundThreads(Env::Priority::LOW) > 0;
  if (high == low) return 0;
  return env->UnSchedule(tag, high ? Env::Priority::LOW : Env::Priority::HIGH);
}

}  // namespace varve
