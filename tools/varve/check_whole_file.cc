// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/check_whole_file.h"

#include <memory>

#include "varve/file_checksum.h"

#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"

namespace varve::tool {

Status CheckWholeFile(const DBOptions& options, const std::string& path,
                      const std::string& function, const std::string& value, Findings* findings) {
  if (value.empty() || function.empty() || function == kUnknownFileChecksumFuncName) {
    return Status::OK();
  }
  FileChecksumGenFactory* factory = options.file_checksum_gen_factory.get();
  const std::shared_ptr<FileChecksumGenFactory> usual = GetFileChecksumGenCrc32cFactory();
  if (factory == nullptr) factory = usual.get();
  std::unique_ptr<FileChecksumGenerator> checksum;
  const Status s = NewFileChecksum(factory, path, function, &checksum);
  if (!s.ok() || checksum == nullptr) {
    findings->Remark(path, "the checksum of the whole file is not compared: its function, " +
                               function + ", is not known here");
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR(
      ChecksumOfFile(FileSystem::Default().get(), path, FileOptions(), checksum.get()));
  if (checksum->GetChecksum() != value) {
    findings->Damage(path, "the checksum of the whole file is not the MANIFEST's");
  }
  return Status::OK();
}

}  // namespace varve::tool
