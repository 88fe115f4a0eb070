// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the state for best_efforts_recovery: the newest one in a MANIFEST whose tables all exist.

#include <string>
#include <vector>

#include "varve/column_family.h"

#include "db/engine/context.h"
#include "db/recovery/table_directories.h"
#include "db/version/manifest_point.h"
#include "db/wal/synced_marks.h"

namespace varve {

// The chosen state, and its difference from the newest one.
struct CompleteVersion {
  ManifestPoint point;  // Its MANIFEST is 0 if none can be used.
  // Reason why the state is older than the newest one; empty if it is the newest.
  std::string reason;
  std::string bad_manifest;           // Path of the first damaged MANIFEST, or empty.
  uint64_t bad_offset = 0;            // Position of its damage.
  std::vector<std::string> families;  // Names of families with an older state.
  std::vector<std::string> tables;  // Paths of tables that are missing or differ from the MANIFEST.
  [[nodiscard]] bool set_back() const { return !reason.empty(); }
};

// Examines the MANIFEST that the synced marks name (`known`), that of CURRENT, and then all others
// from the newest on, until one has a usable state for every family that has tables. If none has,
// families may become empty. `entries` are the names in the database's directory; only `families`
// are examined. Writes nothing. Sets *found, which must be new.
//
// The state of a family after some record of the MANIFEST is usable if none of its tables is
// missing, except the newest ones of level 0: the other tables are then an older state of the
// family. The outputs of an atomic flush are kept in all of its families or in none.
//
// If a file cannot be read for another reason than that it is missing or damaged, returns that
// error. InvalidArgument: a missing file is in a directory that the options lack.
Status FindCompleteVersion(const DbContext& context,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           const wal::SyncedMark& known, const std::vector<std::string>& entries,
                           const FormerDirectories& former, CompleteVersion* found);

}  // namespace varve
