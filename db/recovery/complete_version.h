// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the state that best_efforts_recovery opens: the newest one in a MANIFEST whose tables all
// exist.

#include <string>
#include <vector>

#include "varve/column_family.h"

#include "db/engine/context.h"
#include "db/recovery/table_directories.h"
#include "db/version/manifest_point.h"
#include "db/wal/synced_marks.h"

namespace varve {

// The state that was chosen, and what it lacks of the newest one.
struct CompleteVersion {
  ManifestPoint point;  // Its MANIFEST is 0: none describes a whole database.
  // Reason why the state is older than the newest one; empty: it is the newest.
  std::string reason;
  std::string bad_manifest;           // Path of a damaged one; empty: none was found.
  uint64_t bad_offset = 0;            // Position of its damage.
  std::vector<std::string> families;  // Names of the families with an older state.
  std::vector<std::string> tables;  // Paths of tables that are missing or differ from the MANIFEST.
  [[nodiscard]] bool set_back() const { return !reason.empty(); }
};

// Examines the MANIFEST that was known to be in force, that of CURRENT, and then all others from
// the newest on, until one has a state of each family that has tables. If none has, families may
// become empty. `entries` are those of the database's directory; only `families` are examined.
// Writes nothing.
//
// A family goes back to a record at which none of its tables is missing; only the newest tables of
// level 0 may be missing, since the remaining tables are then an older state. The outputs of an
// atomic flush are kept by all of its families or by none.
//
// A file that cannot be read for another reason than that it is missing or damaged is an error, not
// a reason to go back. Returns InvalidArgument if a missing file is in a directory that the options
// lack.
Status FindCompleteVersion(const DbContext& context,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           const wal::SyncedMark& known, const std::vector<std::string>& entries,
                           const FormerDirectories& former, CompleteVersion* found);

}  // namespace varve
