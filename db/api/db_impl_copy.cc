// SPDX-License-Identifier: Apache-2.0

// Implements the calls that list a database's files for a copy, and the import of a family.

#include "db/api/db_impl.h"
#include "db/background/jobs.h"
#include "db/copy/import_job.h"
#include "db/copy/live_files.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

// Close waits until `work` has returned: before that, no other process can lock the database and
// change the files that `work` reads by name.
Status DbImpl::WithEngine(const std::function<Status(Engine* engine)>& work) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  return work(engine_.get());
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                       std::vector<LiveFileStorageInfo>* files) {
  if (files == nullptr)
    return Status::InvalidArgument("GetLiveFilesStorageInfo: the place is null");
  files->clear();
  return WithEngine([&](Engine* engine) { return ListFilesOfOneMoment(engine, options, files); });
}

Status DbImpl::GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) {
  if (checksum_list == nullptr) {
    return Status::InvalidArgument("GetLiveFilesChecksumInfo: the list is null");
  }
  return WithEngine([&](Engine* engine) { return ListChecksums(engine, checksum_list); });
}

Status DbImpl::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions& options, const std::string& column_family_name,
    const ImportColumnFamilyOptions& import_options,
    const std::vector<const ExportImportFilesMetaData*>& metadatas,
    ColumnFamilyHandle** handle) try {
  if (handle == nullptr) {
    return Status::InvalidArgument("CreateColumnFamilyWithImport: the place is null");
  }
  // The place for the handle is cleared before any check, so that a caller who looks at it after an
  // error finds null.
  *handle = nullptr;
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckWritable(call));
  ImportWanted wanted;
  wanted.family = ColumnFamilyDescriptor(column_family_name, options);
  wanted.move_files = import_options.move_files;
  wanted.sources = metadatas;
  std::unique_ptr<ColumnFamilyHandle> made;
  VARVE_RETURN_IF_ERROR(ImportFamily(engine_.get(), wanted, &made));
  // The family exists from here on. So the caller gets its handle, even if the OPTIONS file cannot
  // be written and the call returns that error.
  *handle = made.release();
  return engine_->jobs->options_keeper.Changed();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
