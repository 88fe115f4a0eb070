// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the bytes of one blob file, which RocksDB's readers understand.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/blob/blob_file_format.h"
#include "db/blob/blob_reference.h"
#include "util/env/writable_file_writer.h"

namespace varve {

class Codec;
class Statistics;
class SystemClock;

// Says whose a new blob file is, and how its values are stored.
struct BlobFileBuildOptions {
  uint64_t number = 0;
  uint32_t column_family_id = 0;
  CompressionType compression = kNoCompression;
  CompressionOptions compression_options;
  // Nullable, not owned, outlive the builder. The clock is needed only with statistics.
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;
};

// Used for one file: Add for each value, then Finish. After an error the file must not be used.
//
// Thread safety: none. The writer must outlive it; the caller syncs and closes the file.
class BlobFileBuilder {
 public:
  // Returns NotSupported for a compression that is not built in.
  static Status CheckOptions(const BlobFileBuildOptions& options);

  // Requires CheckOptions of the options, and an empty file.
  BlobFileBuilder(const BlobFileBuildOptions& options, WritableFileWriter* file);

  // Appends the value, and sets *reference to its place. The value is stored compressed even if
  // that is larger, as readers expect. Requires a value that is not empty. NotSupported: the codec
  // refuses the value; nothing was written, and other values may follow.
  Status Add(const Slice& user_key, const Slice& value, BlobReference* reference);
  // Appends the footer and flushes. Requires that something was added.
  Status Finish();

  [[nodiscard]] uint64_t blob_count() const { return blob_count_; }
  // Returns the bytes of all records: what the MANIFEST counts.
  [[nodiscard]] uint64_t blob_bytes() const { return blob_bytes_; }
  // Returns the file's size so far; after Finish, of the whole file.
  [[nodiscard]] uint64_t file_size() const { return file_->file_size(); }

 private:
  // Writes the file's header.
  Status Start();
  // Sets *stored to the value as it is to be stored, which lives until the next call. Returns
  // NotSupported if the codec cannot compress it.
  Status Compress(const Slice& value, Slice* stored);

  const BlobFileBuildOptions options_;
  const Codec* const codec_;  // null: values are stored as they are
  WritableFileWriter* const file_;
  std::string compressed_;
  uint64_t blob_count_ = 0;
  uint64_t blob_bytes_ = 0;
};

}  // namespace varve
