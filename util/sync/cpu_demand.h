// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether threads of this machine wait for a processor at this moment.

#include <cstddef>

namespace varve {

// More threads want to run than processors are on line, as the system counts them. False where it
// does not tell. Costs a system call of a microsecond or two. Any thread.
bool ProcessorsAreShort() noexcept;

// How many threads run or want to, from what /proc/loadavg holds; 0: that is something else.
size_t ParseRunnableThreads(const char* text) noexcept;

}  // namespace varve
