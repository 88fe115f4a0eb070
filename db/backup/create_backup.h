// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a backup.
//
//   1. Its folder in private/ is made; one that exists already is garbage, and swept first.
//   2. The files of one moment of the database are listed, and kept from deletion (CopySet).
//   3. Each file gets a name in the backup. A shared one that a valid backup has is not copied.
//   4. The others are copied, with checksums: shared ones under temporary names.
//   5. Shared files get their names, and all folders are synced.
//   6. The list of files is written, synced and renamed to its name in meta/.
//
// A crash before the rename of 6 leaves no backup, and garbage; after it everything that the list
// names is durable, with BackupEngineOptions::sync. A shared file that no list names is not relied
// upon: a later backup copies it anew.

#include <string>

#include "varve/db.h"
#include "varve/listener.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"
#include "db/backup/live_tables.h"

namespace varve {

// Requires that nobody else uses `store`, except its stop(), and `tables` meanwhile. Makes a backup
// of `db`, and sets *new_id to its id; after an error *new_id is as before. Sets files,
// bytes_copied and sequence of *moved. After an error there is no backup, and its files are
// garbage; only if the rename of 6 failed without saying what it did, and its list cannot be
// deleted either, may the next opening of the directory find the backup.
Status CreateBackup(BackupStore* store, LiveTables* tables, const CreateBackupOptions& options,
                    DB* db, const std::string& app_metadata, BackupID* new_id, DataMoveInfo* moved);

}  // namespace varve
