// SPDX-License-Identifier: Apache-2.0
#pragma once

// Backups. Part of varve/c.h, which says what holds everywhere.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Backups ----

// NotSupported so far: opening returns null.
VARVE_C_API rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                                const char* path, char** errptr);
VARVE_C_API void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine,
                                                         rocksdb_t* db, char** errptr);

// Does nothing.
VARVE_C_API void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine);

#ifdef __cplusplus
}  // extern "C"
#endif
