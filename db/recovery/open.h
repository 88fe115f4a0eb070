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

// An opening that is part of a repair (repair.h). The caller holds the directory's lock. Log
// contents that an opening would refuse are dropped and reported, recovery starts from a MANIFEST
// that CURRENT does not name, nothing is deleted or moved, and CURRENT and OPTIONS are not changed.
struct RepairOpening {
  uint64_t manifest_number = 0;
};

// Arguments of an opening of any kind.
struct OpenRequest {
  DBOptions options;
  std::string name;
  std::vector<ColumnFamilyDescriptor> families;
  bool read_only = false;
  bool follows = false;                   // With read_only: the engine of a secondary.
  std::string follower_directory;         // With follows: the secondary links tables here, if set.
  bool error_if_wal_file_exists = false;  // Only with read_only.
  std::optional<RepairOpening> repair = {};
};

// Recovers the database; *engine is ready for reads, for writes unless read-only, and for
// StartBackgroundWork. After an error existing files are unchanged: a missing directory or database
// may have been created, the LOG written, and tables that no MANIFEST names.
Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine);

}  // namespace varve
