// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calling thread's share of processors and disks, as far as anybody may change it: down.

#include "varve/env.h"

namespace varve {

// Both are for good, unless the process has the privilege to raise priorities, and pass to threads
// that the calling one starts. False where the system does not allow it, as in some containers;
// then nothing has changed.
//
// kLow: the lowest weight there is beside others. kIdle: only what nobody else wants. kNormal and
// above: nothing, and true.
bool LowerCpuPriority(CpuPriority priority);
// Its reads and writes wait for everybody else's, where the disk's scheduler knows of that.
bool LowerIoPriority();

}  // namespace varve
