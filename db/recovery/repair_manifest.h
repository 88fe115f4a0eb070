// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the MANIFEST from which a repair's opening starts.

#include "db/recovery/repair_plan.h"

namespace varve {

// The database id in a MANIFEST in lost/ that has only tables that a repair gave up because they
// were missing. Another repair takes them back if they have reappeared.
inline constexpr char kGivenUpId[] = "tables that a repair gave up";

// Writes MANIFEST-<number> durably with the whole state of the plan; does not change CURRENT.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number);

}  // namespace varve
