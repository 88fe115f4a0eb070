// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the entry counts of tables for which the MANIFEST, if RocksDB wrote it, has none.

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Opens a limited number of such tables and reads the counts in their properties, which compaction
// uses. The MANIFEST that the opening writes includes them; the other counts are set when the
// tables are first read. Tables that cannot be read are ignored; reads report them. Does I/O, and
// takes the DB mutex only to list the tables.
void ReadUnknownCounts(const DbContext& context, DbState* state);

}  // namespace varve
