// SPDX-License-Identifier: Apache-2.0

// Implements the Snappy codec. Snappy stores the raw size itself, in every format_version; it takes
// no dictionary.

#include "util/compress/block_framing.h"

#ifdef VARVE_HAVE_SNAPPY

#include <snappy.h>

namespace varve::block_framing {
namespace {

constexpr const char* kSnappyName = "Snappy";

// A copy element of three bytes produces up to 64.
constexpr uint64_t kSnappyMaxExpansion = 22;

class Snappy final : public Codec {
 public:
  CompressionType type() const override { return kSnappyCompression; }
  const char* name() const override { return kSnappyName; }

  bool Compress(const CompressionOptions& /*options*/, const Slice& /*dict*/, const Slice& input,
                std::string* output) const override {
    if (input.size() > UINT32_MAX) return false;
    output->resize(snappy::MaxCompressedLength(input.size()));
    size_t length = 0;
    snappy::RawCompress(input.data(), input.size(), output->data(), &length);
    output->resize(length);
    return true;
  }

  Status Uncompress(const Slice& /*dict*/, const Slice& input, uint32_t /*format_version*/,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    size_t raw_size = 0;
    if (!snappy::GetUncompressedLength(input.data(), input.size(), &raw_size)) {
      return BadBlock(kSnappyName, "bad size prefix");
    }
    char* raw = nullptr;
    Status s = AllocateRaw(kSnappyName, raw_size, kSnappyMaxExpansion * input.size(), limit_bytes,
                           sink, &raw);
    if (!s.ok()) return s;
    if (!snappy::RawUncompress(input.data(), input.size(), raw)) {
      return BadBlock(kSnappyName, "damaged data");
    }
    *result = Slice(raw, raw_size);
    return s;
  }
};

}  // namespace

const Codec* SnappyCodec() {
  static const Snappy codec;
  return &codec;
}

}  // namespace varve::block_framing

#else

namespace varve::block_framing {

const Codec* SnappyCodec() {
  return nullptr;
}

}  // namespace varve::block_framing

#endif
