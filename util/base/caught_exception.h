// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a call of the API returns when something threw on the way: for lack of memory as a rule, or
// a callback that nobody nearer has caught. Locks and files have been released by then.

#include <type_traits>

#include "varve/status.h"

namespace varve {

// Within a handler: MemoryLimit for std::bad_alloc, Aborted with the text for anything else.
Status CaughtException() noexcept;

// What `step` returns, OK if it returns nothing, or what it threw. For steps after which something
// has to be put right: a count, a flag, a lock that is no object.
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

// For what people are told, on which nothing depends.
template <typename Step>
void BestEffort(Step step) noexcept {
  Guarded(step).PermitUncheckedError();
}

}  // namespace varve
