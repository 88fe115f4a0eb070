// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines macros that pass errors up to the caller.

#include "varve/status.h"

// Evaluates an expression of type Status or IOStatus once, and returns it from the enclosing
// function unless it is OK. Requires a function that returns Status, or IOStatus if the expression
// has that type.
#define VARVE_RETURN_IF_ERROR(expr)                                      \
  do {                                                                   \
    if (auto varve_status_ = (expr); !varve_status_.ok()) [[unlikely]] { \
      return varve_status_;                                              \
    }                                                                    \
  } while (false)
