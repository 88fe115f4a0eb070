// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random histories for CPlayer (c_player.h). Each seed has a temper of its own: which kinds of
// databases, how many keys, how much of what, and whether the trees are left in peace, so that
// their properties can be compared, too.

#include <cstdint>

#include "tests/harness/history_text.h"

namespace varve::testing {

// About `lines` lines, and an end that looks at everything.
History RandomCalls(uint64_t seed, size_t lines);

// Whether keys that are deleted singly, "s...", are put once before each time, without which no
// library promises an answer.
bool KeepsContract(const History& history);

}  // namespace varve::testing
