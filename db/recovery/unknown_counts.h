// SPDX-License-Identifier: Apache-2.0
#pragma once

// Entry counts of tables that the MANIFEST says nothing of, as RocksDB wrote it.

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Opens such tables, a limited number of them, for what their properties say: compaction goes by
// the counts. The MANIFEST that the opening writes has them from then on; those of the rest become
// known as the tables are first read. Tables that cannot be read are left to readers.
void ReadUnknownCounts(const DbContext& context, DbState* state);

}  // namespace varve
