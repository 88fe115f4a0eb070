// SPDX-License-Identifier: Apache-2.0

// Implements the zlib codec, as raw deflate.

#include "util/compress/block_framing.h"

#ifdef VARVE_HAVE_ZLIB

#include <zlib.h>

#include <memory>

#include "util/coding/varint.h"

namespace varve::block_framing {
namespace {

constexpr const char* kZlibName = "Zlib";
// The format's bound: a match of 258 bytes takes at least two bits, so a byte yields four of them.
constexpr uint64_t kZlibMaxExpansion = 1032;
constexpr int kMemoryLevel = 8;
// Readers accept the output of any smaller window.
constexpr int kReadWindowBits = -15;

const Bytef* InputBytes(const Slice& slice) {
  return reinterpret_cast<const Bytef*>(slice.data());
}

class Zlib final : public Codec {
 public:
  CompressionType type() const override { return kZlibCompression; }
  const char* name() const override { return kZlibName; }

  bool Compress(const CompressionOptions& options, const Slice& dict, const Slice& input,
                std::string* output) const override {
    // Readers expect raw deflate only.
    if (input.size() > INT32_MAX || dict.size() > INT32_MAX || options.window_bits >= 0) {
      return false;
    }
    const int level = options.level == CompressionOptions::kDefaultCompressionLevel
                          ? Z_DEFAULT_COMPRESSION
                          : options.level;
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, options.window_bits, kMemoryLevel,
                     options.strategy) != Z_OK) {
      return false;
    }
    const std::unique_ptr<z_stream, decltype(&deflateEnd)> ended(&stream, &deflateEnd);
    bool done = dict.empty() || deflateSetDictionary(&stream, InputBytes(dict),
                                                     static_cast<uInt>(dict.size())) == Z_OK;
    output->clear();
    PutVarint32(output, static_cast<uint32_t>(input.size()));
    const size_t prefix = output->size();
    // With so much room one call suffices.
    const size_t capacity = deflateBound(&stream, static_cast<uLong>(input.size()));
    output->resize(prefix + capacity);
    stream.next_in = const_cast<Bytef*>(InputBytes(input));
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(output->data() + prefix);
    stream.avail_out = static_cast<uInt>(capacity);
    done = done && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    output->resize(prefix + capacity - stream.avail_out);
    return done;
  }

  Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    Slice deflated = input;
    uint64_t raw_size = 0;
    Status s = TakeRawSize(kZlibName, format_version, OldPrefix::kNone, &deflated, &raw_size);
    if (!s.ok()) return s;
    if (deflated.size() > UINT32_MAX || dict.size() > UINT32_MAX) {
      return BadBlock(kZlibName, "too large");
    }
    char* raw = nullptr;
    s = AllocateRaw(kZlibName, raw_size, kZlibMaxExpansion * deflated.size(), limit_bytes, sink,
                    &raw);
    if (!s.ok()) return s;
    z_stream stream{};
    if (inflateInit2(&stream, kReadWindowBits) != Z_OK) return Status::MemoryLimit("zlib context");
    Bytef unused = 0;
    stream.next_in = const_cast<Bytef*>(InputBytes(deflated));
    stream.avail_in = static_cast<uInt>(deflated.size());
    stream.next_out = raw != nullptr ? reinterpret_cast<Bytef*>(raw) : &unused;
    stream.avail_out = static_cast<uInt>(raw_size);
    const bool whole =
        (dict.empty() ||
         inflateSetDictionary(&stream, InputBytes(dict), static_cast<uInt>(dict.size())) == Z_OK) &&
        inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!whole) return BadBlock(kZlibName, "damaged data, or another dictionary");
    *result = Slice(raw, static_cast<size_t>(raw_size));
    return s;
  }
};

}  // namespace

const Codec* ZlibCodec() {
  static const Zlib codec;
  return &codec;
}

}  // namespace varve::block_framing

#else

namespace varve::block_framing {

const Codec* ZlibCodec() {
  return nullptr;
}

}  // namespace varve::block_framing

#endif
