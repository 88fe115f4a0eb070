// SPDX-License-Identifier: Apache-2.0
#pragma once

// BlobFileBuilder writes one blob file, in the format of RocksDB (FORMAT.md).

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

// Describes a new blob file: its number, its family, and how values are stored.
struct BlobFileBuildOptions {
  uint64_t number = 0;
  uint32_t column_family_id = 0;
  CompressionType compression = kNoCompression;
  CompressionOptions compression_options;
  // May be null; not owned, and must outlive the builder. The clock is needed only with statistics.
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;
};

// Used for one file: call Add for each value, then Finish. After an error other than NotSupported
// of Add the file must not be used.
//
// Thread safety: none. The writer must outlive it; the caller must sync and close the file.
class BlobFileBuilder {
 public:
  // Returns NotSupported for a compression that is not built in.
  static Status CheckOptions(const BlobFileBuildOptions& options);

  // Requires that CheckOptions returned OK for the options, and that the file is empty.
  BlobFileBuilder(const BlobFileBuildOptions& options, WritableFileWriter* file);

  // Appends a record with the value and `user_key`, which includes its timestamp, and sets
  // *reference to it. The value is stored compressed even if that is larger, as the format has one
  // compression for all values. Requires that the value is not empty. NotSupported: the codec
  // cannot compress the value; nothing was written, and other values may follow.
  Status Add(const Slice& user_key, const Slice& value, BlobReference* reference);
  // Appends the footer and flushes the writer. Requires that a value was added.
  Status Finish();

  [[nodiscard]] uint64_t blob_count() const { return blob_count_; }
  // Returns the bytes of all records, which the MANIFEST stores.
  [[nodiscard]] uint64_t blob_bytes() const { return blob_bytes_; }
  // Returns the size of the file so far, in bytes.
  [[nodiscard]] uint64_t file_size() const { return file_->file_size(); }

 private:
  // Writes the file's header.
  Status Start();
  // Sets *stored to the compressed value, which is valid until the next call. NotSupported: the
  // codec cannot compress it.
  Status Compress(const Slice& value, Slice* stored);

  const BlobFileBuildOptions options_;
  const Codec* const codec_;  // null: no compression
  WritableFileWriter* const file_;
  std::string compressed_;
  uint64_t blob_count_ = 0;
  uint64_t blob_bytes_ = 0;
};

}  // namespace varve
