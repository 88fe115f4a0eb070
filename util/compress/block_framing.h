// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares common code of the codecs: the size in front of a compressed block, and the checks
// before memory is allocated for that size.

#include <cstddef>
#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/compress/codec.h"

namespace varve::block_framing {

// Encoding of a block's raw size in tables of format_version 0 and 1. Later versions use kVarint,
// except for Snappy, which stores its size itself.
enum class OldPrefix : uint8_t { kVarint, kFixed64, kNone };

// Removes the raw size from the front of *input. `old` is the codec's form in format_version 0 and
// 1. Returns Corruption if the bytes are no size, and NotSupported if those versions store none.
// `codec` is the name for messages.
Status TakeRawSize(const char* codec, uint32_t format_version, OldPrefix old, Slice* input,
                   uint64_t* raw_size);

// Checks `raw_size` against the caller's limit and against `codec_bound`, the largest output that
// the codec can make of the input; then sets *raw to that much memory of the sink. Returns
// Corruption if a bound is exceeded, MemoryLimit if the sink refuses.
Status AllocateRaw(const char* codec, uint64_t raw_size, uint64_t codec_bound, size_t limit_bytes,
                   BufferSink sink, char** raw);

// Returns Corruption with the message "<codec> block: <what>".
[[nodiscard]] Status BadBlock(const char* codec, const char* what);

// Return the codec if it is built in, else nullptr.
[[nodiscard]] const Codec* SnappyCodec();
[[nodiscard]] const Codec* ZlibCodec();
[[nodiscard]] const Codec* Bzip2Codec();
[[nodiscard]] const Codec* Lz4Codec();
[[nodiscard]] const Codec* Lz4hcCodec();
[[nodiscard]] const Codec* ZstdCodec();

}  // namespace varve::block_framing
