// SPDX-License-Identifier: Apache-2.0

// What copies a database, or brings whole files into it.

#include "db/api/db_impl.h"
#include "db/copy/live_files.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

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

}  // namespace varve
