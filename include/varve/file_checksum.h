// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checksums of whole table files: made while a table is written, kept in the MANIFEST, compared by
// DB::VerifyFileChecksums.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

// What stands for "there is none".
inline const std::string kUnknownFileChecksum;
inline constexpr const char* kUnknownFileChecksumFuncName = "Unknown";
// Of the factory below.
inline constexpr const char* kStandardDbFileChecksumFuncName = "FileChecksumCrc32c";

struct FileChecksumGenContext {
  std::string file_name;
  // The function that an existing checksum was made with; empty: the factory's choice.
  std::string requested_checksum_func_name;
};

// Makes one checksum. Used by one thread at a time. Must not throw.
class VARVE_EXPORT FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() = default;

  // The next `n` bytes of the file.
  virtual void Update(const char* data, size_t n) = 0;
  // Once, after the last byte.
  virtual void Finalize() = 0;
  // After Finalize: any bytes.
  virtual std::string GetChecksum() const = 0;
  // Of the function; stored beside the checksum.
  virtual const char* Name() const = 0;
};

// Thread-safe. Must not throw.
class VARVE_EXPORT FileChecksumGenFactory : public Customizable {
 public:
  ~FileChecksumGenFactory() override = default;
  static const char* Type() { return "FileChecksumGenFactory"; }
  // "FileChecksumGenCrc32cFactory", or a registered object; null for "" and "nullptr".
  // NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FileChecksumGenFactory>* result);

  // nullptr: this factory does not know the requested function. (For a file that is being written:
  // it gets no checksum.)
  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
};

// CRC-32C, stored as four bytes, the most significant first. Knows no other function.
VARVE_EXPORT std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory();

// Checksums by file number. Thread safety: none.
class VARVE_EXPORT FileChecksumList {
 public:
  virtual ~FileChecksumList() = default;

  virtual void reset() = 0;
  virtual size_t size() const = 0;
  // In no particular order. InvalidArgument if a pointer is null.
  virtual Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                                     std::vector<std::string>* checksums,
                                     std::vector<std::string>* checksum_func_names) = 0;
  // NotFound if the file is not there.
  virtual Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                                       std::string* checksum_func_name) = 0;
  // Replaces what is known of the file.
  virtual Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                                       const std::string& checksum_func_name) = 0;
  // NotFound if the file is not there.
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// Owned by the caller.
VARVE_EXPORT FileChecksumList* NewFileChecksumList();

}  // namespace varve
