// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares mapped files of the operating system, and the list of file systems that allow them.

#include <string>

#include "util/env/mapped_file.h"
#include "util/env/posix_fd.h"

namespace varve {

// True if files in the directory of `fname` may be written through mappings: only on file systems
// that are known to guarantee allocated space when a page is stored into later. File systems that
// copy on write, compress, or use a server do not, and a store would end in a signal.
bool MayMapBeside(const std::string& fname);

// A MappedFile of the operating system. Its file system must be one that MayMapBeside accepts.
class PosixMappedFile final : public MappedFile {
 public:
  PosixMappedFile(std::string path, PosixFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  IOStatus Map(uint64_t offset, size_t bytes, char** base) override;
  void Unmap(char* base, size_t bytes) override;
  IOStatus Write(uint64_t offset, const Slice* parts, size_t count) override;
  IOStatus Sync(bool metadata) override { return SyncFd(fd_.get(), path_, metadata); }
  IOStatus Truncate(uint64_t size) override { return TruncateFd(fd_.get(), path_, size); }
  IOStatus Close() override;

 private:
  const std::string path_;
  PosixFd fd_;
};

}  // namespace varve
