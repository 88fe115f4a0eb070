// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletes or repairs a whole database that is not open. Both functions lock the database, and
// return IOError if it is open.

#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// Deletes a database with all its files. If options.sst_file_manager has a deletion rate, waits
// until the tables are deleted at that rate. Returns OK if the database does not exist. Deletes
// only logs in wal_dir, only tables and blob files in db_paths and cf_paths, and nothing in
// directories of other databases. After an error some files may remain; call again.
VARVE_EXPORT Status DestroyDB(const std::string& name, const Options& options,
                              const std::vector<ColumnFamilyDescriptor>& column_families =
                                  std::vector<ColumnFamilyDescriptor>());

// Repairs a database that cannot be opened, and keeps all readable data. Does not change a healthy
// database, and deletes no data; see varve/utilities/repair.h, which also offers a dry run and a
// report. Unlisted column families get `unknown_cf_opts`; without it, they make the call return
// InvalidArgument. The last form uses `options` for all column families.
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families,
                             const ColumnFamilyOptions& unknown_cf_opts);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace varve
