// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MANIFEST that a repair's opening starts from.

#include "db/recovery/repair_plan.h"

namespace varve {

// The database's id in a MANIFEST in lost/ that has no other tables than those a repair gave up, as
// they were nowhere: another repair takes them back if they are there again.
inline constexpr char kGivenUpId[] = "tables that a repair gave up";

// Writes MANIFEST-<number> with the whole state of the plan, durably; CURRENT is left alone.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number);

}  // namespace varve
