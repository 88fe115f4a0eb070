// SPDX-License-Identifier: Apache-2.0
#pragma once

// The five bytes after every block: compression type and checksum.

#include <cstddef>
#include <cstdint>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"

namespace varve {

// Checksum of `n` bytes followed by `last_byte`, as it is stored when no context is in use.
// An unknown type gives 0; Footer::DecodeFrom lets none pass.
[[nodiscard]] uint32_t ComputeBlockChecksum(ChecksumType type, const char* data, size_t n,
                                            char last_byte);

// Format versions from 6 on add this to the checksum, so that a block found at another offset, or
// in another file, does not verify. `base_context` is drawn once a file and 0 means "not in use".
[[nodiscard]] constexpr uint32_t ChecksumModifier(uint32_t base_context, uint64_t offset) {
  if (base_context == 0) return 0;
  return base_context ^ (static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32));
}

// Writes the trailer of the block that lies at `offset` to `trailer`, kBlockTrailerBytes long.
void EncodeBlockTrailer(ChecksumType type, uint32_t base_context, uint64_t offset,
                        const Slice& block, CompressionType compression, char* trailer);

// `block_and_trailer` are handle.size + kBlockTrailerBytes bytes read at handle.offset.
[[nodiscard]] bool BlockTrailerMatches(ChecksumType type, uint32_t base_context, uint64_t offset,
                                       const char* block_and_trailer, size_t block_size);

// The compression type that the trailer names; it may be any number.
[[nodiscard]] inline CompressionType BlockCompression(const char* block_and_trailer,
                                                      size_t block_size) {
  return static_cast<CompressionType>(static_cast<unsigned char>(block_and_trailer[block_size]));
}

// Corruption with stored and computed checksum, file and place of the block.
[[nodiscard]] Status BlockChecksumMismatch(ChecksumType type, uint32_t base_context,
                                           const char* block_and_trailer, const BlockHandle& handle,
                                           const Slice& file_name);

// Whether a block of `raw_size` bytes that compressed to `compressed_size` is worth storing so:
// it must shrink by an eighth, or by as much as the options ask for.
[[nodiscard]] bool CompressedSizePays(const CompressionOptions& options, size_t raw_size,
                                      size_t compressed_size);

}  // namespace varve
