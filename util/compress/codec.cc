// SPDX-License-Identifier: Apache-2.0

// Defines the table of codecs.

#include "util/compress/codec.h"

#include <array>
#include <cstddef>

#include "util/compress/block_framing.h"

namespace varve {

// A compressed block in a table, without its trailer, by the table's format_version:
//
//   codec         2 and later               0 and 1
//   Snappy        snappy's own form         like later
//   Zlib          varint32 size, deflate    no size: not readable here
//   BZip2         varint32 size, stream     no size: not readable here
//   LZ4, LZ4HC    varint32 size, block      fixed64 size, block
//   ZSTD          varint32 size, frame      like later
//
// The size is that of the raw block. Numbers of codecs are stored in every block's trailer, so they
// are never reused.
const Codec* FindCodec(CompressionType type) {
  switch (type) {
    case kSnappyCompression:
      return block_framing::SnappyCodec();
    case kZlibCompression:
      return block_framing::ZlibCodec();
    case kBZip2Compression:
      return block_framing::Bzip2Codec();
    case kLZ4Compression:
      return block_framing::Lz4Codec();
    case kLZ4HCCompression:
      return block_framing::Lz4hcCodec();
    case kZSTD:
      return block_framing::ZstdCodec();
    default:
      return nullptr;
  }
}

bool CodecSupported(CompressionType type) {
  return type == kNoCompression || FindCodec(type) != nullptr;
}

bool CodecSupportsDictionary(CompressionType type) {
  return type != kSnappyCompression && type != kBZip2Compression && FindCodec(type) != nullptr;
}

const char* CompressionTypeName(CompressionType type) {
  static constexpr std::array kNames = {"NoCompression", "Snappy", "Zlib",   "BZip2",
                                        "LZ4",           "LZ4HC",  "Xpress", "ZSTD"};
  static_assert(kNames.size() == size_t{kZSTD} + 1);
  return type < kNames.size() ? kNames[type] : "Unknown";
}

Status CodecNotSupported(CompressionType type, const Slice& where) {
  return Status::NotSupported(
      where, std::string("compression type ") + std::to_string(static_cast<unsigned>(type)) + " (" +
                 CompressionTypeName(type) + ") is not built into this library");
}

}  // namespace varve
