// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the tables that a recovered database has can be opened.

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"

namespace varve {

// The error of the first file that the system does not open for reading, or that does not end as a
// table does which can be read: NotSupported names the file and its format. Where not all tables
// are to be open (max_open_files is not -1), it looks at some of each family, as far as the tables
// of another format go. What else is in the files is left to those who read it. A database that is
// opened to be read keeps them open, where all tables are to be.
Status CheckTablesOpen(const DbContext& context, DbState* state) VARVE_EXCLUDES(kDbMutex);

// The same of one tree's tables, which stay open, where all are to be open: another process may
// delete the files.
Status OpenTablesAhead(const DbContext& context, const Version& version, TableCache* tables);

}  // namespace varve
