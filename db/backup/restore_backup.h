// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a database of a backup.
//
//   1. The directories are made, and the database's lock is taken. An earlier restore that was
//      interrupted is undone.
//   2. Each file of the backup is found, and the directory is listed. Files that are no database's
//      are refused.
//   3. Files that the database lacks are copied to restore.tmp/new, with checksums, and synced.
//   4. The result is checked as a whole: CURRENT, the MANIFEST, and each table that it names.
//   5. The files change places (db/recovery/file_exchange.h).
//
// Nothing of the old database is touched before 5.

#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"

namespace varve {

// `alternates` are the options' stores. *moved gets the numbers of files and bytes, and the
// sequence number.
Status RestoreBackup(const BackupStore& store, const std::vector<const BackupStore*>& alternates,
                     const RestoreOptions& options, BackupID id, const std::string& db_dir,
                     const std::string& wal_dir, DataMoveInfo* moved);

}  // namespace varve
