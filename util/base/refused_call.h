// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the exception of a call that would wait for work that its own thread must finish first.
// The API call returns its status instead (caught_exception.h).

#include "varve/status.h"

namespace varve {

struct RefusedCall {
  Status status;
};

}  // namespace varve
