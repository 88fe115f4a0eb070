// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts exceptions into the Status that an API call returns: usually for lack of memory, or for
// an exception of a callback that nothing caught earlier. Locks and files have been released by
// then.

#include <type_traits>

#include "varve/status.h"

namespace varve {

// Returns the status that a RefusedCall (refused_call.h) carries, MemoryLimit for std::bad_alloc,
// and Aborted for any other exception, with its text if it is a std::exception. Requires a call
// within a handler of that exception.
Status CaughtException() noexcept;

// Runs `step` and returns its status (OK if it returns nothing), or the status of what it threw.
// Use it where a count, a flag or a lock without RAII must be restored after the step.
template <typename Step>
Status Guarded(Step step) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(step())>) {
      step();
      return Status::OK();
    } else {
      return step();
    }
  } catch (...) {
    return CaughtException();
  }
}

// Runs `step` and ignores its errors. Use it for messages to people, on which nothing depends.
template <typename Step>
void BestEffort(Step step) noexcept {
  Guarded(step).PermitUncheckedError();
}

}  // namespace varve
