// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows a backup as the directory of a database: its shared files appear beside its own, and
// nothing can be written. A database opens it read-only in place.

#include <memory>
#include <string>

#include "varve/env.h"

#include "db/backup/backup_store.h"

namespace varve {

// `name` is the directory that the backup appears as, an absolute path. Paths outside it pass to
// the backups' own Env, for reading.
std::shared_ptr<Env> NewBackupEnv(const BackupStore& store, const BackupMeta& meta,
                                  const std::string& name);

}  // namespace varve
