// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is wrong with a timestamp, in the same words for every call that is given one.

#include <cstddef>
#include <string>

#include "varve/status.h"

namespace varve {

// `given` and `expected` are bytes. `family` is its name, or its id where no name is known.
Status TimestampSizeError(const std::string& family, size_t given, size_t expected);

}  // namespace varve
