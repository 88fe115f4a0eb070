// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the error for a timestamp of the wrong size, with the same text in every call.

#include <cstddef>
#include <string>

#include "varve/status.h"

namespace varve {

// Returns InvalidArgument. `given` and `expected` are bytes. `family` is the family's name, or its
// id if the name is unknown.
Status TimestampSizeError(const std::string& family, size_t given, size_t expected);

}  // namespace varve
