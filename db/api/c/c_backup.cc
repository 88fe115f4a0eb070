// SPDX-License-Identifier: Apache-2.0
// Backups in the C API: options are kept, opening an engine says that there are none.
#include <limits>

#include "db/api/c/c_types.h"

using varve::Status;

namespace {

Status NoBackups() {
  return Status::NotSupported("C API: this engine does not have backups");
}

// Files are named by their session, and by their size.
constexpr int kNameBySessionAndSize = static_cast<int>((1U << 31) | 2U);

}  // namespace

// ---- Options ----

struct rocksdb_backup_engine_options_t {
  struct {
    bool backup_log_files = true;
    uint64_t backup_rate_limit = 0;
    uint64_t callback_trigger_interval_size = 4 << 20;
    bool current_temperatures_override_manifest = false;
    bool destroy_old_data = false;
    uint64_t io_buffer_size = 0;
    int max_background_operations = 1;
    int max_valid_backups_to_open = std::numeric_limits<int>::max();
    uint64_t restore_rate_limit = 0;
    int schema_version = 1;
    bool share_files_with_checksum = true;
    int share_files_with_checksum_naming = kNameBySessionAndSize;
    bool share_table_files = true;
    bool sync = true;
  } rep;
  std::string backup_dir;
};

VARVE_C_FIELD(backup_engine_options, backup_log_files, unsigned char);
VARVE_C_FIELD(backup_engine_options, backup_rate_limit, uint64_t);
VARVE_C_FIELD(backup_engine_options, callback_trigger_interval_size, uint64_t);
VARVE_C_FIELD(backup_engine_options, current_temperatures_override_manifest, unsigned char);
VARVE_C_FIELD(backup_engine_options, destroy_old_data, unsigned char);
VARVE_C_FIELD(backup_engine_options, io_buffer_size, uint64_t);
VARVE_C_FIELD(backup_engine_options, max_background_operations, int);
VARVE_C_FIELD(backup_engine_options, max_valid_backups_to_open, int);
VARVE_C_FIELD(backup_engine_options, restore_rate_limit, uint64_t);
VARVE_C_FIELD(backup_engine_options, schema_version, int);
VARVE_C_FIELD(backup_engine_options, share_files_with_checksum, unsigned char);
VARVE_C_FIELD(backup_engine_options, share_files_with_checksum_naming, int);
VARVE_C_FIELD(backup_engine_options, share_table_files, unsigned char);
VARVE_C_FIELD(backup_engine_options, sync, unsigned char);

rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(const char* backup_dir) {
  return varve::c::Try([&] {
    auto options = std::make_unique<rocksdb_backup_engine_options_t>();
    if (backup_dir != nullptr) options->backup_dir = backup_dir;
    return options.release();
  });
}

void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options) {
  delete options;
}

void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t* options,
                                                  const char* value) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] { options->backup_dir = value == nullptr ? "" : value; });
}

const char* rocksdb_backup_engine_options_get_backup_dir(rocksdb_backup_engine_options_t* options,
                                                         size_t* size) {
  varve::c::StoreSize(size, options == nullptr ? 0 : options->backup_dir.size());
  return options == nullptr ? nullptr : options->backup_dir.c_str();
}

// Nothing would read the objects: they are not kept.
void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* /*options*/,
                                           rocksdb_env_t* /*env*/) {}
void rocksdb_backup_engine_options_set_backup_rate_limiter(
    rocksdb_backup_engine_options_t* /*options*/, rocksdb_ratelimiter_t* /*limiter*/) {}
void rocksdb_backup_engine_options_set_restore_rate_limiter(
    rocksdb_backup_engine_options_t* /*options*/, rocksdb_ratelimiter_t* /*limiter*/) {}

struct rocksdb_create_backup_options_t {
  struct {
    bool atomic_flush = false;
    int background_thread_cpu_priority = 2;
    bool decrease_background_thread_cpu_priority = false;
    bool flush_before_backup = false;
  } rep;
};

VARVE_C_HANDLE(create_backup_options);
VARVE_C_FIELD(create_backup_options, atomic_flush, unsigned char);
VARVE_C_FIELD(create_backup_options, background_thread_cpu_priority, int);
VARVE_C_FIELD(create_backup_options, decrease_background_thread_cpu_priority, unsigned char);
VARVE_C_FIELD(create_backup_options, flush_before_backup, unsigned char);

void rocksdb_create_backup_options_set_progress_callback(
    rocksdb_create_backup_options_t* /*options*/, void* /*state*/,
    rocksdb_create_backup_options_progress_cb /*callback*/) {}
void rocksdb_create_backup_options_set_exclude_files_callback(
    rocksdb_create_backup_options_t* /*options*/, void* /*state*/,
    rocksdb_create_backup_options_exclude_files_cb /*callback*/) {}

struct rocksdb_restore_options_t {
  struct {
    bool keep_log_files = false;
    int mode = 0xffff;
  } rep;
};

VARVE_C_HANDLE(restore_options);
VARVE_C_SETTER(rocksdb_restore_options_t, rocksdb_restore_options_set_keep_log_files, int,
               keep_log_files);
VARVE_C_GETTER(rocksdb_restore_options_t, rocksdb_restore_options_get_keep_log_files, unsigned char,
               keep_log_files);
VARVE_C_FIELD(restore_options, mode, int);

// ---- Engines, of which there are none ----

using Text = const char*;

VARVE_C_DOES_NOTHING(void, rocksdb_backup_engine_close, (rocksdb_backup_engine_t*));
VARVE_C_REFUSES(void, rocksdb_backup_engine_create_new_backup, NoBackups,
                (rocksdb_backup_engine_t*, rocksdb_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_create_new_backup_flush, NoBackups,
                (rocksdb_backup_engine_t*, rocksdb_t*, unsigned char, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_create_new_backup_with_metadata, NoBackups,
                (rocksdb_backup_engine_t*, rocksdb_t*, const rocksdb_create_backup_options_t*,
                 const char*, size_t, uint32_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_create_new_backup_with_options, NoBackups,
                (rocksdb_backup_engine_t*, rocksdb_t*, const rocksdb_create_backup_options_t*,
                 uint32_t*, char** errptr));
VARVE_C_DOES_NOTHING(const rocksdb_backup_engine_info_t*, rocksdb_backup_engine_get_backup_info,
                     (rocksdb_backup_engine_t*));
VARVE_C_GIVES_NOTHING(Text, rocksdb_backup_engine_info_app_metadata,
                      (const rocksdb_backup_engine_info_t*, int, size_t* size));
VARVE_C_DOES_NOTHING(uint32_t, rocksdb_backup_engine_info_backup_id,
                     (const rocksdb_backup_engine_info_t*, int));
VARVE_C_DOES_NOTHING(int, rocksdb_backup_engine_info_count, (const rocksdb_backup_engine_info_t*));
VARVE_C_DOES_NOTHING(void, rocksdb_backup_engine_info_destroy,
                     (const rocksdb_backup_engine_info_t*));
VARVE_C_DOES_NOTHING(uint32_t, rocksdb_backup_engine_info_number_files,
                     (const rocksdb_backup_engine_info_t*, int));
VARVE_C_DOES_NOTHING(uint64_t, rocksdb_backup_engine_info_size,
                     (const rocksdb_backup_engine_info_t*, int));
VARVE_C_DOES_NOTHING(int64_t, rocksdb_backup_engine_info_timestamp,
                     (const rocksdb_backup_engine_info_t*, int));
VARVE_C_REFUSES(rocksdb_backup_engine_t*, rocksdb_backup_engine_open, NoBackups,
                (const rocksdb_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(rocksdb_backup_engine_t*, rocksdb_backup_engine_open_opts, NoBackups,
                (const rocksdb_backup_engine_options_t*, rocksdb_env_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_purge_old_backups, NoBackups,
                (rocksdb_backup_engine_t*, uint32_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_restore_db_from_backup, NoBackups,
                (rocksdb_backup_engine_t*, const char*, const char*,
                 const rocksdb_restore_options_t*, uint32_t, char** errptr));
VARVE_C_REFUSES(void, rocksdb_backup_engine_restore_db_from_latest_backup, NoBackups,
                (rocksdb_backup_engine_t*, const char*, const char*,
                 const rocksdb_restore_options_t*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_backup_engine_stop_backup, (rocksdb_backup_engine_t*));
VARVE_C_REFUSES(void, rocksdb_backup_engine_verify_backup, NoBackups,
                (rocksdb_backup_engine_t*, uint32_t, char** errptr));
