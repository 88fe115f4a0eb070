// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses where a compaction is cut into pieces that run in parallel.

#include <cstdint>
#include <string>
#include <vector>

#include "db/compaction/plan.h"
#include "db/version/table_cache.h"

namespace varve {

// One input file with its open reader.
struct CompactionInputFile {
  FileMetaData* file = nullptr;
  TableRef table;
  int level = 0;
};

// Returns ascending keys, without timestamps, that cut the inputs into at most `pieces` parts of
// about equal bytes, none much smaller than an output file. Empty: one piece. Reads one table of
// L0, if there is any, so the DB mutex must not be held.
std::vector<std::string> ChooseSubcompactionBounds(const CompactionPlan& plan,
                                                   const std::vector<CompactionInputFile>& inputs,
                                                   const InternalKeyComparator& icmp,
                                                   uint32_t pieces);

}  // namespace varve
