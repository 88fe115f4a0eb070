// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses which file of an oversized level is compacted first.

#include <cstddef>
#include <vector>

#include "varve/advanced_options.h"

#include "db/version/version.h"

namespace varve {

// Returns the indexes of the level's files, best candidate first, in the order that `priority`
// (ColumnFamilyOptions::compaction_pri) asks for. Requires that `level` is at least 1 and not the
// last one. Takes no lock and marks nothing.
std::vector<size_t> OrderCandidates(const Version& version, int level, CompactionPri priority);

}  // namespace varve
