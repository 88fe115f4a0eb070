// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns mapped files of the operating system, and the list of what may be mapped.

#include <string>

#include "util/env/mapped_file.h"
#include "util/env/posix_fd.h"

namespace varve {

// Whether files of the directory that holds `fname` may be written through mappings: only on file
// systems that are known to keep the promise of an allocation when a page is stored into later.
// Those that copy on write, compress, or ask a server do not, and a store would end in a signal.
bool MayMapBeside(const std::string& fname);

class PosixMappedFile final : public MappedFile {
 public:
  PosixMappedFile(std::string path, PosixFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  IOStatus Map(uint64_t offset, size_t bytes, char** base) override;
  void Unmap(char* base, size_t bytes) override;
  IOStatus Sync(bool metadata) override { return SyncFd(fd_.get(), path_, metadata); }
  IOStatus Truncate(uint64_t size) override { return TruncateFd(fd_.get(), path_, size); }
  IOStatus Close() override;

 private:
  const std::string path_;
  PosixFd fd_;
};

}  // namespace varve
