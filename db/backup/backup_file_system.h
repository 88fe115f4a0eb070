// SPDX-License-Identifier: Apache-2.0
#pragma once

// Presents a backup as the directory of a database: shared and private files appear side by side
// under their names in the database, and every write is refused. A database can be opened on it
// read-only, without a restore.

#include <memory>
#include <string>

#include "varve/env.h"

#include "db/backup/backup_store.h"

namespace varve {

// Returns an Env in which the absolute path `name` is a directory with the files of the backup.
// Reads of all other paths go to the file system of the backup directory. The Env may outlive the
// store.
std::shared_ptr<Env> NewBackupEnv(const BackupStore& store, const BackupMeta& meta,
                                  const std::string& name);

}  // namespace varve
