// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether the files of a backup are unchanged since it was made, and describes a backup.

#include <memory>

#include "varve/status.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"

namespace varve {

// Implements BackupEngineReadOnlyBase::VerifyBackup. Requires that nobody changes the store
// meanwhile.
Status VerifyBackupFiles(const BackupStore& store, BackupID id, bool with_checksum);

// Sets *info to a description of the backup, including its files and the Env to open it if
// `details` is set.
void FillBackupInfo(const BackupStore& store, const BackupMeta& meta, bool details,
                    BackupInfo* info);

}  // namespace varve
