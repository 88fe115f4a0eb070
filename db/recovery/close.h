// SPDX-License-Identifier: Apache-2.0
#pragma once

// Closes an open engine.

#include <cstdint>

#include "varve/status.h"

namespace varve {

struct Engine;

// Selects what CloseEngine does if the program still has snapshots or has locked the log (LockWAL).
enum class WhenHeld : uint8_t {
  kRefuse,           // Returns Aborted; nothing has changed.
  kCloseAllTheSame,  // Closes; the snapshots may be released afterwards.
};

// Ends calls and background work, flushes unlogged data (unless avoid_flush_during_shutdown is
// set), syncs the logs, and releases the lock. Afterwards the engine refuses all calls. Idempotent:
// later calls, and concurrent ones, which wait, return the same status. If a step fails, also for
// lack of memory, the remaining steps are still done, and the first error is returned.
Status CloseEngine(Engine* engine, WhenHeld when = WhenHeld::kCloseAllTheSame) noexcept;

}  // namespace varve
