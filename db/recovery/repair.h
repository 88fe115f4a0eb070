// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes a repair as described in include/varve/utilities/repair.h.

#include <string>
#include <vector>

#include "varve/utilities/repair.h"

namespace varve {

// The arguments of RepairDB. Paths may be relative.
struct RepairRequest {
  std::string name;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> column_families;
  const ColumnFamilyOptions* unknown_cf_opts = nullptr;  // Null: other families are refused.
  RepairOptions repair;
};

// Repairs the database, which must be closed. *report, which may be null, says what was found and
// done, also after an error. After an error the old database is in force again, or the next repair
// undoes this one; only a failure after its last step but cleaning up leaves the new one in force.
Status RunRepair(const RepairRequest& request, RepairReport* report);

}  // namespace varve
