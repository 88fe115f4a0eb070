// SPDX-License-Identifier: Apache-2.0
#pragma once

// Restores a database from a backup.
//
//   1. The directories are made, and the database's lock is taken. An earlier restore that was
//      interrupted is undone.
//   2. Each file of the backup is found, and the directory is listed. A file that belongs to no
//      database is refused.
//   3. Files that the database lacks are copied to restore.tmp/new, with checksums, and synced.
//   4. The result is checked as a whole: CURRENT, the MANIFEST, and each table that it names.
//   5. The new files replace the old ones (db/recovery/file_exchange.h).
//
// Nothing of the old database is touched before 5.

#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"

namespace varve {

// Restores backup `id` to `db_dir`, with its logs in `wal_dir` (db_dir if it is empty).
// `alternates` are the stores of options.alternate_dirs. Sets files, bytes_copied and sequence of
// *moved. Returns the errors of BackupEngineReadOnlyBase::RestoreDBFromBackup.
Status RestoreBackup(const BackupStore& store, const std::vector<const BackupStore*>& alternates,
                     const RestoreOptions& options, BackupID id, const std::string& db_dir,
                     const std::string& wal_dir, DataMoveInfo* moved);

}  // namespace varve
