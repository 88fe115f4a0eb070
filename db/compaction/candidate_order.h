// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which file of an oversized level goes first.

#include <cstddef>
#include <vector>

#include "varve/advanced_options.h"

#include "db/version/version.h"

namespace varve {

// Indices of the level's files (level >= 1), best candidate first.
std::vector<size_t> OrderCandidates(const Version& version, int level, CompactionPri priority);

}  // namespace varve
