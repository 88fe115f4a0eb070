// SPDX-License-Identifier: Apache-2.0
// Implements backups for the C API (backup.h).
//
// One handle serves both kinds of engines. Calls that only read use `rep`; the others need
// `writer`, which an engine opened for reading lacks.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/utilities/backup_engine.h"

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"

using varve::BackupEngine;
using varve::BackupEngineOptions;
using varve::BackupEngineReadOnly;
using varve::BackupEngineReadOnlyBase;
using varve::BackupID;
using varve::BackupInfo;
using varve::CreateBackupOptions;
using varve::RestoreOptions;
using varve::Slice;
using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::Try;
using varve::c::TryVoid;

// ---- Options ----

rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(const char* backup_dir) {
  return Try([&] {
    const std::string directory = backup_dir == nullptr ? "" : backup_dir;
    return new rocksdb_backup_engine_options_t{BackupEngineOptions(directory)};
  });
}

void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options) {
  delete options;
}

void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t* options,
                                                  const char* value) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.backup_dir = value == nullptr ? "" : value; });
}

const char* rocksdb_backup_engine_options_get_backup_dir(rocksdb_backup_engine_options_t* options,
                                                         size_t* size) {
  varve::c::StoreSize(size, options == nullptr ? 0 : options->rep.backup_dir.size());
  return options == nullptr ? nullptr : options->rep.backup_dir.c_str();
}

void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* options,
                                           rocksdb_env_t* env) {
  if (options != nullptr) options->rep.backup_env = env == nullptr ? nullptr : env->rep;
}

void rocksdb_backup_engine_options_set_backup_rate_limiter(rocksdb_backup_engine_options_t* options,
                                                           rocksdb_ratelimiter_t* limiter) {
  if (options == nullptr) return;
  options->rep.backup_rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}

void rocksdb_backup_engine_options_set_restore_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter) {
  if (options == nullptr) return;
  options->rep.restore_rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}

void rocksdb_create_backup_options_set_progress_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_progress_cb callback) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (callback == nullptr) {
      options->rep.progress_callback = nullptr;
    } else {
      options->rep.progress_callback = [state, callback] { callback(state); };
    }
  });
}

void rocksdb_create_backup_options_set_exclude_files_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_exclude_files_cb callback) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (callback == nullptr) {
      options->rep.exclude_files_callback = nullptr;
      return;
    }
    // The callback is asked for one file at a time, and cannot throw.
    options->rep.exclude_files_callback = [state, callback](varve::MaybeExcludeBackupFile* file,
                                                            varve::MaybeExcludeBackupFile* end) {
      for (; file != end; ++file) {
        const std::string& name = file->info.relative_file;
        file->exclude_decision = callback(state, name.data(), name.size()) != 0;
      }
    };
  });
}

// ---- Engines ----

struct rocksdb_backup_engine_t {
  std::unique_ptr<BackupEngineReadOnlyBase> rep;
  BackupEngine* writer = nullptr;  // `rep`, or null for an engine that only reads.
};

namespace {

// Opens an engine that writes. Returns null, with the error in *errptr, after a failure.
rocksdb_backup_engine_t* OpenWriter(const BackupEngineOptions& options, varve::Env* env,
                                    char** errptr) {
  rocksdb_backup_engine_t* handle = nullptr;
  Run(errptr, [&]() -> Status {
    auto made = std::make_unique<rocksdb_backup_engine_t>();
    BackupEngine* engine = nullptr;
    Status s = BackupEngine::Open(options, env, &engine);
    if (!s.ok()) return s;
    made->rep.reset(engine);
    made->writer = engine;
    handle = made.release();
    return s;
  });
  return handle;
}

// Runs `body` with an engine that writes.
template <typename Body>
void RunOnWriter(rocksdb_backup_engine_t* engine, char** errptr, Body body,
                 const char* call = __builtin_FUNCTION()) {
  const auto checked = [&]() -> Status {
    if (engine == nullptr) return NullArgument("engine");
    if (engine->writer == nullptr) {
      return Status::NotSupported("C API: the backup engine only reads");
    }
    return body(engine->writer);
  };
  Run(errptr, checked, call);
}

// Makes a backup with the metadata. Sets *backup_id, unless that is null, to its number.
void CreateBackup(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                  const CreateBackupOptions* options, const Slice& metadata, uint32_t* backup_id,
                  char** errptr, const char* call) {
  const auto create = [&](BackupEngine* writer) -> Status {
    if (db == nullptr) return NullArgument("db");
    if (options == nullptr) return NullArgument("options");
    return writer->CreateNewBackupWithMetadata(*options, db->rep.get(), metadata.ToString(),
                                               backup_id);
  };
  RunOnWriter(engine, errptr, create, call);
}

const CreateBackupOptions* OptionsOf(const rocksdb_create_backup_options_t* options) {
  return options == nullptr ? nullptr : &options->rep;
}

// Restores the backup with the number, or the latest one if `id` is null. A read-only engine can do
// this, too.
void Restore(rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
             const rocksdb_restore_options_t* options, const BackupID* id, char** errptr,
             const char* call) {
  const auto restore = [&]() -> Status {
    if (engine == nullptr) return NullArgument("engine");
    if (options == nullptr) return NullArgument("restore_options");
    const std::string db_directory = db_dir == nullptr ? "" : db_dir;
    const std::string wal_directory = wal_dir == nullptr ? "" : wal_dir;
    if (id == nullptr) {
      return engine->rep->RestoreDBFromLatestBackup(options->rep, db_directory, wal_directory);
    }
    return engine->rep->RestoreDBFromBackup(options->rep, *id, db_directory, wal_directory);
  };
  Run(errptr, restore, call);
}

}  // namespace

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                    const char* path, char** errptr) {
  if (options == nullptr) {
    Run(errptr, [] { return NullArgument("options"); });
    return nullptr;
  }
  return Try([&] {
    BackupEngineOptions engine_options(path == nullptr ? "" : path);
    engine_options.info_log = options->rep.info_log.get();
    return OpenWriter(engine_options, options->rep.env, errptr);
  });
}

rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr) {
  if (options == nullptr) {
    Run(errptr, [] { return NullArgument("options"); });
    return nullptr;
  }
  return OpenWriter(options->rep, env == nullptr ? nullptr : env->rep, errptr);
}

rocksdb_backup_engine_t* rocksdb_backup_engine_open_read_only(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr) {
  rocksdb_backup_engine_t* handle = nullptr;
  Run(errptr, [&]() -> Status {
    if (options == nullptr) return NullArgument("options");
    auto made = std::make_unique<rocksdb_backup_engine_t>();
    BackupEngineReadOnly* engine = nullptr;
    Status s =
        BackupEngineReadOnly::Open(options->rep, env == nullptr ? nullptr : env->rep, &engine);
    if (!s.ok()) return s;
    made->rep.reset(engine);
    handle = made.release();
    return s;
  });
  return handle;
}

void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine) {
  delete engine;
}

void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                             char** errptr) {
  TryVoid([&] {
    const CreateBackupOptions options;
    CreateBackup(engine, db, &options, "", nullptr, errptr,
                 "rocksdb_backup_engine_create_new_backup");
  });
}

void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                                   unsigned char flush_before_backup,
                                                   char** errptr) {
  TryVoid([&] {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup != 0;
    CreateBackup(engine, db, &options, "", nullptr, errptr,
                 "rocksdb_backup_engine_create_new_backup_flush");
  });
}

void rocksdb_backup_engine_create_new_backup_with_options(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr) {
  TryVoid([&] {
    CreateBackup(engine, db, OptionsOf(options), "", backup_id, errptr,
                 "rocksdb_backup_engine_create_new_backup_with_options");
  });
}

void rocksdb_backup_engine_create_new_backup_with_metadata(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_len, uint32_t* backup_id, char** errptr) {
  const Slice metadata = app_metadata == nullptr ? Slice() : Slice(app_metadata, app_metadata_len);
  CreateBackup(engine, db, OptionsOf(options), metadata, backup_id, errptr,
               "rocksdb_backup_engine_create_new_backup_with_metadata");
}

void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t* engine) {
  if (engine != nullptr && engine->writer != nullptr) engine->writer->StopBackup();
}

void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine,
                                             uint32_t num_backups_to_keep, char** errptr) {
  RunOnWriter(engine, errptr, [&](BackupEngine* writer) -> Status {
    return writer->PurgeOldBackups(num_backups_to_keep);
  });
}

void rocksdb_backup_engine_delete_backup(rocksdb_backup_engine_t* engine, uint32_t backup_id,
                                         char** errptr) {
  RunOnWriter(engine, errptr,
              [&](BackupEngine* writer) -> Status { return writer->DeleteBackup(backup_id); });
}

void rocksdb_backup_engine_garbage_collect(rocksdb_backup_engine_t* engine, char** errptr) {
  RunOnWriter(engine, errptr,
              [](BackupEngine* writer) -> Status { return writer->GarbageCollect(); });
}

void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine, uint32_t backup_id,
                                         char** errptr) {
  Run(errptr, [&]() -> Status {
    if (engine == nullptr) return NullArgument("engine");
    return engine->rep->VerifyBackup(backup_id);
  });
}

void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t* engine,
                                                  const char* db_dir, const char* wal_dir,
                                                  const rocksdb_restore_options_t* restore_options,
                                                  uint32_t backup_id, char** errptr) {
  Restore(engine, db_dir, wal_dir, restore_options, &backup_id, errptr,
          "rocksdb_backup_engine_restore_db_from_backup");
}

void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr) {
  Restore(engine, db_dir, wal_dir, restore_options, nullptr, errptr,
          "rocksdb_backup_engine_restore_db_from_latest_backup");
}

// ---- What there is ----

struct rocksdb_backup_engine_info_t {
  std::vector<BackupInfo> rep;
};

namespace {

// Returns null if there is none of this number.
const BackupInfo* InfoAt(const rocksdb_backup_engine_info_t* info, int index) {
  if (info == nullptr || index < 0 || static_cast<size_t>(index) >= info->rep.size()) {
    return nullptr;
  }
  return &info->rep[static_cast<size_t>(index)];
}

}  // namespace

const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine) {
  if (engine == nullptr) return nullptr;
  return Try([&] {
    auto info = std::make_unique<rocksdb_backup_engine_info_t>();
    engine->rep->GetBackupInfo(&info->rep);
    return info.release();
  });
}

void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info) {
  delete info;
}

int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info) {
  return info == nullptr ? 0 : static_cast<int>(info->rep.size());
}

int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info, int index) {
  const BackupInfo* const one = InfoAt(info, index);
  return one == nullptr ? 0 : one->timestamp;
}

uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info, int index) {
  const BackupInfo* const one = InfoAt(info, index);
  return one == nullptr ? 0 : one->backup_id;
}

uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info, int index) {
  const BackupInfo* const one = InfoAt(info, index);
  return one == nullptr ? 0 : one->size;
}

uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info,
                                                 int index) {
  const BackupInfo* const one = InfoAt(info, index);
  return one == nullptr ? 0 : one->number_files;
}

const char* rocksdb_backup_engine_info_app_metadata(const rocksdb_backup_engine_info_t* info,
                                                    int index, size_t* len) {
  const BackupInfo* const one = InfoAt(info, index);
  varve::c::StoreSize(len, one == nullptr ? 0 : one->app_metadata.size());
  return one == nullptr ? nullptr : one->app_metadata.data();
}
