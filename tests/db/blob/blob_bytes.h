// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes blob files in memory, for tests that look at bytes.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/blob/blob_file_builder.h"
#include "db/blob/blob_file_reader.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

inline constexpr char kBlobPath[] = "/000010.blob";
inline constexpr uint64_t kBlobNumber = 10;

using BlobPairs = std::vector<std::pair<std::string, std::string>>;

// Puts the bytes into the one blob file of `fs`.
inline Status StoreBlobFile(MemFileSystem* fs, const Slice& bytes) {
  std::unique_ptr<WritableFileWriter> file;
  Status s = WritableFileWriter::Create(fs, kBlobPath, FileOptions(), {}, &file);
  if (s.ok()) s = file->Append(bytes);
  if (s.ok()) s = file->Close();
  return s;
}

// Returns the bytes of a file with these keys and values, and sets *references.
inline std::string BlobFileOf(const BlobPairs& pairs, CompressionType compression,
                              std::vector<BlobReference>* references) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  Status s = WritableFileWriter::Create(&fs, kBlobPath, FileOptions(), {}, &file);
  BlobFileBuildOptions options;
  options.number = kBlobNumber;
  options.compression = compression;
  BlobFileBuilder builder(options, file.get());
  references->resize(pairs.size());
  for (size_t i = 0; s.ok() && i < pairs.size(); ++i) {
    s = builder.Add(pairs[i].first, pairs[i].second, &(*references)[i]);
  }
  if (s.ok()) s = builder.Finish();
  if (s.ok()) s = file->Close();
  std::string bytes;
  if (s.ok()) s = ReadFileToString(&fs, kBlobPath, UINT64_MAX, &bytes);
  return s.ok() ? bytes : std::string();
}

inline Status OpenBlobFile(const std::shared_ptr<MemFileSystem>& fs, uint32_t family,
                           std::unique_ptr<BlobFileReader>* reader) {
  BlobFileOpenOptions options;
  options.fs = fs;
  options.column_family_id = family;
  return BlobFileReader::Open(options, kBlobNumber, kBlobPath, BlobFileReader::kAnySize, reader);
}

}  // namespace varve::testing
