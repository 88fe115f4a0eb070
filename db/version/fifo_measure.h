// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures trees of the FIFO style, which drops the oldest tables: by their total size, and by age.

#include <cstdint>

#include "varve/options.h"

#include "db/version/level_shape.h"
#include "db/version/version.h"

namespace varve {

// Returns the bytes of tables above which the oldest go: max_data_files_size if it is set, else
// max_table_files_size.
uint64_t FifoCap(const ColumnFamilyOptions& options);

// Writes never stall for the number of tables. The score of L0 is the total size divided by the
// cap. `due.files` has what `ttl` has expired: the oldest files, without gap. In L0 a file whose
// time is unknown expires with the next newer one; in a level below L0 it stays, and all newer
// levels stay with it. `due.temperature_change` has the oldest table of L0 whose age asks for
// another temperature. Requires the DB mutex (being_compacted).
LevelShape MeasureFifo(const Version& version, const ColumnFamilyOptions& options,
                       const ShapeMoment& moment);

}  // namespace varve
