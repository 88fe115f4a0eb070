// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checksums of whole table files: computed while a table is written, stored in the MANIFEST,
// compared by DB::VerifyFileChecksums.

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

// Stand for the checksum, and for the name of its function, of a file that has none.
inline const std::string kUnknownFileChecksum;
inline constexpr const char* kUnknownFileChecksumFuncName = "Unknown";
// Name of the function that the generators of GetFileChecksumGenCrc32cFactory compute.
inline constexpr const char* kStandardDbFileChecksumFuncName = "FileChecksumCrc32c";

// The file that a checksum is computed for.
struct FileChecksumGenContext {
  // Path of the file.
  std::string file_name;
  // Name of the function of an existing checksum; empty: the factory's choice.
  std::string requested_checksum_func_name;
};

// Computes one checksum of a whole file. Used by one thread at a time. Must not throw.
class VARVE_EXPORT FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() = default;

  // Adds the next `n` bytes of the file.
  virtual void Update(const char* data, size_t n) = 0;
  // Called once, after the last byte.
  virtual void Finalize() = 0;
  // Returns the checksum, which may be any bytes. Called after Finalize.
  virtual std::string GetChecksum() const = 0;
  // Returns the name of the function, which is stored with the checksum.
  virtual const char* Name() const = 0;
};

// Makes generators. Set it in DBOptions::file_checksum_gen_factory: then each new table gets a
// checksum, stored in the MANIFEST, which DB::VerifyFileChecksums, backups and ingestions compare.
// Thread-safe. Must not throw.
class VARVE_EXPORT FileChecksumGenFactory : public Customizable {
 public:
  ~FileChecksumGenFactory() override = default;
  static const char* Type() { return "FileChecksumGenFactory"; }
  // Accepts "FileChecksumGenCrc32cFactory", or a registered object; null for "" and "nullptr".
  // NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FileChecksumGenFactory>* result);

  // Returns nullptr if the factory does not support the requested function; a new file then gets no
  // checksum.
  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
};

// Returns a factory whose generators compute CRC-32C, stored as four bytes, most significant first.
// It supports no other function.
VARVE_EXPORT std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory();

// Checksums by file number, as DB::GetLiveFilesChecksumInfo fills it. Not thread-safe.
class VARVE_EXPORT FileChecksumList {
 public:
  virtual ~FileChecksumList() = default;

  // Removes all checksums.
  virtual void reset() = 0;
  // Returns the number of files that have one.
  virtual size_t size() const = 0;
  // Returns all checksums in no particular order. InvalidArgument if a pointer is null.
  virtual Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                                     std::vector<std::string>* checksums,
                                     std::vector<std::string>* checksum_func_names) = 0;
  // Returns NotFound if the list does not have the file.
  virtual Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                                       std::string* checksum_func_name) = 0;
  // Replaces an existing checksum of the file.
  virtual Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                                       const std::string& checksum_func_name) = 0;
  // Returns NotFound if the list does not have the file.
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// Returns a list that the caller owns.
VARVE_EXPORT FileChecksumList* NewFileChecksumList();

}  // namespace varve
