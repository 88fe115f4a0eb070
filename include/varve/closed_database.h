// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletion and repair of a whole database that is not open.

#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// Deletes a closed database with all its files; waits for tables to be deleted at the rate of
// sst_file_manager. OK if there is none. In wal_dir only logs are deleted, in db_paths and cf_paths
// only tables, and nothing in directories that belong to another database.
VARVE_EXPORT Status DestroyDB(const std::string& name, const Options& options,
                              const std::vector<ColumnFamilyDescriptor>& column_families =
                                  std::vector<ColumnFamilyDescriptor>());

// Repairs a database that cannot be opened, and keeps all readable data; a healthy one is not
// changed, and no data is deleted: see varve/utilities/repair.h, which also offers a dry run and a
// report. Unlisted column families get `unknown_cf_opts`; without it they are InvalidArgument. The
// last form uses the options for all column families.
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families,
                             const ColumnFamilyOptions& unknown_cf_opts);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace varve
