// SPDX-License-Identifier: Apache-2.0

// Implements decoding and checking of declared block sizes.

#include "util/compress/block_framing.h"

#include <string>

#include "util/coding/varint.h"

namespace varve::block_framing {

Status BadBlock(const char* codec, const char* what) {
  return Status::Corruption(std::string(codec) + " block", what);
}

Status TakeRawSize(const char* codec, uint32_t format_version, OldPrefix old, Slice* input,
                   uint64_t* raw_size) {
  if (format_version >= 2 || old == OldPrefix::kVarint) {
    uint32_t size = 0;
    if (!GetVarint32(input, &size)) return BadBlock(codec, "bad size prefix");
    *raw_size = size;
    return Status::OK();
  }
  if (old == OldPrefix::kFixed64) {
    if (!GetFixed64(input, raw_size)) return BadBlock(codec, "bad size prefix");
    return Status::OK();
  }
  return Status::NotSupported(std::string(codec) + " block",
                              "tables of format_version 0 and 1 do not store its size");
}

// Both bounds are needed: the caller's limit keeps a hostile size from taking all memory, and the
// codec's bound from taking the limit for a few bytes of input, block after block.
Status AllocateRaw(const char* codec, uint64_t raw_size, uint64_t codec_bound, size_t limit_bytes,
                   BufferSink sink, char** raw) {
  if (raw_size > codec_bound || raw_size > limit_bytes) {
    const bool over_limit = raw_size > limit_bytes;
    return Status::Corruption(
        std::string(codec) + " block",
        "declares " + std::to_string(raw_size) + " bytes, more than " +
            (over_limit ? "the limit of " + std::to_string(limit_bytes)
                        : "its data can hold (" + std::to_string(codec_bound) + ")"));
  }
  *raw = sink.alloc(sink.arg, static_cast<size_t>(raw_size));
  if (*raw == nullptr && raw_size != 0) {
    return Status::MemoryLimit(std::string(codec) + " block",
                               "no memory for " + std::to_string(raw_size) + " bytes");
  }
  return Status::OK();
}

}  // namespace varve::block_framing
