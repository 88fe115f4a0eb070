// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells a MANIFEST whose end is missing from one that a crash left.

#include <string>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/recovery/table_directories.h"

namespace varve {

// What the replay of the logs covered: sequence numbers, both inclusive; first > last if nothing.
struct ReplayedRange {
  SequenceNumber first = 1;
  SequenceNumber last = 0;
};

// For a directory in which the oldest log that the MANIFEST asks for is gone. Logs go only after
// the tables with their data are in the MANIFEST: so a table that the MANIFEST does not know, with
// newer entries than its family has there or in the logs, proves that the MANIFEST has lost its
// end. Corruption then. Costs a walk through each table that the MANIFEST does not know.
// Requires that nothing else uses the database yet.
Status CheckManifestIsNotStale(const DbContext& context, DbState* state,
                               const DirectoryListing& directories, const ReplayedRange& replayed);

}  // namespace varve
