// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the five bytes after every block: compression type and checksum.

#include <cstddef>
#include <cstdint>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"

namespace varve {

// Returns the checksum of `n` bytes followed by `last_byte`, the compression type, as it is stored
// when no context is in use (ChecksumModifier). Returns 0 for an unknown type, which
// Footer::DecodeFrom never accepts.
[[nodiscard]] uint32_t ComputeBlockChecksum(ChecksumType type, const char* data, size_t n,
                                            char last_byte);

// Returns the value that format versions from 6 on add to the checksum, so that a block found at
// another offset, or in another file, does not verify. `base_context` is drawn once per file; 0
// means "not in use".
[[nodiscard]] constexpr uint32_t ChecksumModifier(uint32_t base_context, uint64_t offset) {
  if (base_context == 0) return 0;
  return base_context ^ (static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32));
}

// Writes the trailer of the block at `offset` to `trailer`, which has room for kBlockTrailerBytes.
// `block` has the bytes as stored, compressed with `compression`.
void EncodeBlockTrailer(ChecksumType type, uint32_t base_context, uint64_t offset,
                        const Slice& block, CompressionType compression, char* trailer);

// True if the checksum matches. `block_and_trailer` has block_size + kBlockTrailerBytes bytes, read
// at `offset`.
[[nodiscard]] bool BlockTrailerMatches(ChecksumType type, uint32_t base_context, uint64_t offset,
                                       const char* block_and_trailer, size_t block_size);

// Returns the compression type that the trailer names; it may be any number.
[[nodiscard]] inline CompressionType BlockCompression(const char* block_and_trailer,
                                                      size_t block_size) {
  return static_cast<CompressionType>(static_cast<unsigned char>(block_and_trailer[block_size]));
}

// Returns Corruption with the stored and the computed checksum, the file, and the block's place.
[[nodiscard]] Status BlockChecksumMismatch(ChecksumType type, uint32_t base_context,
                                           const char* block_and_trailer, const BlockHandle& handle,
                                           const Slice& file_name);

// True if a block of `raw_size` bytes that was compressed to `compressed_size` is worth storing
// compressed: it must have become smaller, and not exceed options.max_compressed_bytes_per_kb.
[[nodiscard]] bool CompressedSizePays(const CompressionOptions& options, size_t raw_size,
                                      size_t compressed_size);

}  // namespace varve
