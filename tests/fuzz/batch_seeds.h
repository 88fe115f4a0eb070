// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides well-formed batches to begin from.

#include "tests/fuzz/target.h"

namespace varve::fuzz {

// Adds batches with every kind of update, of families 0, 3 (keys descend) and 5 (timestamps of
// eight bytes).
void AddBatches(const std::string& before, Seeds* seeds);

}  // namespace varve::fuzz
