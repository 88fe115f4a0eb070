// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a copy plan.
//
//   1. The files of one moment of the database are listed, and kept from deletion (CopySet).
//   2. Tables get their names in the store. Those that an earlier catalog has are left out.
//   3. The rest is linked or copied into `<plan_dir>.tmp`. Linked files whose checksum is unknown
//      are read, as they were written long ago.
//   4. PLAN is written there, everything is made durable, and the directory gets its name.
//
// A crash before the end of 4 leaves no plan.

#include <string>

#include "varve/db.h"
#include "varve/utilities/copy_plan.h"

#include "db/backup/plan_file.h"
#include "db/backup/stored_catalogs.h"

namespace varve {

// True if a plan's directory can have a file of that name.
bool IsOfPlan(const std::string& name);

// Runs within a public call, and tells listeners.
Status MakePlan(const CopyPlanOptions& options, const StoredCatalogs& stored, DB* db,
                const std::string& directory);

}  // namespace varve
