// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the MANIFEST from which a repair's opening starts.

#include "db/recovery/repair_plan.h"

namespace varve {

// Database id in a MANIFEST in lost/ that records only tables that a repair gave up as missing.
// Another repair restores those that have reappeared.
inline constexpr char kGivenUpId[] = "tables that a repair gave up";

// Writes MANIFEST-<number> with the whole state of the plan, durably. Requires that `number` is
// below plan.next_file_number, and that the plan has a family. Does not change CURRENT, so after an
// error there may be a file that nothing names. Corruption: a table cannot be described in a
// MANIFEST.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number);

}  // namespace varve
