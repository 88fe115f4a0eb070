// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random histories. Each seed has a temper of its own: how many keys and databases, how much of
// what, so that rare things come in crowds now and then.

#include <cstdint>

#include "tests/metamorphic/history.h"

namespace varve::testing {

// About `lines` lines that mean something, and an end that looks at everything.
History RandomHistory(uint64_t seed, size_t lines);

}  // namespace varve::testing
