// SPDX-License-Identifier: Apache-2.0
// Implements checkpoints, and the export and import of column families, for the C API.
#include <memory>
#include <utility>

#include "varve/utilities/checkpoint.h"

#include "db/api/c/c_open.h"
#include "db/api/c/c_option_types.h"
#include "db/api/c/c_transactions.h"
#include "db/api/c/c_types.h"

using varve::Checkpoint;
using varve::DB;
using varve::Status;
using varve::c::CopyText;
using varve::c::CreateFamily;
using varve::c::NullArgument;
using varve::c::PlainDb;
using varve::c::Run;
using varve::c::RunOnDb;
using varve::c::Try;
using varve::c::TryVoid;

// ---- Checkpoints ----

namespace {

// Returns an object that makes checkpoints of the database; null after an error.
rocksdb_checkpoint_t* CheckpointOf(rocksdb_t* db, char** errptr, const char* call) {
  rocksdb_checkpoint_t* made = nullptr;
  RunOnDb(
      db, errptr,
      [&](DB* d) {
        Checkpoint* checkpoint = nullptr;
        const Status s = Checkpoint::Create(d, &checkpoint);
        if (s.ok()) made = new rocksdb_checkpoint_t{std::unique_ptr<Checkpoint>(checkpoint)};
        return s;
      },
      call);
  return made;
}

}  // namespace

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) {
  return CheckpointOf(db, errptr, __func__);
}

rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(
    rocksdb_transactiondb_t* txn_db, char** errptr) {
  return CheckpointOf(PlainDb(txn_db), errptr, __func__);
}

rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* otxn_db, char** errptr) {
  return CheckpointOf(PlainDb(otxn_db), errptr, __func__);
}

void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir,
                               uint64_t log_size_for_flush, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (checkpoint == nullptr) return NullArgument("checkpoint");
    if (checkpoint_dir == nullptr) return NullArgument("checkpoint_dir");
    return checkpoint->rep->CreateCheckpoint(checkpoint_dir, log_size_for_flush);
  });
}

rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* family,
    const char* export_dir, char** errptr) {
  rocksdb_export_import_files_metadata_t* made = nullptr;
  Run(errptr, [&]() -> Status {
    if (checkpoint == nullptr) return NullArgument("checkpoint");
    if (family == nullptr) return NullArgument("family");
    if (export_dir == nullptr) return NullArgument("export_dir");
    varve::ExportImportFilesMetaData* metadata = nullptr;
    const Status s = checkpoint->rep->ExportColumnFamily(family->rep, export_dir, &metadata);
    // The C handle has the metadata as a member, so it is moved out of the object that C++ has
    // made.
    const std::unique_ptr<varve::ExportImportFilesMetaData> owned(metadata);
    if (s.ok()) made = new rocksdb_export_import_files_metadata_t{std::move(*owned)};
    return s;
  });
  return made;
}

// ---- Export and import ----

char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata) {
  return metadata == nullptr ? nullptr : CopyText(metadata->rep.db_comparator_name);
}

void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* text) {
  if (metadata == nullptr) return;
  TryVoid([&] { metadata->rep.db_comparator_name = text == nullptr ? "" : text; });
}

rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata) {
  if (metadata == nullptr) return nullptr;
  return Try([&] { return new rocksdb_livefiles_t{metadata->rep.files}; });
}

void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files) {
  if (metadata == nullptr || files == nullptr) return;
  TryVoid([&] { metadata->rep.files = files->rep; });
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* column_family_options, const char* column_family_name,
    rocksdb_import_column_family_options_t* import_options,
    rocksdb_export_import_files_metadata_t* metadata, char** errptr) {
  return CreateFamily(db, column_family_options, column_family_name, errptr,
                      [&](DB* d, const varve::Options& with, const std::string& family,
                          varve::ColumnFamilyHandle** made) -> Status {
                        if (import_options == nullptr) return NullArgument("import_options");
                        if (metadata == nullptr) return NullArgument("metadata");
                        return d->CreateColumnFamilyWithImport(with, family, import_options->rep,
                                                               metadata->rep, made);
                      });
}
