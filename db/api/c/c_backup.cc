// SPDX-License-Identifier: Apache-2.0
// The backup functions that programs link with, all of which say that there are no backups yet.
#include "db/api/c/c_types.h"

using varve::Status;

namespace {

Status NoBackups() {
  return Status::NotSupported("backup engine");
}

}  // namespace

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* /*options*/,
                                                    const char* /*path*/, char** errptr) {
  varve::c::Run(errptr, NoBackups);
  return nullptr;
}

void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* /*engine*/, rocksdb_t* /*db*/,
                                             char** errptr) {
  varve::c::Run(errptr, NoBackups);
}

void rocksdb_backup_engine_close(rocksdb_backup_engine_t* /*engine*/) {}
