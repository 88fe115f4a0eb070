// SPDX-License-Identifier: Apache-2.0
#pragma once

// Thrown where a call would wait for what its own thread has to finish first. What the call returns
// in its place is the status (caught_exception.h).

#include "varve/status.h"

namespace varve {

struct RefusedCall {
  Status status;
};

}  // namespace varve
