// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes the header, the record headers and the footer of a blob file (FORMAT.md).

#include <cstddef>
#include <cstdint>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

inline constexpr uint32_t kBlobFileMagic = 0x00248f37;
inline constexpr uint32_t kBlobFileVersion = 1;

// The first bytes of a blob file.
struct BlobFileHeader {
  static constexpr size_t kBytes = 30;

  uint32_t column_family_id = 0;
  bool has_ttl = false;  // true only in files of RocksDB's older BlobDB
  CompressionType compression = kNoCompression;
  // Times at which values expire, in seconds since the epoch, here and below. 0: they do not, which
  // is all that a database writes.
  uint64_t smallest_expiration = 0;
  uint64_t largest_expiration = 0;

  // Writes kBytes bytes.
  void EncodeTo(char* dst) const;
  // Requires kBytes bytes. Errors: Corruption, without the file's name.
  static Status Decode(const Slice& bytes, BlobFileHeader* header);
};

// The bytes before the key and the value of a record.
struct BlobRecordHeader {
  static constexpr size_t kBytes = 32;

  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;  // as stored
  uint64_t expiration = 0;
  uint32_t masked_blob_crc = 0;  // of key and value

  // Writes kBytes bytes, which include the checksum of the lengths and the expiration.
  void EncodeTo(char* dst) const;
  // Requires kBytes bytes. Errors: Corruption, without the file's name and the offset.
  static Status Decode(const Slice& bytes, BlobRecordHeader* header);
  // Returns true if masked_blob_crc is the checksum of this user key, timestamp included, and this
  // stored value.
  [[nodiscard]] bool MatchesBlob(const Slice& user_key, const Slice& value) const;
  // Returns the masked CRC-32C of the user key followed by the stored value.
  [[nodiscard]] static uint32_t BlobCrc(const Slice& user_key, const Slice& value);
};

// The last bytes of a blob file.
struct BlobFileFooter {
  static constexpr size_t kBytes = 32;

  uint64_t blob_count = 0;
  uint64_t smallest_expiration = 0;
  uint64_t largest_expiration = 0;

  // Writes kBytes bytes.
  void EncodeTo(char* dst) const;
  // Requires kBytes bytes. Errors: Corruption, without the file's name.
  static Status Decode(const Slice& bytes, BlobFileFooter* footer);
};

// Holes in blob files begin and end at multiples of this, whatever the blocks of the file system
// are (FORMAT.md).
inline constexpr uint64_t kHoleBlock = 4096;

// Bytes of a blob file outside of records, which the MANIFEST's counts of bytes exclude.
inline constexpr uint64_t kBlobFileFrameBytes = BlobFileHeader::kBytes + BlobFileFooter::kBytes;

// Returns the bytes of one record in a file and in the MANIFEST's counts. Requires that key and
// value fit in memory.
[[nodiscard]] constexpr uint64_t BlobRecordBytes(uint64_t key_bytes, uint64_t stored_value_bytes) {
  return BlobRecordHeader::kBytes + key_bytes + stored_value_bytes;
}

}  // namespace varve
