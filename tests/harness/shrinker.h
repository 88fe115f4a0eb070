// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shortens a failing history as long as it still fails.

#include <chrono>
#include <functional>

#include "tests/harness/history_text.h"

namespace varve::testing {

// Returns the shortest failing history found when nothing more can be left out, or the time is
// over. `fails` is true for a candidate that fails.
History Shrink(const History& history, const std::function<bool(const History&)>& fails,
               std::chrono::seconds most);

}  // namespace varve::testing
