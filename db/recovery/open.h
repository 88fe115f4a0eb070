// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens an engine from a directory and options.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/db.h"

namespace varve {

struct Engine;

// Options of an opening that is part of a repair (repair.h), whose caller holds the database's
// lock. Damage in logs that would make an opening fail is skipped and reported, recovery starts
// from a MANIFEST that CURRENT does not name, nothing is deleted or moved, and CURRENT and OPTIONS
// are not changed.
struct RepairOpening {
  uint64_t manifest_number = 0;  // The MANIFEST to start from.
};

// Arguments of an opening of any kind.
struct OpenRequest {
  DBOptions options;
  std::string name;  // Path of the database.
  std::vector<ColumnFamilyDescriptor> families;
  bool read_only = false;
  bool follows = false;                   // With read_only: for a secondary.
  std::string follower_directory;         // With follows: directory of a follower, or empty.
  bool error_if_wal_file_exists = false;  // Only with read_only.
  std::optional<RepairOpening> repair = {};
};

// Recovers the database. On success *engine is ready for reads, for writes unless it is read-only,
// and for StartBackgroundWork. After an error existing files are unchanged; directories, a new
// database, the LOG and tables that no MANIFEST names may have been created.
Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine);

}  // namespace varve
