// SPDX-License-Identifier: Apache-2.0
// Data that goes in and out as files in the C API: ingestion goes to the database, which refuses it
// so far; checkpoints, imports and lifetimes are not there.
#include "varve/env.h"

#include "db/api/c/c_types.h"

using varve::DB;
using varve::IngestExternalFileOptions;
using varve::Status;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

Status NoCheckpoints() {
  return Status::NotSupported("C API: this engine does not have checkpoints");
}

Status NoImport() {
  return Status::NotSupported("C API: this engine does not have imports of column families");
}

Status NoLifetimes() {
  return Status::NotSupported("C API: this engine does not have databases with a TTL");
}

}  // namespace

// ---- Files opened by this library ----

VARVE_C_SETTER(rocksdb_envoptions_t, rocksdb_envoptions_set_fd_cloexec, unsigned char,
               set_fd_cloexec);
VARVE_C_GETTER(rocksdb_envoptions_t, rocksdb_envoptions_get_fd_cloexec, unsigned char,
               set_fd_cloexec);

void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* options,
                                         rocksdb_ratelimiter_t* rate_limiter) {
  if (options == nullptr) return;
  options->rep.rate_limiter = rate_limiter == nullptr ? nullptr : rate_limiter->rep.get();
}

// ---- Ingestion ----

namespace {

Status Ingest(DB* db, varve::ColumnFamilyHandle* family, const char* const* file_list,
              size_t list_len, const IngestExternalFileOptions& options) {
  if (file_list == nullptr && list_len != 0) return NullArgument("file_list");
  std::vector<std::string> files;
  for (size_t i = 0; i < list_len; ++i) {
    if (file_list[i] == nullptr) return NullArgument("file name");
    files.emplace_back(file_list[i]);
  }
  return db->IngestExternalFile(family, files, options);
}

}  // namespace

void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list, size_t list_len,
                                  const rocksdb_ingestexternalfileoptions_t* options,
                                  char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const IngestExternalFileOptions& o) {
    return Ingest(d, d->DefaultColumnFamily(), file_list, list_len, o);
  });
}

void rocksdb_ingest_external_file_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                     const char* const* file_list, size_t list_len,
                                     const rocksdb_ingestexternalfileoptions_t* options,
                                     char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const IngestExternalFileOptions& o) {
    if (family == nullptr) return NullArgument("family");
    return Ingest(d, family->rep, file_list, list_len, o);
  });
}

// ---- Checkpoints ----

VARVE_C_REFUSES(void, rocksdb_checkpoint_create, NoCheckpoints,
                (rocksdb_checkpoint_t*, const char*, uint64_t, char** errptr));
VARVE_C_REFUSES(rocksdb_export_import_files_metadata_t*, rocksdb_checkpoint_export_column_family,
                NoCheckpoints,
                (rocksdb_checkpoint_t*, rocksdb_column_family_handle_t*, const char*,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_checkpoint_t*, rocksdb_checkpoint_object_create, NoCheckpoints,
                (rocksdb_t*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_checkpoint_object_destroy, (rocksdb_checkpoint_t*));

// ---- Export and import ----

struct rocksdb_export_import_files_metadata_t {
  std::string db_comparator_name;
  std::vector<varve::LiveFileMetaData> files;
};

VARVE_C_HANDLE(export_import_files_metadata);

char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata) {
  return metadata == nullptr ? nullptr : varve::c::CopyText(metadata->db_comparator_name);
}

void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* text) {
  if (metadata == nullptr) return;
  TryVoid([&] { metadata->db_comparator_name = text == nullptr ? "" : text; });
}

rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata) {
  if (metadata == nullptr) return nullptr;
  return Try([&] { return new rocksdb_livefiles_t{metadata->files}; });
}

void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files) {
  if (metadata == nullptr || files == nullptr) return;
  TryVoid([&] { metadata->files = files->rep; });
}

struct rocksdb_import_column_family_options_t {
  struct {
    bool move_files = false;
  } rep;
};

VARVE_C_HANDLE(import_column_family_options);
VARVE_C_FIELD(import_column_family_options, move_files, unsigned char);

VARVE_C_REFUSES(rocksdb_column_family_handle_t*, rocksdb_create_column_family_with_import, NoImport,
                (rocksdb_t*, rocksdb_options_t*, const char*,
                 rocksdb_import_column_family_options_t*, rocksdb_export_import_files_metadata_t*,
                 char** errptr));

// ---- Entries with a lifetime ----

VARVE_C_REFUSES(rocksdb_column_family_handle_t*, rocksdb_create_column_family_with_ttl, NoLifetimes,
                (rocksdb_t*, const rocksdb_options_t*, const char*, int, char** errptr));
VARVE_C_REFUSES(rocksdb_t*, rocksdb_open_column_families_with_ttl, NoLifetimes,
                (const rocksdb_options_t*, const char*, int, const char* const*,
                 const rocksdb_options_t* const*, rocksdb_column_family_handle_t**, const int*,
                 char** errptr));
VARVE_C_REFUSES(rocksdb_t*, rocksdb_open_with_ttl, NoLifetimes,
                (const rocksdb_options_t*, const char*, int, char** errptr));
