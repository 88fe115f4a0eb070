// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sets how much a thread measures its own work.

#include <cstdint>

#include "varve/export.h"

namespace varve {

// Each level includes those before it.
enum PerfLevel : unsigned char {
  // Not a valid level.
  kUninitialized = 0,
  // Nothing is counted.
  kDisable = 1,
  // Event counts only, which read no clock. The default of new threads.
  kEnableCount = 2,
  // Adds the time in which a thread is blocked, such as delays of writes.
  kEnableWait = 3,
  // Adds the wall time of each step, except for locking mutexes.
  kEnableTimeExceptForMutex = 4,
  // Adds the CPU time of whole operations.
  kEnableTimeAndCPUTimeExceptForMutex = 5,
  // Adds the time of locking mutexes.
  kEnableTime = 6,
  // Number of levels; not a valid level.
  kOutOfBounds = 7,
};

// Sets the calling thread's level. kUninitialized and kOutOfBounds or above are ignored.
VARVE_EXPORT void SetPerfLevel(PerfLevel level);

// Returns the calling thread's level.
VARVE_EXPORT PerfLevel GetPerfLevel();

}  // namespace varve
