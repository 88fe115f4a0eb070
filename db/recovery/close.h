// SPDX-License-Identifier: Apache-2.0
#pragma once

// The end of an open engine.

#include <cstdint>

#include "varve/status.h"

namespace varve {

struct Engine;

enum class WhenHeld : uint8_t {
  kRefuse,  // Aborted while snapshots are held or LockWAL is in force, with nothing changed
  kCloseAllTheSame,
};

// Ends calls and background work, flushes what only memory holds, syncs the logs, releases the
// lock. The engine refuses everything afterwards. Idempotent: later calls, and those that come
// meanwhile and wait, return the same. Whatever fails, for lack of memory too, the rest is done,
// and the first error is the answer.
Status CloseEngine(Engine* engine, WhenHeld when = WhenHeld::kCloseAllTheSame) noexcept;

}  // namespace varve
