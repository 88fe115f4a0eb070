// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables that a job has made are opened by it: else the first read that comes to each would wait
// for its filter and its index.

#include <vector>

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/version/version_edit.h"

namespace varve {

// The family's version has these tables. Best before its super-version shows them. What cannot be
// opened now is left to its readers. Releases the mutex.
void OpenNewTables(DbMutex* mu, ColumnFamily* family, const std::vector<NewFile>& tables)
    VARVE_REQUIRES(kDbMutex);

}  // namespace varve
