// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a directory and options to an engine that runs.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/db.h"

#include "db/background/engine.h"

namespace varve {

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
  bool error_if_wal_file_exists = false;  // read-only
  std::optional<RepairOpening> repair = {};
};

// Recovers the database and starts it; *engine is ready for reads and, unless read-only, writes. On
// an error nothing on disk was changed, except that a missing directory or database may have been
// made, and the LOG written.
Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine);

// Lets background work begin. engine->db is set: listeners are given it.
void StartBackgroundWork(Engine* engine);

enum class WhenHeld : uint8_t {
  kRefuse,  // Aborted while snapshots are held or LockWAL is in force, with nothing changed
  kCloseAllTheSame,
};

// Ends calls and background work, flushes what only memory holds, syncs the logs, gives up the
// lock. The engine refuses everything afterwards. Idempotent: later calls, and those that come
// meanwhile and wait, return the same. Whatever fails, for want of memory too, the rest is done,
// and the first error is the answer.
Status CloseEngine(Engine* engine, WhenHeld when = WhenHeld::kCloseAllTheSame) noexcept;

// Sees to it that the OPTIONS file follows a change of options or families. An error only if the
// options want to know. Takes mu.
Status OptionsChanged(Engine* engine);

// Adds a family to an open engine; *handle is a user's. The commit path is held exclusively, mu is
// not.
Status CreateFamilyInEngine(Engine* engine, const std::string& name,
                            const ColumnFamilyOptions& options,
                            std::unique_ptr<ColumnFamilyHandle>* handle);

// The run-time family of one that the version set knows; its memtable is fresh. Requires mu.
std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options);

}  // namespace varve
