// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lowers the priority of the calling thread for processors and disks; unprivileged threads cannot
// raise it.

#include "varve/env.h"

namespace varve {

// Both functions act on the calling thread and on those that it starts later; without the privilege
// to raise priorities there is no way back. They return false, with nothing changed, if the system
// does not allow it, as in some containers.
//
// kLow gives the lowest weight relative to others. kIdle runs only if nothing else wants the
// processor. kNormal and above do nothing and return true.
bool LowerCpuPriority(CpuPriority priority);
// Makes the thread's reads and writes wait for all others, if the disk's scheduler supports that.
bool LowerIoPriority();

}  // namespace varve
