// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a directory and options to an engine that can be used.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/db.h"

namespace varve {

struct Engine;

// An opening that is a part of a repair (repair.h). The caller holds the directory's lock. What
// opening would refuse of logs is dropped and reported, recovery starts from a MANIFEST that
// CURRENT does not name, nothing is deleted or moved, and CURRENT and OPTIONS stay as they are.
struct RepairOpening {
  uint64_t manifest_number = 0;
};

struct OpenRequest {
  DBOptions options;
  std::string name;
  std::vector<ColumnFamilyDescriptor> families;
  bool read_only = false;
  bool follows = false;                   // beside read_only: the engine of a secondary
  bool error_if_wal_file_exists = false;  // read-only
  std::optional<RepairOpening> repair = {};
};

// Recovers the database; *engine is ready for reads and, unless read-only, writes, and for
// StartBackgroundWork. On an error nothing that was on disk is changed: a missing directory or
// database may have been made, the LOG written, and tables that nothing names.
Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine);

}  // namespace varve
