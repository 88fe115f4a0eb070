// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether the files of a backup are what they were when it was made, and describes it.

#include <memory>

#include "varve/status.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_store.h"

namespace varve {

// Implements BackupEngineReadOnlyBase::VerifyBackup.
Status VerifyBackupFiles(const BackupStore& store, BackupID id, bool with_checksum);

// Fills in everything, and the details if they are asked for.
void FillBackupInfo(const BackupStore& store, const BackupMeta& meta, bool details,
                    BackupInfo* info);

}  // namespace varve
