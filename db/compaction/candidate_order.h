// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses which file of an oversized level is compacted first.

#include <cstddef>
#include <vector>

#include "varve/advanced_options.h"

#include "db/version/version.h"

namespace varve {

// Returns the indices of the level's files (level >= 1), best candidate first.
std::vector<size_t> OrderCandidates(const Version& version, int level, CompactionPri priority);

}  // namespace varve
