// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the MANIFEST from which a repair's opening starts.

#include "db/recovery/repair_plan.h"

namespace varve {

// Database id in a MANIFEST in lost/ that records only tables that a repair gave up as missing.
// Another repair restores those that have reappeared.
inline constexpr char kGivenUpId[] = "tables that a repair gave up";

// Writes MANIFEST-<number> with the whole state of the plan, durably. Does not change CURRENT.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number);

}  // namespace varve
