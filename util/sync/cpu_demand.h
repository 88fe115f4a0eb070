// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects whether threads of this machine are waiting for a processor.

#include <cstddef>

namespace varve {

// True if more threads of usual priority are runnable than processors are online. Threads of
// processes with the policy SCHED_IDLE, or with a nice value of 10 or more, are not counted: they
// leave a processor to any other thread. False if the system does not tell. Usually costs a system
// call of a microsecond or two; while processors are short, also a quarter of a millisecond every
// 50 ms. Any thread may call it.
bool ProcessorsAreShort() noexcept;

// Returns the number of runnable threads in the text of /proc/loadavg; 0 if the text is malformed.
size_t ParseRunnableThreads(const char* text) noexcept;

}  // namespace varve
