// SPDX-License-Identifier: Apache-2.0
// Implements the space of tables for the C API (env.h).

#include <memory>

#include "varve/sst_file_manager.h"

#include "db/api/c/c_types.h"

using varve::SstFileManager;
using varve::c::Try;

rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env) {
  if (env == nullptr) return varve::c::CouldNotMake<rocksdb_sst_file_manager_t>();
  return Try([&]() -> rocksdb_sst_file_manager_t* {
    std::shared_ptr<SstFileManager> made(varve::NewSstFileManager(env->rep));
    return made == nullptr ? nullptr : new rocksdb_sst_file_manager_t{std::move(made)};
  });
}

void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager) {
  delete manager;
}

void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t* manager,
                                                          uint64_t max_allowed_space) {
  if (manager != nullptr) manager->rep->SetMaxAllowedSpaceUsage(max_allowed_space);
}

void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t* manager,
                                                         uint64_t compaction_buffer_size) {
  if (manager != nullptr) manager->rep->SetCompactionBufferSize(compaction_buffer_size);
}

bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t* manager) {
  return manager != nullptr && manager->rep->IsMaxAllowedSpaceReached();
}

bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* manager) {
  return manager != nullptr && manager->rep->IsMaxAllowedSpaceReachedIncludingCompactions();
}

uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->GetTotalSize();
}

int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->GetDeleteRateBytesPerSecond();
}

void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager,
                                                               int64_t delete_rate) {
  if (manager != nullptr) manager->rep->SetDeleteRateBytesPerSecond(delete_rate);
}

double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->GetMaxTrashDBRatio();
}

void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager,
                                                     double ratio) {
  if (manager != nullptr) manager->rep->SetMaxTrashDBRatio(ratio);
}

uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->GetTotalTrashSize();
}
