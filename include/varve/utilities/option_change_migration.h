// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prepares a database for opening with another compaction style or fewer levels.

#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// If a column family has tables in levels that the new options do not have, compacts the family
// into levels that they have. This may rewrite the whole family. Other families are not changed.
// This form is for a database with the default family alone: if there are others, it returns
// InvalidArgument.
//
// The new options are not stored: the next opening sets them. Varve itself does not need this to
// open a database with another compaction style or number of levels (see
// ColumnFamilyOptions::num_levels); RocksDB refuses to open a database with tables in deeper
// levels. If the new options allow only L0, a compacted family is one table. If their style is
// FIFO, the next opening drops the oldest tables if the total size exceeds the limit of FIFO
// compaction.
//
// Requires that the database is closed, and that it can be opened with the old options. If the call
// fails or is killed, the database has the same contents and can be opened with the old options;
// call again. Returns errors of opening and compacting. Calls for different databases may run at
// the same time.
VARVE_EXPORT Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                                          const Options& new_opts);

// Does the same for a database with any column families. Both lists must name all of them, in the
// same order; otherwise returns InvalidArgument, and changes nothing.
VARVE_EXPORT Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                                          const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                                          const DBOptions& new_db_opts,
                                          const std::vector<ColumnFamilyDescriptor>& new_cf_descs);

}  // namespace varve
