// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects a MANIFEST that has lost its end.

#include <string>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/recovery/table_directories.h"

namespace varve {

// First and last sequence number that were replayed from logs, both inclusive; first > last if
// there were none.
struct ReplayedRange {
  SequenceNumber first = 1;
  SequenceNumber last = 0;
};

// Checks a database whose MANIFEST needs a log that is missing. Logs are deleted only after the
// tables with their data are in the MANIFEST. So an unknown table with newer entries than its
// family has in the MANIFEST or in the logs proves that the MANIFEST has lost its end. Corruption:
// there is such a table. Reads each unknown table. Requires that nothing else uses the database
// yet.
Status CheckManifestIsNotStale(const DbContext& context, DbState* state,
                               const DirectoryListing& directories, const ReplayedRange& replayed);

}  // namespace varve
