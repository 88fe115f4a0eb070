// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the tables that a recovered database has can be opened.

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Where all tables are to be open (max_open_files is -1), the error of the first file that the
// system does not open for reading. What is in the files is left to those who read it.
Status CheckTablesOpen(const DbContext& context, DbState* state) VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
