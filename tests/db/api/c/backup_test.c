// SPDX-License-Identifier: Apache-2.0
// Tests backups, and databases restored from them.

#include "check.h"

typedef struct {
  int progress;
  int questions;
} BackupCalls;

static void NoteBackupProgress(void* state) {
  ((BackupCalls*)state)->progress++;
}

static unsigned char LeaveOutOfBackup(void* state, const char* file, size_t size) {
  ((BackupCalls*)state)->questions++;
  return file != NULL && size > 0;
}

static void CheckBackupOptions(rocksdb_backup_engine_options_t* options) {
  size_t size = 0;
  rocksdb_backup_engine_options_set_schema_version(options, 2);
  CHECK(rocksdb_backup_engine_options_get_schema_version(options) == 2);
  rocksdb_backup_engine_options_set_max_background_operations(options, 2);
  CHECK(rocksdb_backup_engine_options_get_max_background_operations(options) == 2);
  rocksdb_backup_engine_options_set_callback_trigger_interval_size(options, 1);
  const char* directory = rocksdb_backup_engine_options_get_backup_dir(options, &size);
  CHECK(size > 0 && strlen(directory) == size);
  rocksdb_ratelimiter_t* limiter = rocksdb_ratelimiter_create(1 << 30, 100000, 10);
  rocksdb_backup_engine_options_set_backup_rate_limiter(options, limiter);
  rocksdb_backup_engine_options_set_restore_rate_limiter(options, limiter);
  rocksdb_ratelimiter_destroy(limiter);
}

static void CheckBackupInfo(rocksdb_backup_engine_t* engine) {
  size_t size = 0;
  const rocksdb_backup_engine_info_t* info = rocksdb_backup_engine_get_backup_info(engine);
  CHECK(rocksdb_backup_engine_info_count(info) == 2);
  CHECK(rocksdb_backup_engine_info_backup_id(info, 1) == 2);
  CHECK(rocksdb_backup_engine_info_timestamp(info, 0) > 1600000000);
  CHECK(rocksdb_backup_engine_info_size(info, 0) > 0);
  CHECK(rocksdb_backup_engine_info_number_files(info, 0) == 5);
  const char* metadata = rocksdb_backup_engine_info_app_metadata(info, 1, &size);
  CHECK(Equal(metadata, size, "hello"));
  CHECK(rocksdb_backup_engine_info_app_metadata(info, 2, &size) == NULL && size == 0);
  CHECK(rocksdb_backup_engine_info_backup_id(info, -1) == 0);
  rocksdb_backup_engine_info_destroy(info);
}

// The first backup has everything, the second the metadata, and is stopped in the end.
static void CheckBackupWriting(rocksdb_backup_engine_t* engine, Fixture* f) {
  char* error = NULL;
  uint32_t id = 0;
  BackupCalls calls = {0, 0};
  rocksdb_create_backup_options_t* options = rocksdb_create_backup_options_create();
  rocksdb_create_backup_options_set_flush_before_backup(options, 1);
  rocksdb_create_backup_options_set_progress_callback(options, &calls, NoteBackupProgress);
  rocksdb_backup_engine_create_new_backup_with_options(engine, f->db, options, &id, &error);
  CHECK_OK(error);
  CHECK(id == 1 && calls.progress > 0);
  PutText(f, "apple", "brown");
  rocksdb_backup_engine_create_new_backup_with_metadata(engine, f->db, options, "hello", 5, &id,
                                                        &error);
  CHECK_OK(error);
  CHECK(id == 2);
  CheckBackupInfo(engine);
  rocksdb_backup_engine_verify_backup(engine, 2, &error);
  CHECK_OK(error);
  PutText(f, "pear", "green");
  rocksdb_create_backup_options_set_exclude_files_callback(options, &calls, LeaveOutOfBackup);
  rocksdb_backup_engine_create_new_backup_with_options(engine, f->db, options, &id, &error);
  CHECK_OK(error);
  CHECK(id == 3 && calls.questions == 1);
  rocksdb_backup_engine_delete_backup(engine, 3, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_create_new_backup_with_options(engine, f->db, NULL, &id, &error);
  CHECK_ERROR(error, "null");
  rocksdb_backup_engine_create_new_backup(engine, NULL, &error);
  CHECK_ERROR(error, "null");
  rocksdb_backup_engine_create_new_backup_flush(engine, f->db, 1, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_delete_backup(engine, 4, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_delete_backup(engine, 4, &error);
  CHECK_ERROR(error, "NotFound");
  rocksdb_create_backup_options_destroy(options);
}

static void CheckBackupReader(const rocksdb_backup_engine_options_t* options, Fixture* f) {
  char* error = NULL;
  rocksdb_backup_engine_t* reader = rocksdb_backup_engine_open_read_only(options, NULL, &error);
  CHECK_OK(error);
  CheckBackupInfo(reader);
  rocksdb_backup_engine_create_new_backup(reader, f->db, &error);
  CHECK_ERROR(error, "only reads");
  rocksdb_backup_engine_garbage_collect(reader, &error);
  CHECK_ERROR(error, "only reads");
  rocksdb_backup_engine_close(reader);
}

static void CheckCopyPlan(Fixture* f) {
  char* error = NULL;
  char directory[600];
  snprintf(directory, sizeof(directory), "%s-plan", f->path);
  rocksdb_copy_plan_options_t* options = rocksdb_copy_plan_options_create();
  rocksdb_copy_plan_options_set_flush_before_backup(options, 1);
  CHECK(rocksdb_copy_plan_options_get_flush_before_backup(options) == 1);
  rocksdb_copy_plan_options_set_app_metadata(options, "hello", 5);
  rocksdb_copy_plan_t* plan = rocksdb_copy_plan_make(options, f->db, directory, &error);
  CHECK_OK(error);
  const size_t count = rocksdb_copy_plan_objects_count(plan);
  CHECK(count > 2 && rocksdb_copy_plan_backup_id(plan) == 1);
  rocksdb_copy_plan_verify(plan, &error);
  CHECK_OK(error);
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    const char* name = rocksdb_copy_plan_object_name(plan, i, &size);
    CHECK(size > 0 && strlen(name) == size);
    CHECK(rocksdb_copy_plan_object_path(plan, i, &size) != NULL && size > 0);
    CHECK(rocksdb_copy_plan_object_size(plan, i) > 0);
    CHECK(rocksdb_copy_plan_object_crc32c(plan, i) != 0);
  }
  CHECK(rocksdb_copy_plan_object_name(plan, count, &size) == NULL && size == 0);
  const char* const catalog = rocksdb_copy_plan_catalog_name(plan, &size);
  CHECK(strlen(catalog) == size);
  const char* const bytes = rocksdb_copy_plan_catalog_bytes(plan, &size);
  CHECK(size > 0);
  rocksdb_copy_plan_options_add_catalog(options, catalog, bytes, size);
  rocksdb_copy_plan_destroy(plan);
  plan = rocksdb_copy_plan_open(NULL, directory, &error);
  CHECK_OK(error);
  rocksdb_copy_plan_destroy(plan);
  CHECK(rocksdb_copy_plan_make(options, f->db, directory, &error) == NULL);
  CHECK_ERROR(error, "exists");
  rocksdb_copy_plan_discard(NULL, directory, &error);
  CHECK_OK(error);
  plan = rocksdb_copy_plan_make(options, f->db, directory, &error);
  CHECK_OK(error);
  CHECK(rocksdb_copy_plan_backup_id(plan) == 2);
  rocksdb_copy_plan_destroy(plan);
  rocksdb_copy_plan_discard(NULL, directory, &error);
  CHECK_OK(error);
  rocksdb_copy_plan_discard(NULL, directory, &error);
  CHECK_ERROR(error, "NotFound");
  rocksdb_copy_plan_options_destroy(options);
}

void TestBackups(void) {
  Fixture f;
  char* error = NULL;
  char directory[600];
  Open(&f, "backups", NULL);
  snprintf(directory, sizeof(directory), "%s/kept", f.path);
  PutText(&f, "apple", "green");
  rocksdb_backup_engine_options_t* options = rocksdb_backup_engine_options_create(directory);
  CheckBackupOptions(options);
  rocksdb_env_t* env = rocksdb_create_default_env();
  rocksdb_backup_engine_t* engine = rocksdb_backup_engine_open_opts(options, env, &error);
  CHECK_OK(error);
  CheckBackupWriting(engine, &f);
  CheckCopyPlan(&f);
  CheckBackupReader(options, &f);
  rocksdb_restore_options_t* restore = rocksdb_restore_options_create();
  rocksdb_restore_options_set_mode(restore, 2);
  rocksdb_backup_engine_restore_db_from_backup(engine, f.path, f.path, restore, 1, &error);
  CHECK_ERROR(error, "close the database");
  rocksdb_close(f.db);
  rocksdb_backup_engine_restore_db_from_backup(engine, f.path, f.path, restore, 1, &error);
  CHECK_OK(error);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "apple", "green"));
  rocksdb_close(f.db);
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, f.path, f.path, restore, &error);
  CHECK_OK(error);
  rocksdb_restore_options_destroy(restore);
  f.db = rocksdb_open(f.options, f.path, &error);
  CHECK_OK(error);
  CHECK(Has(&f, "apple", "brown"));
  rocksdb_backup_engine_stop_backup(engine);
  rocksdb_backup_engine_create_new_backup(engine, f.db, &error);
  CHECK_ERROR(error, "incomplete");
  rocksdb_backup_engine_close(engine);
  // Opens the engine by its directory alone.
  engine = rocksdb_backup_engine_open(f.options, directory, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_garbage_collect(engine, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_close(engine);
  rocksdb_env_destroy(env);
  rocksdb_backup_engine_options_destroy(options);
  Close(&f);
}
