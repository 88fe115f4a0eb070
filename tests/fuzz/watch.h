// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the input under way at hand for the moment the process dies of it, or never ends.

#include <cstddef>
#include <cstdint>

namespace varve::fuzz {

// From now on a fatal signal, a sanitizer's report, or an execution of more than `hang_seconds`
// stores the input in the working directory as "finding-<target>", prints a RESULT line with the
// count so far, and ends the process.
void StartWatch(uint64_t seed, int hang_seconds);

// What is executed now; the bytes live until the next call.
void WatchExecution(const char* target, const uint8_t* data, size_t size);

}  // namespace varve::fuzz
