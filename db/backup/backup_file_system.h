// SPDX-License-Identifier: Apache-2.0
#pragma once

// A backup seen as the directory of a database: the files that it shares appear beside its own, and
// nothing can be written. So it opens read-only where it is.

#include <memory>
#include <string>

#include "varve/env.h"

#include "db/backup/backup_store.h"

namespace varve {

// `name` is the directory that the backup appears as, an absolute path. What is not in it passes to
// the backups' own Env, for reading.
std::shared_ptr<Env> NewBackupEnv(const BackupStore& store, const BackupMeta& meta,
                                  const std::string& name);

}  // namespace varve
