// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that the tables of a recovered database can be opened.

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"

namespace varve {

// Returns the error of the first file that cannot be opened for reading, or whose end is not that
// of a readable table: NotSupported names the file and its format. If not all tables are to be open
// (max_open_files is not -1), it checks a few of each family, and only reports tables of another
// format. Other contents of the files are checked by those who read them. A read-only database
// keeps the files open if all tables are to be open.
Status CheckTablesOpen(const DbContext& context, DbState* state) VARVE_EXCLUDES(kDbMutex);

// Checks the tables of one tree in the same way, and keeps them and its blob files open if all are
// to be open, because another process may delete the files.
Status OpenTablesAhead(const DbContext& context, const Version& version, TableCache* tables);

}  // namespace varve
