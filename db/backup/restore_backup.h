// SPDX-License-Identifier: Apache-2.0
#pragma once

// Making a database of a backup.
//
//   1. The directories are made, and the database's lock is taken. An earlier restore that was
//      interrupted is undone.
//   2. Each file of the backup is found, and what is in the directory is looked at. Files that are
//   no
//      database's are refused.
//   3. What the database does not have is copied to restore.tmp/new, with checksums, and synced.
//   4. The result is checked as a whole: CURRENT, the MANIFEST, and each table that it names.
//   5. The files change places (db/recovery/file_exchange.h).
//
// Until 5 nothing of the old database is touched.

#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"

namespace varve {

// `alternates` are those of the options. *moved gets the numbers of files and bytes, and the
// sequence.
Status RestoreBackup(const BackupStore& store, const std::vector<const BackupStore*>& alternates,
                     const RestoreOptions& options, BackupID id, const std::string& db_dir,
                     const std::string& wal_dir, DataMoveInfo* moved);

}  // namespace varve
