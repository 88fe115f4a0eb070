// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes random histories for CPlayer (c_player.h). Each seed has its own temper: which kinds of
// databases, how many keys, how frequent each step is, and whether automatic compactions are off,
// so that properties of the trees can be compared, too.

#include <cstdint>

#include "tests/harness/history_text.h"

namespace varve::testing {

// Returns about `lines` lines, and an end that reads everything.
History RandomCalls(uint64_t seed, size_t lines);

// Returns true if each key that is deleted singly, "s...", is put once before each time. Otherwise
// no library guarantees an answer.
bool KeepsContract(const History& history);

}  // namespace varve::testing
