// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects whether threads of this machine are waiting for a processor.

#include <cstddef>

namespace varve {

// True if more threads are runnable than processors are online, as the system counts them. False if
// the system does not tell. Costs a system call of a microsecond or two. Any thread may call it.
bool ProcessorsAreShort() noexcept;

// Returns the number of runnable threads in the text of /proc/loadavg; 0 if the text is malformed.
size_t ParseRunnableThreads(const char* text) noexcept;

}  // namespace varve
