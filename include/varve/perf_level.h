// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much work a thread spends on measuring itself.

#include <cstdint>

#include "varve/export.h"

namespace varve {

// Each level includes everything below it.
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  // Nothing is counted.
  kDisable = 1,
  // Event counts only; no clock is ever read. What a new thread starts with.
  kEnableCount = 2,
  // Also time a thread spends blocked (delays, waiting for a write group).
  kEnableWait = 3,
  // Also wall time of each step, but not of taking mutexes.
  kEnableTimeExceptForMutex = 4,
  // Also CPU time of whole operations.
  kEnableTimeAndCPUTimeExceptForMutex = 5,
  // Also time spent taking mutexes.
  kEnableTime = 6,
  // One past the last level; never valid as a level.
  kOutOfBounds = 7,
};

// Sets the calling thread's level. kUninitialized and kOutOfBounds or above are ignored.
VARVE_EXPORT void SetPerfLevel(PerfLevel level);

// The calling thread's level.
VARVE_EXPORT PerfLevel GetPerfLevel();

}  // namespace varve
