// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles the tables that a job has written: opens them, so that their first reads need not wait
// for filters and indexes, or deletes them if they were not installed.

#include <vector>

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/version_edit.h"

namespace varve {

// Opens those of the tables that the family's current version has. Errors are left to the first
// readers. Releases the mutex meanwhile. Best called before the super-version with the tables is
// installed.
void OpenNewTables(DbMutex* mu, ColumnFamily* family, const std::vector<NewFile>& tables)
    VARVE_REQUIRES(kDbMutex);

// Deletes tables or blob files that are in no version, and reports that to listeners. Files that
// the MANIFEST may name are left to the version set; failed deletions are left to the next purge.
// Releases the mutex.
void DeleteNewTables(const DbContext& context, DbState* state, const ColumnFamily& family,
                     int job_id, const std::vector<NewFile>& tables) VARVE_REQUIRES(kDbMutex);

}  // namespace varve
