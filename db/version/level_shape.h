// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures how far a tree of tables is from the shape its options ask for: level targets, full
// levels, compaction debt.

#include <cstdint>
#include <vector>

#include "varve/options.h"

#include "db/version/due_files.h"
#include "db/version/version.h"

namespace varve {

// Target sizes of the levels, and how far these are from them.
struct LevelShape {
  int base_level = 1;                     // level that L0 is compacted to
  std::vector<uint64_t> target_bytes;     // per level; [0] is unused
  std::vector<double> scores;             // per level: size divided by target; full from 1 on
  std::vector<int> full_levels;           // levels that need compaction, the most urgent first
  uint64_t pending_compaction_bytes = 0;  // estimate of the bytes to rewrite for that
  int l0_files = 0;
  DueFiles due;
};

LevelShape ComputeLevelShape(const Version& version, const ColumnFamilyOptions& options,
                             const ShapeMoment& moment = ShapeMoment());

}  // namespace varve
