// SPDX-License-Identifier: Apache-2.0
#include "util/base/caught_exception.h"

#include <exception>
#include <new>
#include <utility>

#include "util/base/refused_call.h"

namespace varve {

Status CaughtException() noexcept {
  try {
    // Rethrows what the caller's handler has caught, so that one list of handlers serves all of
    // them.
    throw;
  } catch (RefusedCall& refused) {
    return std::move(refused.status);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();  // A message would need memory.
  } catch (const std::exception& e) {
    try {
      return Status::Aborted("exception", e.what());
    } catch (...) {
      return Status::MemoryLimit();
    }
  } catch (...) {
    return Status::Aborted();
  }
}

}  // namespace varve
