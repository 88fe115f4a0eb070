// SPDX-License-Identifier: Apache-2.0

// Computes the checksums of blocks.

#include "table/format/block_trailer.h"

#include <string>

#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/coding/hash.h"

namespace varve {
namespace {

// Factor that mixes the last byte into the XXH3 form of the checksum.
constexpr uint32_t kLastByteFactor = 0x6b9083d9;

uint32_t StoredChecksum(const char* block_and_trailer, size_t block_size) {
  return DecodeFixed32(block_and_trailer + block_size + 1);
}

}  // namespace

// The trailer, of which the checksum covers the first byte:
//
//   block, n bytes | compression type | checksum, 4 bytes little-endian
//
// XXH3 mixes the type in afterwards, so that the block, which may be hashed before its type is
// known, need not be hashed twice.
uint32_t ComputeBlockChecksum(ChecksumType type, const char* data, size_t n, char last_byte) {
  const auto last = static_cast<uint8_t>(last_byte);
  switch (type) {
    case kNoChecksum:
      break;
    case kCRC32c:
      return crc32c::Mask(crc32c::Extend(crc32c::Value(data, n), &last_byte, 1));
    case kxxHash:
      return XXHash32(data, n, last);
    case kxxHash64:
      return XXHash64Low32(data, n, last);
    case kXXH3:
      return XXH3Low32(data, n) ^ (last * kLastByteFactor);
  }
  return 0;
}

void EncodeBlockTrailer(ChecksumType type, uint32_t base_context, uint64_t offset,
                        const Slice& block, CompressionType compression, char* trailer) {
  trailer[0] = static_cast<char>(compression);
  const uint32_t checksum = ComputeBlockChecksum(type, block.data(), block.size(), trailer[0]) +
                            ChecksumModifier(base_context, offset);
  EncodeFixed32(trailer + 1, checksum);
}

bool BlockTrailerMatches(ChecksumType type, uint32_t base_context, uint64_t offset,
                         const char* block_and_trailer, size_t block_size) {
  if (type == kNoChecksum) return true;
  const uint32_t computed =
      ComputeBlockChecksum(type, block_and_trailer, block_size, block_and_trailer[block_size]) +
      ChecksumModifier(base_context, offset);
  return computed == StoredChecksum(block_and_trailer, block_size);
}

Status BlockChecksumMismatch(ChecksumType type, uint32_t base_context,
                             const char* block_and_trailer, const BlockHandle& handle,
                             const Slice& file_name) {
  const auto size = static_cast<size_t>(handle.size);
  const uint32_t computed =
      ComputeBlockChecksum(type, block_and_trailer, size, block_and_trailer[size]) +
      ChecksumModifier(base_context, handle.offset);
  return Status::Corruption("block checksum mismatch: stored = " +
                                std::to_string(StoredChecksum(block_and_trailer, size)) +
                                ", computed = " + std::to_string(computed) +
                                ", type = " + std::to_string(static_cast<int>(type)),
                            file_name.ToString() + " offset " + std::to_string(handle.offset) +
                                " size " + std::to_string(handle.size));
}

bool CompressedSizePays(const CompressionOptions& options, size_t raw_size,
                        size_t compressed_size) {
  if (options.max_compressed_bytes_per_kb <= 0 || compressed_size >= raw_size) return false;
  const auto per_kb = static_cast<uint64_t>(options.max_compressed_bytes_per_kb);
  return uint64_t{compressed_size} * 1024 <= uint64_t{raw_size} * per_kb;
}

}  // namespace varve
