// SPDX-License-Identifier: Apache-2.0
#pragma once

// Closing an open engine.

#include <cstdint>

#include "varve/status.h"

namespace varve {

struct Engine;

enum class WhenHeld : uint8_t {
  // Returns Aborted, with nothing changed, while snapshots are held or LockWAL is in force.
  kRefuse,
  kCloseAllTheSame,
};

// Ends calls and background work, flushes unlogged data, syncs the logs, and releases the lock.
// Afterwards the engine refuses all calls. Idempotent: later calls, and concurrent ones, which
// wait, return the same status. If a step fails, also for lack of memory, the remaining steps are
// still done, and the first error is returned.
Status CloseEngine(Engine* engine, WhenHeld when = WhenHeld::kCloseAllTheSame) noexcept;

}  // namespace varve
