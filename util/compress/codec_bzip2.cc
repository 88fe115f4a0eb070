// SPDX-License-Identifier: Apache-2.0

// Implements the bzip2 codec.

#include "util/compress/block_framing.h"

#ifdef VARVE_HAVE_BZIP2

#include <bzlib.h>

#include "util/coding/varint.h"

namespace varve::block_framing {
namespace {

constexpr const char* kBzip2Name = "BZip2";
// Block size in units of 100 kB. 1 is the smallest and fastest: table blocks are smaller still.
constexpr int kBlockSize = 1;
// Bound for the fast sort of long runs; the value that the library takes for 0.
constexpr int kWorkFactor = 30;

char* Bytes(const Slice& slice) {
  return const_cast<char*>(slice.data());
}

// Returns an upper bound of the stream's raw size; 0 if it is no stream. A stream begins with "BZh"
// and a digit, its block size. The header of a block takes at least 155 bits; each symbol is at
// most a byte of output, and five of them encode a run of at most 259.
uint64_t StreamBound(const Slice& stream) {
  constexpr uint64_t kBlockUnit = 100000;
  constexpr uint64_t kLeastBlockBytes = 155 / 8;
  if (stream.size() < 4 || !stream.starts_with("BZh") || stream[3] < '1' || stream[3] > '9') {
    return 0;
  }
  const uint64_t block_bytes = static_cast<uint64_t>(stream[3] - '0') * kBlockUnit;
  return stream.size() / kLeastBlockBytes * (block_bytes / 5) * 259;
}

class Bzip2 final : public Codec {
 public:
  CompressionType type() const override { return kBZip2Compression; }
  const char* name() const override { return kBzip2Name; }

  bool Compress(const CompressionOptions& /*options*/, const Slice& /*dict*/, const Slice& input,
                std::string* output) const override {
    if (input.size() > INT32_MAX) return false;
    output->clear();
    PutVarint32(output, static_cast<uint32_t>(input.size()));
    const size_t prefix = output->size();
    // The size that the library requires.
    auto bytes = static_cast<unsigned>(input.size() + input.size() / 100 + 600);
    output->resize(prefix + bytes);
    const bool done = BZ2_bzBuffToBuffCompress(output->data() + prefix, &bytes, Bytes(input),
                                               static_cast<unsigned>(input.size()), kBlockSize,
                                               /*verbosity=*/0, kWorkFactor) == BZ_OK;
    output->resize(prefix + (done ? bytes : 0));
    return done;
  }

  Status Uncompress(const Slice& /*dict*/, const Slice& input, uint32_t format_version,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    Slice packed = input;
    uint64_t raw_size = 0;
    Status s = TakeRawSize(kBzip2Name, format_version, OldPrefix::kNone, &packed, &raw_size);
    if (!s.ok()) return s;
    if (packed.size() > UINT32_MAX) return BadBlock(kBzip2Name, "too large");
    char* raw = nullptr;
    s = AllocateRaw(kBzip2Name, raw_size, StreamBound(packed), limit_bytes, sink, &raw);
    if (!s.ok()) return s;
    // The library refuses a null address, also for an empty block.
    char unused = 0;
    auto bytes = static_cast<unsigned>(raw_size);
    // The library allocates up to 4 MB of its own, depending on the digit.
    const int answer = BZ2_bzBuffToBuffDecompress(
        raw != nullptr ? raw : &unused, &bytes, Bytes(packed), static_cast<unsigned>(packed.size()),
        /*small=*/0, /*verbosity=*/0);
    if (answer == BZ_MEM_ERROR) return Status::MemoryLimit("bzip2 context");
    if (answer != BZ_OK || bytes != raw_size) return BadBlock(kBzip2Name, "damaged data");
    *result = Slice(raw, static_cast<size_t>(raw_size));
    return s;
  }
};

}  // namespace

const Codec* Bzip2Codec() {
  static const Bzip2 codec;
  return &codec;
}

}  // namespace varve::block_framing

#else

namespace varve::block_framing {

const Codec* Bzip2Codec() {
  return nullptr;
}

}  // namespace varve::block_framing

#endif
