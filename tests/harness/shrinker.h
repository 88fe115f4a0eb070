// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a failing history shorter, as long as it goes on failing.

#include <chrono>
#include <functional>

#include "tests/harness/history_text.h"

namespace varve::testing {

// `fails` says whether a candidate does. The shortest that was found when nothing more can be left
// out, or the time is over.
History Shrink(const History& history, const std::function<bool(const History&)>& fails,
               std::chrono::seconds most);

}  // namespace varve::testing
