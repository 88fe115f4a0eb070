// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares files that are written by stores into memory, or at any offset: an interface that a file
// system may offer in addition to FileSystem.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/slice.h"

namespace varve {

// A file with pieces that are mapped, shared and writable. Stored bytes are in the file and outlive
// the process, like written bytes; a sync makes them durable.
//
// Thread safety: Sync and Write may run concurrently with everything but Close and, for Write,
// Truncate; stores into a piece concurrently with everything but its Unmap; the other calls one at
// a time.
class MappedFile {
 public:
  // Pieces begin and end at multiples of this.
  static constexpr size_t kUnit = 64 * 1024;

  virtual ~MappedFile() = default;
  // Makes the file end at offset + bytes, allocates space on the device for all of it, and maps
  // that piece, which reads as zeros. After an error nothing is mapped, and the file may have
  // grown. Returns NotSupported if this file cannot be mapped with the guarantee that a store never
  // fails.
  virtual IOStatus Map(uint64_t offset, size_t bytes, char** base) = 0;
  // Ends the mapping of a piece that Map returned; its bytes stay in the file.
  virtual void Unmap(char* base, size_t bytes) = 0;
  // Writes the parts, one behind the other, from `offset` on, where no piece is mapped. The file
  // grows if needed; a gap reads as zeros. Costs a system call, but no page fault, so it suits
  // large parts. After an error any of the bytes may be in the file.
  virtual IOStatus Write(uint64_t offset, const Slice* parts, size_t count) = 0;
  // Makes durable what was stored or written before the call, even if it is not mapped any more.
  // `metadata` selects fsync.
  virtual IOStatus Sync(bool metadata) = 0;
  // Sets the size. Requires that no piece after it is mapped.
  virtual IOStatus Truncate(uint64_t size) = 0;
  // Requires that no piece is mapped.
  virtual IOStatus Close() = 0;
};

// Implemented by file systems that offer mapped files.
class MappedFileSource {
 public:
  virtual ~MappedFileSource() = default;
  // Creates `fname`, empty. Returns NotSupported, with nothing created, if files cannot be mapped
  // because of the mounted file system or a wrapped one.
  virtual IOStatus NewMappedFile(const std::string& fname, const FileOptions& options,
                                 std::unique_ptr<MappedFile>* result) = 0;
};

// Creates a mapped file if `fs` implements MappedFileSource. Returns NotSupported if it does not:
// for file systems of users, and for wrappers that do not know mapped files, so that no write
// bypasses them.
inline IOStatus NewMappedFile(FileSystem* fs, const std::string& fname, const FileOptions& options,
                              std::unique_ptr<MappedFile>* result) {
  result->reset();
  auto* const source = dynamic_cast<MappedFileSource*>(fs);
  if (source == nullptr) return IOStatus::NotSupported(fname, "no mapped files here");
  return source->NewMappedFile(fname, options, result);
}

}  // namespace varve
