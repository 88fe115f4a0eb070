// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a tree of tables is off the shape its options ask for: level targets, what wants
// compaction, debt.

#include <cstdint>
#include <vector>

#include "varve/options.h"

#include "db/version/due_files.h"
#include "db/version/version.h"

namespace varve {

// Sizes that the levels should have, and how far they are off.
struct LevelShape {
  int base_level = 1;                  // where L0 is compacted to
  std::vector<uint64_t> target_bytes;  // per level; [0] unused
  std::vector<double> scores;          // per level: its share of its target; from 1 on it is full
  std::vector<int> full_levels;        // that want compaction, the most urgent first
  uint64_t pending_compaction_bytes = 0;  // estimate of what must be rewritten to get in shape
  int l0_files = 0;
  DueFiles due;
};

LevelShape ComputeLevelShape(const Version& version, const ColumnFamilyOptions& options,
                             const ShapeMoment& moment = ShapeMoment());

}  // namespace varve
