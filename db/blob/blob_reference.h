// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes the value of an entry of type kTypeBlobIndex: a reference to the entry's
// actual value in a blob file (FORMAT.md, "Reference").

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// Identifies a value in a blob file. The file need not exist.
struct BlobReference {
  // The kinds with an expiration time are only in RocksDB's older BlobDB.
  enum class Kind : uint8_t { kInlinedTtl = 0, kBlob = 1, kBlobTtl = 2 };

  Kind kind = Kind::kBlob;
  uint64_t expiration = 0;  // seconds since the epoch; not with kBlob
  Slice inlined;            // the value itself, with kInlinedTtl only
  // The members below are not used with kInlinedTtl.
  uint64_t file_number = 0;
  uint64_t offset = 0;  // of the value's first byte in the file
  uint64_t size = 0;    // of the value in bytes, as it is stored
  CompressionType compression = kNoCompression;

  // Appends the encoded form.
  void EncodeTo(std::string* dst) const;

  // Decodes a reference of any kind. `inlined` points into the input.
  //
  // Corruption: the bytes are not a reference. The message does not name the entry.
  static Status Decode(const Slice& encoded, BlobReference* reference);
  // Decodes a reference of a kind that this engine supports: kBlob, to a file with a number other
  // than 0.
  //
  // Corruption: the bytes are anything else. NotSupported: the value is embedded in the table
  // itself (file number 0, since RocksDB 11.6).
  static Status DecodeInDatabase(const Slice& encoded, BlobReference* reference);

  // Returns "blob file 10, offset 64, 5 bytes" for messages.
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const BlobReference&, const BlobReference&) = default;
};

}  // namespace varve
