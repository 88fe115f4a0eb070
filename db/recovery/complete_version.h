// SPDX-License-Identifier: Apache-2.0
#pragma once

// What best_efforts_recovery opens: the newest state that a MANIFEST tells of and all tables are
// there for.

#include <string>
#include <vector>

#include "varve/column_family.h"

#include "db/engine/context.h"
#include "db/recovery/table_directories.h"
#include "db/version/manifest_point.h"
#include "db/wal/synced_marks.h"

namespace varve {

struct CompleteVersion {
  ManifestPoint point;  // its MANIFEST is 0: none tells of a whole database
  // Why it is older than what was in force; empty: it is that.
  std::string reason;
  std::string bad_manifest;           // path of one that is damaged; empty: none was met
  uint64_t bad_offset = 0;            // of its damage
  std::vector<std::string> families;  // names of those that went back
  std::vector<std::string> tables;    // paths of those missing, or not as the MANIFEST has them
  [[nodiscard]] bool set_back() const { return !reason.empty(); }
};

// Looks at the MANIFEST that was known to be in force, that of CURRENT, and then at all others from
// the newest on, for one with a state of each family that has tables. If there is none, families
// may become empty. `entries` are those of the database's directory; families that are not among
// `families` are not looked at. Nothing is written.
//
// A family goes back to a record at which none of its tables is missing; newest tables of level
// 0 may be missing, as without them the rest is an older state. What several families were flushed
// to at once (atomic flushes) all of them keep, or none does.
//
// A file that cannot be read for another reason than that it is missing or damaged is an error, and
// no reason to go back. InvalidArgument: one that is missing is in a directory that is not given.
Status FindCompleteVersion(const DbContext& context,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           const wal::SyncedMark& known, const std::vector<std::string>& entries,
                           const FormerDirectories& former, CompleteVersion* found);

}  // namespace varve
