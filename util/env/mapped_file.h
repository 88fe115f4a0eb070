// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that are written by stores into memory: an interface that a file system may offer beside
// FileSystem.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

// A file whose pieces are mapped, shared and writable. What was stored into a piece is in the file,
// and outlives the process, as bytes that were written do; a sync makes it durable.
//
// Thread safety: Sync may run beside everything but Close; stores into a piece beside everything
// but its Unmap; the other calls one at a time.
class MappedFile {
 public:
  // Pieces begin and end at multiples of this.
  static constexpr size_t kUnit = 64 * 1024;

  virtual ~MappedFile() = default;
  // Makes the file end at offset + bytes, with space on the device for all of it, and maps that
  // piece, ready to be stored into; it reads as zeros. After an error nothing is mapped, and the
  // file may have grown. NotSupported: this file cannot be mapped with the promise that a store
  // never fails.
  virtual IOStatus Map(uint64_t offset, size_t bytes, char** base) = 0;
  virtual void Unmap(char* base, size_t bytes) = 0;
  // Makes durable what was stored before the call, mapped still or not. `metadata`: as fsync.
  virtual IOStatus Sync(bool metadata) = 0;
  // Sets the size; no piece after it is mapped.
  virtual IOStatus Truncate(uint64_t size) = 0;
  // No piece is mapped.
  virtual IOStatus Close() = 0;
};

// Implemented by file systems that offer mapped files.
class MappedFileSource {
 public:
  virtual ~MappedFileSource() = default;
  // Makes `fname`, empty. NotSupported, with nothing made, where files cannot be mapped: because of
  // what is mounted there, or what this file system wraps.
  virtual IOStatus NewMappedFile(const std::string& fname, const FileOptions& options,
                                 std::unique_ptr<MappedFile>* result) = 0;
};

// NotSupported also when `fs` offers none: one that a user wrote, or that wraps another and does
// not know of mapped files, so that nothing ever passes it by.
inline IOStatus NewMappedFile(FileSystem* fs, const std::string& fname, const FileOptions& options,
                              std::unique_ptr<MappedFile>* result) {
  result->reset();
  auto* const source = dynamic_cast<MappedFileSource*>(fs);
  if (source == nullptr) return IOStatus::NotSupported(fname, "no mapped files here");
  return source->NewMappedFile(fname, options, result);
}

}  // namespace varve
