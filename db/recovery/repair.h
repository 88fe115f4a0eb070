// SPDX-License-Identifier: Apache-2.0
#pragma once

// Carries out a repair: what include/varve/utilities/repair.h promises.

#include <string>
#include <vector>

#include "varve/utilities/repair.h"

namespace varve {

struct RepairRequest {
  std::string name;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> column_families;
  const ColumnFamilyOptions* unknown_cf_opts = nullptr;  // null: other families are refused
  RepairOptions repair;
};

Status RunRepair(const RepairRequest& request, RepairReport* report);

}  // namespace varve
