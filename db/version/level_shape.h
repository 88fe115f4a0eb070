// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures how far a tree of tables is from the shape that its compaction style asks for. This is
// one half of a style; the other half picks compactions (db/compaction/compaction_picker.h). Stall
// control, properties and forecasts know a tree by its measure alone.
//
// With level_compaction_dynamic_level_bytes, a base of 256 MiB, a multiplier of 10, seven levels,
// and 100 GiB in the last of them, the leveled style asks for this shape:
//
//      L0        files, not sorted into one run       full at 4 files or 256 MiB
//      L1, L2    empty                                no target
//      L3        256 MiB    <- base level: a tenth of L4 would be 102 MiB, less than the base
//      L4          1 GiB
//      L5         10 GiB
//      L6        100 GiB    what it holds; the last level is never full
//
// A score is a level's size divided by its target, without the files that a compaction is already
// reading; from 1 on the level is full. `full_levels` says which level to relieve first, which is
// not simply the one with the highest score (level_shape.cc).

#include <cstdint>
#include <vector>

#include "varve/options.h"

#include "db/version/due_files.h"
#include "db/version/version.h"

namespace varve {

// The measure of one version at one moment. Holds no references into the version.
struct LevelShape {
  int base_level = 1;                     // level that L0 is compacted to; 0: none
  std::vector<uint64_t> target_bytes;     // per level; [0] is unused; UINT64_MAX: no limit
  std::vector<double> scores;             // per level: size divided by target; full from 1 on
  std::vector<int> full_levels;           // levels that need compaction, the most urgent first
  uint64_t pending_compaction_bytes = 0;  // estimate of the bytes to rewrite for that
  int runs = 0;                           // runs that count for the triggers of write stalls
  int runs_per_flush = 1;                 // runs that one more flush adds
  DueFiles due;
};

// Measures by the rules of the options' compaction style. Requires the DB mutex (being_compacted).
// The cost is a look at each file of the version.
LevelShape ComputeLevelShape(const Version& version, const ColumnFamilyOptions& options,
                             const ShapeMoment& moment = ShapeMoment());

}  // namespace varve
