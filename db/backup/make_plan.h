// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a copy plan: a directory with the files of a backup that an object store lacks, which a
// program uploads by itself (varve/utilities/copy_plan.h).
//
//   1. The files of one moment of the database are listed, and kept from deletion (CopySet).
//   2. Tables get their names in the object store. Tables that a catalog of an earlier backup lists
//      are left out, since the store has them.
//   3. The rest is linked or copied into `<plan_dir>.tmp`. A copy yields a checksum; a linked file
//      without a known checksum is read for one.
//   4. PLAN is written there, everything is made durable, and the directory gets its name.
//
// A crash before the end of 4 leaves no plan.

#include <string>

#include "varve/db.h"
#include "varve/utilities/copy_plan.h"

#include "db/backup/plan_file.h"
#include "db/backup/stored_catalogs.h"

namespace varve {

// Returns true if a plan's directory can have a file of that name.
bool IsOfPlan(const std::string& name);

// Makes the plan in `directory`, which must not exist, and notifies listeners. `db` stays open
// meanwhile. Returns InvalidArgument for bad options, NotSupported for a database of another
// library, Corruption if a file contradicts its checksum or an earlier catalog, or the first error
// of a file. No plan is left then.
Status MakePlan(const CopyPlanOptions& options, const StoredCatalogs& stored, DB* db,
                const std::string& directory);

}  // namespace varve
