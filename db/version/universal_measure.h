// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures trees of the universal style: sorted runs, each a file of L0 or a level below it.
//
//      L0   [run 0] [run 1] [run 2]      each file is a run
//      L1   -                            empty levels count for nothing
//      L2   [      run 3       ]         all files of a level are one run
//      L3   [            run 4            ]
//
// A run's place in this list is its age: 0 is the newest. The measure only counts; which runs are
// merged is decided in db/compaction/universal_picker.cc.

#include "varve/options.h"

#include "db/version/level_shape.h"
#include "db/version/version.h"

namespace varve {

// Levels have no target sizes, and nothing is ever pending in bytes. The score of L0 is the number
// of runs divided by level0_file_num_compaction_trigger. `due.files` has the files that are older
// than `ttl` or periodic_compaction_seconds, whichever is less; `due.covered` what range tombstones
// have deleted.
LevelShape MeasureUniversal(const Version& version, const ColumnFamilyOptions& options,
                            const ShapeMoment& moment);

}  // namespace varve
