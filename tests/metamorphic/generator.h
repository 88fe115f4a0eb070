// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes random histories. Each seed has its own temper: the number of keys and databases and the
// frequency of each step, so that rare steps are sometimes frequent.

#include <cstdint>

#include "tests/metamorphic/history.h"

namespace varve::testing {

// Returns a history of about `lines` meaningful lines, and an end that reads everything.
History RandomHistory(uint64_t seed, size_t lines);

}  // namespace varve::testing
