// SPDX-License-Identifier: Apache-2.0
#include "util/env/file_checksums.h"

#include <exception>
#include <map>
#include <utility>

#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// Bytes between two calls of `pace`: large enough that the call costs nothing, small enough that a
// limited rate is smooth.
constexpr size_t kPieceBytes = 1 << 20;

// Gives the four bytes of the CRC32C in big-endian order, not masked: the bytes that RocksDB
// records in MANIFESTs under the same name, and compares.
class Crc32cChecksum final : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override { crc_ = crc32c::Extend(crc_, data, n); }
  void Finalize() override {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes_ += static_cast<char>((crc_ >> shift) & 0xff);
    }
  }
  std::string GetChecksum() const override { return bytes_; }
  const char* Name() const override { return kStandardDbFileChecksumFuncName; }

 private:
  uint32_t crc_ = 0;
  std::string bytes_;
};

class Crc32cFactory final : public FileChecksumGenFactory {
 public:
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    // A MANIFEST may ask for the function with which a file was once summed. A null answer means
    // "unknown", and the caller refuses instead of comparing different sums.
    if (!wanted.empty() && wanted != kStandardDbFileChecksumFuncName) return nullptr;
    return std::make_unique<Crc32cChecksum>();
  }
  const char* Name() const override { return "FileChecksumGenCrc32cFactory"; }
};

// Not thread-safe: a list is filled from one MANIFEST by one thread.
class ChecksumMap final : public FileChecksumList {
 public:
  void reset() override { checksums_.clear(); }
  size_t size() const override { return checksums_.size(); }

  Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                             std::vector<std::string>* checksums,
                             std::vector<std::string>* checksum_func_names) override {
    if (file_numbers == nullptr || checksums == nullptr || checksum_func_names == nullptr) {
      return Status::InvalidArgument("GetAllFileChecksums: a pointer is null");
    }
    for (const auto& [number, checksum] : checksums_) {
      file_numbers->push_back(number);
      checksums->push_back(checksum.first);
      checksum_func_names->push_back(checksum.second);
    }
    return Status::OK();
  }

  Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                               std::string* checksum_func_name) override {
    if (checksum == nullptr || checksum_func_name == nullptr) {
      return Status::InvalidArgument("SearchOneFileChecksum: a pointer is null");
    }
    const auto it = checksums_.find(file_number);
    if (it == checksums_.end()) return Status::NotFound();
    *checksum = it->second.first;
    *checksum_func_name = it->second.second;
    return Status::OK();
  }

  Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                               const std::string& checksum_func_name) override {
    checksums_[file_number] = {checksum, checksum_func_name};
    return Status::OK();
  }

  Status RemoveOneFileChecksum(uint64_t file_number) override {
    return checksums_.erase(file_number) > 0 ? Status::OK() : Status::NotFound();
  }

 private:
  std::map<uint64_t, std::pair<std::string, std::string>> checksums_;
};

}  // namespace

std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory() {
  static const auto factory = std::make_shared<Crc32cFactory>();
  return factory;
}

FileChecksumList* NewFileChecksumList() {
  return std::make_unique<ChecksumMap>().release();
}

Status NewFileChecksum(FileChecksumGenFactory* factory, const std::string& file_name,
                       const std::string& function,
                       std::unique_ptr<FileChecksumGenerator>* result) {
  result->reset();
  if (factory == nullptr) return Status::OK();
  FileChecksumGenContext context;
  context.file_name = file_name;
  context.requested_checksum_func_name = function;
  try {
    *result = factory->CreateFileChecksumGenerator(context);
  } catch (const std::exception& e) {
    return Status::Aborted(std::string("file checksum factory ") + factory->Name() + " threw",
                           e.what());
  } catch (...) {
    return Status::Aborted(std::string("file checksum factory ") + factory->Name() + " threw");
  }
  // A factory that ignores the request and makes its usual generator counts as one that does not
  // know the function.
  const bool known = *result != nullptr && (function.empty() || (*result)->Name() == function);
  if (known || function.empty()) return Status::OK();
  result->reset();
  return Status::NotSupported(file_name, std::string("file_checksum_gen_factory ") +
                                             factory->Name() + " does not know the function " +
                                             function + " of the file's checksum");
}

// A read that fills the buffer may be followed by more; a shorter one, perhaps an empty one, has
// met the end of the file. So the loop ends without asking for the size, which a file that is being
// written would change.
Status ChecksumOfFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                      FileChecksumGenerator* checksum,
                      const std::function<Status(uint64_t bytes)>& pace) {
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(SequentialFileReader::Open(fs, path, options, &file));
  std::string buffer(kPieceBytes, '\0');
  Slice piece;
  do {
    VARVE_RETURN_IF_ERROR(file->Read(buffer.size(), &piece, buffer.data()));
    checksum->Update(piece.data(), piece.size());
    if (pace != nullptr) VARVE_RETURN_IF_ERROR(pace(piece.size()));
  } while (piece.size() == buffer.size());
  checksum->Finalize();
  return Status::OK();
}

}  // namespace varve
