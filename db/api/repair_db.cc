// SPDX-License-Identifier: Apache-2.0

// Implements the public calls of a repair.

#include "varve/utilities/repair.h"

#include "db/recovery/repair.h"
#include "util/base/caught_exception.h"

namespace varve {

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions* unknown_cf_opts, const RepairOptions& repair_options,
                RepairReport* report) try {
  RepairRequest request;
  request.name = dbname;
  request.options = db_options;
  request.column_families = column_families;
  request.unknown_cf_opts = unknown_cf_opts;
  request.repair = repair_options;
  return RunRepair(request, report);
} catch (...) {
  return CaughtException();
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families) {
  return RepairDB(dbname, db_options, column_families, nullptr, RepairOptions(), nullptr);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts) {
  return RepairDB(dbname, db_options, column_families, &unknown_cf_opts, RepairOptions(), nullptr);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  const ColumnFamilyOptions families(options);
  return RepairDB(dbname, options, {}, &families, RepairOptions(), nullptr);
}

}  // namespace varve
