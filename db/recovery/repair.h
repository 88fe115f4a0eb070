// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes a repair as described in include/varve/utilities/repair.h.

#include <string>
#include <vector>

#include "varve/utilities/repair.h"

namespace varve {

struct RepairRequest {
  std::string name;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> column_families;
  const ColumnFamilyOptions* unknown_cf_opts = nullptr;  // Null: other families are refused.
  RepairOptions repair;
};

Status RunRepair(const RepairRequest& request, RepairReport* report);

}  // namespace varve
