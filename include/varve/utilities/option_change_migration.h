// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prepares a database for opening with another compaction style or fewer levels.

#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// Opening with another style or number of levels needs no preparation here (see
// ColumnFamilyOptions::num_levels). Other engines of the format refuse a database whose tables lie
// deeper than num_levels: for them, the tables of such families are compacted into the levels that
// the new options allow, which may rewrite the whole family. Nothing is done to other families, and
// none gets the new options: the next opening sets them. With FIFO compaction that opening drops
// the oldest tables, if all together exceed the cap; where it allows L0 alone, everything is one
// table.
//
// The database must be closed. The old options open it, and so must be able to. If a call fails or
// is killed, the database has the same contents and opens with the old options; call again.
// Thread safety: as for opening. Errors: those of opening and compacting.
VARVE_EXPORT Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                                          const Options& new_opts);

// Does the same for all families of a database. InvalidArgument, with nothing done, unless both
// lists have the same names in the same order.
VARVE_EXPORT Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                                          const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                                          const DBOptions& new_db_opts,
                                          const std::vector<ColumnFamilyDescriptor>& new_cf_descs);

}  // namespace varve
