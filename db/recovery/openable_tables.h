// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that the tables of a recovered database can be opened.

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"

namespace varve {

// Returns the error of the first table that cannot be opened, or whose footer is not that of a
// readable table; NotSupported has the file and its format. With max_open_files other than -1,
// checks only a few tables of each family, and returns only NotSupported. Other contents are
// checked by reads. With max_open_files = -1, a read-only database keeps the tables open.
Status CheckTablesOpen(const DbContext& context, DbState* state) VARVE_EXCLUDES(kDbMutex);

// Checks the tables of one version in the same way. With max_open_files = -1 keeps these tables and
// the version's blob files open, because another process may delete the files.
Status OpenTablesAhead(const DbContext& context, const Version& version, TableCache* tables);

}  // namespace varve
