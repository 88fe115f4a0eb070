// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the entry counts of tables for which the MANIFEST has none, as if RocksDB has written it.

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Opens a limited number of such tables, and sets their counts, which compaction picking uses, from
// their properties. Does nothing with skip_stats_update_on_db_open. The MANIFEST that the opening
// writes includes these counts; those of other tables are set when they are first opened. Errors
// are ignored, as reads return them. Takes the DB mutex only to list the tables.
void ReadUnknownCounts(const DbContext& context, DbState* state);

}  // namespace varve
