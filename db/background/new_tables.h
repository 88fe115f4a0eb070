// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles the tables that a job has made: opens them, as otherwise the first read of each would
// wait for its filter and its index, or deletes them if they were not installed.

#include <vector>

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/version_edit.h"

namespace varve {

// Opens tables of the family's version. Best called before its super-version shows them. Tables
// that cannot be opened now are left to their readers. Releases the mutex meanwhile.
void OpenNewTables(DbMutex* mu, ColumnFamily* family, const std::vector<NewFile>& tables)
    VARVE_REQUIRES(kDbMutex);

// Deletes tables that are in no version. While it is unknown if the edit with them is in the
// MANIFEST, the version set keeps them; later purges retry a failed deletion. Releases the mutex.
void DeleteNewTables(const DbContext& context, DbState* state, const ColumnFamily& family,
                     int job_id, const std::vector<NewFile>& tables) VARVE_REQUIRES(kDbMutex);

}  // namespace varve
