// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers the input being executed for the moment when the process dies or hangs.

#include <cstddef>
#include <cstdint>

namespace varve::fuzz {

// Starts the watch: a fatal signal, a sanitizer's report, or an execution of more than
// `hang_seconds` then stores the input in the working directory as "finding-<target>", prints a
// RESULT line with the count so far, and ends the process.
void StartWatch(uint64_t seed, int hang_seconds);

// Sets the current input, whose bytes must live until the next call.
void WatchExecution(const char* target, const uint8_t* data, size_t size);

}  // namespace varve::fuzz
