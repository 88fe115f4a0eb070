// SPDX-License-Identifier: Apache-2.0
#pragma once

// What becomes of the tables that a job has made: it opens them, as else the first read that comes
// to each would wait for its filter and its index, or, if they did not come into force, deletes
// them.

#include <vector>

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/version_edit.h"

namespace varve {

// The family's version has these tables. Best before its super-version shows them. What cannot be
// opened now is left to its readers. Releases the mutex.
void OpenNewTables(DbMutex* mu, ColumnFamily* family, const std::vector<NewFile>& tables)
    VARVE_REQUIRES(kDbMutex);

// They are in no version. While it is not known whether the edit with them is in the MANIFEST, the
// version set has them; a deletion that fails is tried again by later purges. Releases the mutex.
void DeleteNewTables(const DbContext& context, DbState* state, const ColumnFamily& family,
                     int job_id, const std::vector<NewFile>& tables) VARVE_REQUIRES(kDbMutex);

}  // namespace varve
