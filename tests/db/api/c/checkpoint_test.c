// SPDX-License-Identifier: Apache-2.0
// Tests copies of a database: the list of its files, checkpoints, and a family that is exported and
// imported.

#include "check.h"

static void CheckStorageInfo(Fixture* f) {
  char* error = NULL;
  rocksdb_livefiles_storage_info_options_t* options =
      rocksdb_livefiles_storage_info_options_create();
  rocksdb_livefiles_storage_info_options_set_wal_size_for_flush(options, UINT64_MAX);
  rocksdb_livefiles_storage_info_options_set_include_checksum_info(options, 1);
  rocksdb_livefiles_storage_info_t* info =
      rocksdb_get_livefiles_storage_info(f->db, options, &error);
  CHECK_OK(error);
  const size_t count = rocksdb_livefiles_storage_info_count(info);
  CHECK(count >= 4);
  size_t replaced = 0;
  size_t trimmed = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t size = 99;
    const char* contents = rocksdb_livefiles_storage_info_replacement_contents(info, i, &size);
    CHECK(contents != NULL);
    if (size != 0) {
      ++replaced;
      CHECK(strcmp(rocksdb_livefiles_storage_info_relative_filename(info, i), "CURRENT") == 0);
      CHECK(strncmp(contents, "MANIFEST-", 9) == 0);
    }
    trimmed += rocksdb_livefiles_storage_info_trim_to_size(info, i);
    CHECK(strlen(rocksdb_livefiles_storage_info_directory(info, i)) > 0);
    CHECK(rocksdb_livefiles_storage_info_file_type(info, i) >= 0);
    CHECK(rocksdb_livefiles_storage_info_temperature(info, i) == 0);
    CHECK(strcmp(rocksdb_livefiles_storage_info_file_checksum_func_name(info, i), "Unknown") == 0);
    CHECK(rocksdb_livefiles_storage_info_size(info, i) > 0);
  }
  CHECK(replaced == 1);
  CHECK(trimmed >= 2);  // the MANIFEST, and a log
  CHECK(rocksdb_livefiles_storage_info_directory(info, count) == NULL);
  CHECK(rocksdb_livefiles_storage_info_file_number(info, count) == 0);
  rocksdb_livefiles_storage_info_destroy(info);
  rocksdb_livefiles_storage_info_options_destroy(options);
}

static void CheckImport(Fixture* f, rocksdb_checkpoint_t* checkpoint) {
  char* error = NULL;
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(f->db);
  char directory[600];
  snprintf(directory, sizeof(directory), "%s-export", f->path);
  rocksdb_export_import_files_metadata_t* exported =
      rocksdb_checkpoint_export_column_family(checkpoint, family, directory, &error);
  CHECK_OK(error);
  char* comparator = rocksdb_export_import_files_metadata_get_db_comparator_name(exported);
  CHECK(TakeEqual(comparator, strlen(comparator), "leveldb.BytewiseComparator"));
  rocksdb_livefiles_t* files = rocksdb_export_import_files_metadata_get_files(exported);
  CHECK(rocksdb_livefiles_count(files) == 1);
  CHECK(strcmp(rocksdb_livefiles_directory(files, 0), directory) == 0);
  // A program may carry the metadata by itself.
  rocksdb_export_import_files_metadata_t* carried = rocksdb_export_import_files_metadata_create();
  rocksdb_export_import_files_metadata_set_db_comparator_name(carried,
                                                              "leveldb.BytewiseComparator");
  rocksdb_export_import_files_metadata_set_files(carried, files);
  rocksdb_livefiles_destroy(files);
  rocksdb_import_column_family_options_t* how = rocksdb_import_column_family_options_create();
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_column_family_handle_t* imported =
      rocksdb_create_column_family_with_import(f->db, options, "imported", how, carried, &error);
  CHECK_OK(error);
  size_t size = 0;
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* value = rocksdb_get_cf(f->db, read, imported, "k", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "v"));
  CHECK(rocksdb_create_column_family_with_import(f->db, options, "imported", how, carried,
                                                 &error) == NULL);
  CHECK_ERROR(error, "exists");
  rocksdb_column_family_handle_destroy(imported);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_readoptions_destroy(read);
  rocksdb_options_destroy(options);
  rocksdb_import_column_family_options_destroy(how);
  rocksdb_export_import_files_metadata_destroy(carried);
  rocksdb_export_import_files_metadata_destroy(exported);
}

void TestCheckpoints(void) {
  Fixture f;
  char* error = NULL;
  Open(&f, "checkpoint_source", NULL);
  PutText(&f, "k", "v");
  CheckStorageInfo(&f);
  rocksdb_checkpoint_t* checkpoint = rocksdb_checkpoint_object_create(f.db, &error);
  CHECK_OK(error);
  char directory[600];
  snprintf(directory, sizeof(directory), "%s-checkpoint", f.path);
  rocksdb_checkpoint_create(checkpoint, directory, UINT64_MAX, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_create(checkpoint, directory, 0, &error);
  CHECK_ERROR(error, "exists");
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_t* copy = rocksdb_open(options, directory, &error);
  CHECK_OK(error);
  size_t size = 0;
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* value = rocksdb_get(copy, read, "k", 1, &size, &error);
  CHECK_OK(error);
  CHECK(TakeEqual(value, size, "v"));
  rocksdb_readoptions_destroy(read);
  rocksdb_close(copy);
  rocksdb_options_destroy(options);
  CheckImport(&f, checkpoint);
  rocksdb_checkpoint_object_destroy(checkpoint);
  Close(&f);
}
