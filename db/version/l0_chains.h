// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts L0 into chains. Time-ordered keys leave files that share no keys: a family of the FIFO style
// may have thousands of them in L0, and a read need not look at each.

#include <vector>

#include "db/version/version.h"

namespace varve {

// Returns the chains, the newest first; nothing if L0 has few files, or more than a quarter as many
// chains as files. Takes time for each file of an L0 that is worth it, else for a few.
std::vector<L0Chain> CutIntoChains(const LevelFiles& l0, const InternalKeyComparator* icmp);

}  // namespace varve
