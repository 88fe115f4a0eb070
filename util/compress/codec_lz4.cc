// SPDX-License-Identifier: Apache-2.0

// Implements the codecs LZ4 and LZ4HC: two compressors of one format. A dictionary acts as text
// before the block.

#include "util/compress/block_framing.h"

#ifdef VARVE_HAVE_LZ4

#include <lz4.h>
#include <lz4hc.h>

#include <memory>
#include <utility>

#include "util/coding/varint.h"
#include "util/compress/context_pool.h"

namespace varve::block_framing {
namespace {

// A byte of a length encodes at most 255 bytes of output.
constexpr uint64_t kLz4MaxExpansion = 255;

Status UncompressLz4(const char* codec, const Slice& dict, Slice input, uint32_t format_version,
                     size_t limit_bytes, BufferSink sink, Slice* result) {
  uint64_t raw_size = 0;
  Status s = TakeRawSize(codec, format_version, OldPrefix::kFixed64, &input, &raw_size);
  if (!s.ok()) return s;
  if (input.size() > INT32_MAX || raw_size > LZ4_MAX_INPUT_SIZE || dict.size() > INT32_MAX) {
    return BadBlock(codec, "too large");
  }
  char* raw = nullptr;
  s = AllocateRaw(codec, raw_size, kLz4MaxExpansion * input.size(), limit_bytes, sink, &raw);
  if (!s.ok()) return s;
  char unused = 0;
  // The library wants a valid address even for no bytes. It never writes beyond raw_size, whatever
  // the input says.
  const int length = LZ4_decompress_safe_usingDict(
      input.data(), raw != nullptr ? raw : &unused, static_cast<int>(input.size()),
      static_cast<int>(raw_size), dict.data(), static_cast<int>(dict.size()));
  if (length < 0 || static_cast<uint64_t>(length) != raw_size) {
    return BadBlock(codec, "damaged data, or another dictionary");
  }
  *result = Slice(raw, static_cast<size_t>(raw_size));
  return s;
}

// Writes the size prefix and makes room for the longest result. Returns the position of the result;
// nullptr if the input is too large.
char* StartOutput(const Slice& input, const Slice& dict, std::string* output, int* capacity) {
  if (input.size() > LZ4_MAX_INPUT_SIZE || dict.size() > INT32_MAX) return nullptr;
  output->clear();
  PutVarint32(output, static_cast<uint32_t>(input.size()));
  const size_t prefix = output->size();
  *capacity = LZ4_compressBound(static_cast<int>(input.size()));
  output->resize(prefix + static_cast<size_t>(*capacity));
  return output->data() + prefix;
}

bool FinishOutput(const char* start, int length, std::string* output) {
  if (length <= 0) return false;
  output->resize(static_cast<size_t>(start - output->data()) + static_cast<size_t>(length));
  return true;
}

class Lz4 final : public Codec {
 public:
  CompressionType type() const override { return kLZ4Compression; }
  const char* name() const override { return "LZ4"; }

  bool Compress(const CompressionOptions& options, const Slice& dict, const Slice& input,
                std::string* output) const override {
    int capacity = 0;
    char* const start = StartOutput(input, dict, output, &capacity);
    if (start == nullptr) return false;
    // Lower negative levels are faster.
    const int acceleration = options.level < 0 ? -options.level : 1;
    const auto size = static_cast<int>(input.size());
    int length = 0;
    if (dict.empty()) {
      length = LZ4_compress_fast(input.data(), start, size, capacity, acceleration);
    } else {
      // 16 KiB, which the stack can bear.
      LZ4_stream_t stream;
      LZ4_initStream(&stream, sizeof(stream));
      LZ4_loadDict(&stream, dict.data(), static_cast<int>(dict.size()));
      length =
          LZ4_compress_fast_continue(&stream, input.data(), start, size, capacity, acceleration);
    }
    return FinishOutput(start, length, output);
  }

  Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    return UncompressLz4(name(), dict, input, format_version, limit_bytes, sink, result);
  }
};

// The state takes a quarter of a megabyte, too much for the stack.
struct HcStream {
  LZ4_streamHC_t stream;
};

constinit ContextPool<HcStream> hc_streams;

class Lz4hc final : public Codec {
 public:
  CompressionType type() const override { return kLZ4HCCompression; }
  const char* name() const override { return "LZ4HC"; }

  bool Compress(const CompressionOptions& options, const Slice& dict, const Slice& input,
                std::string* output) const override {
    int capacity = 0;
    char* const start = StartOutput(input, dict, output, &capacity);
    if (start == nullptr) return false;
    const int level = options.level == CompressionOptions::kDefaultCompressionLevel
                          ? LZ4HC_CLEVEL_DEFAULT
                          : options.level;
    std::unique_ptr<HcStream> context = hc_streams.Take([] {
      auto fresh = std::make_unique<HcStream>();
      LZ4_initStreamHC(&fresh->stream, sizeof(fresh->stream));
      return fresh;
    });
    LZ4_streamHC_t* const stream = &context->stream;
    // This forgets the previous block. Loading a dictionary would do so too, but clears all tables.
    LZ4_resetStreamHC_fast(stream, level);
    if (!dict.empty()) LZ4_loadDictHC(stream, dict.data(), static_cast<int>(dict.size()));
    const int length = LZ4_compress_HC_continue(stream, input.data(), start,
                                                static_cast<int>(input.size()), capacity);
    hc_streams.Give(std::move(context));
    return FinishOutput(start, length, output);
  }

  Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    return UncompressLz4(name(), dict, input, format_version, limit_bytes, sink, result);
  }
};

}  // namespace

const Codec* Lz4Codec() {
  static const Lz4 codec;
  return &codec;
}

const Codec* Lz4hcCodec() {
  static const Lz4hc codec;
  return &codec;
}

}  // namespace varve::block_framing

#else

namespace varve::block_framing {

const Codec* Lz4Codec() {
  return nullptr;
}
const Codec* Lz4hcCodec() {
  return nullptr;
}

}  // namespace varve::block_framing

#endif
