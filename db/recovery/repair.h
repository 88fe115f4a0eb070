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
  const ColumnFamilyOptions* unknown_cf_opts = nullptr;  // Null if other families are refused.
  RepairOptions repair;
};

// Repairs the database, which must be closed. Fills in *report, which may be null, even after an
// error. After an error the old database is restored, or the next repair restores it; only if the
// final clean-up fails, the repaired database stays.
Status RunRepair(const RepairRequest& request, RepairReport* report);

}  // namespace varve
