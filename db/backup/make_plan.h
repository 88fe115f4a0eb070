// SPDX-License-Identifier: Apache-2.0
#pragma once

// Making a copy plan.
//
//   1. The files of one moment of the database are listed, and kept from deletion (CopySet).
//   2. Tables get their names in the store. What an earlier catalog has under such a name is left.
//   3. The rest is linked or copied into `<plan_dir>.tmp`. Files whose checksum nobody knows are
//      read: those that were linked, as they were written long ago.
//   4. PLAN is written there, everything is made durable, and the directory gets its name.
//
// A crash before the end of 4 leaves no plan.

#include <string>

#include "varve/db.h"
#include "varve/utilities/copy_plan.h"

#include "db/backup/plan_file.h"
#include "db/backup/stored_catalogs.h"

namespace varve {

// Whether a plan's directory can have a file of that name.
bool IsOfPlan(const std::string& name);

// For a public call. Listeners are told.
Status MakePlan(const CopyPlanOptions& options, const StoredCatalogs& stored, DB* db,
                const std::string& directory);

}  // namespace varve
