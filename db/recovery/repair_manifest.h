// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MANIFEST that a repair's opening starts from.

#include "db/recovery/repair_plan.h"

namespace varve {

// Writes MANIFEST-<number> with the whole state of the plan, durably; CURRENT is left alone.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number);

}  // namespace varve
