// SPDX-License-Identifier: Apache-2.0

// Implements the Zstandard codec, and the training of its dictionaries. Contexts are pooled and
// keep the dictionary they digested last, since all blocks of a table share one.

#include "util/compress/block_framing.h"

#ifdef VARVE_HAVE_ZSTD

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "util/coding/varint.h"
#include "util/compress/context_pool.h"

namespace varve::block_framing {
namespace {

constexpr const char* kZstdName = "ZSTD";
constexpr int kDefaultLevel = 3;

// A frame consists of blocks of at most 128 KiB, each with at least 3 bytes of header and one more.
constexpr uint64_t MaxRawSize(uint64_t compressed) {
  return (compressed / 4 + 1) << 17;
}

int LevelOf(int option) {
  return option == CompressionOptions::kDefaultCompressionLevel ? kDefaultLevel : option;
}

struct FreeZstd {
  void operator()(ZSTD_CCtx* p) const { ZSTD_freeCCtx(p); }
  void operator()(ZSTD_DCtx* p) const { ZSTD_freeDCtx(p); }
  void operator()(ZSTD_CDict* p) const { ZSTD_freeCDict(p); }
  void operator()(ZSTD_DDict* p) const { ZSTD_freeDDict(p); }
};

// A context and a digested dictionary, which belongs to exactly these dictionary bytes (and level).
// Digesting a dictionary takes far longer than compressing a block with it. All blocks of a table
// have one dictionary, so the thread that takes this context from the pool usually finds it
// digested.
struct Compressor {
  std::unique_ptr<ZSTD_CCtx, FreeZstd> context;
  std::string dict;
  int dict_level = 0;
  std::unique_ptr<ZSTD_CDict, FreeZstd> digested;

  // Makes the context use the dictionary; an empty one: none. Returns false on failure.
  bool UseDict(const Slice& wanted, int level) {
    if (wanted.empty()) return !ZSTD_isError(ZSTD_CCtx_refCDict(context.get(), nullptr));
    if (digested == nullptr || dict_level != level || wanted != Slice(dict)) {
      digested.reset(ZSTD_createCDict(wanted.data(), wanted.size(), level));
      dict.assign(wanted.data(), wanted.size());
      dict_level = level;
    }
    return digested != nullptr && !ZSTD_isError(ZSTD_CCtx_refCDict(context.get(), digested.get()));
  }
};

// The counterpart of Compressor.
struct Decompressor {
  std::unique_ptr<ZSTD_DCtx, FreeZstd> context;
  std::string dict;
  std::unique_ptr<ZSTD_DDict, FreeZstd> digested;

  bool UseDict(const Slice& wanted) {
    if (wanted.empty()) return !ZSTD_isError(ZSTD_DCtx_refDDict(context.get(), nullptr));
    if (digested == nullptr || wanted != Slice(dict)) {
      digested.reset(ZSTD_createDDict(wanted.data(), wanted.size()));
      dict.assign(wanted.data(), wanted.size());
    }
    return digested != nullptr && !ZSTD_isError(ZSTD_DCtx_refDDict(context.get(), digested.get()));
  }
};

constinit ContextPool<Compressor> compressors;
constinit ContextPool<Decompressor> decompressors;

// Returns 0 on failure.
size_t CompressWith(Compressor* compressor, const CompressionOptions& options, const Slice& dict,
                    const Slice& input, char* dst, size_t capacity) {
  ZSTD_CCtx* const context = compressor->context.get();
  const int level = LevelOf(options.level);
  // Parameters stay in a context, and the pool may have had it from another table.
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, options.checksum)) ||
      !compressor->UseDict(dict, level)) {
    return 0;
  }
  const size_t length = ZSTD_compress2(context, dst, capacity, input.data(), input.size());
  return ZSTD_isError(length) ? 0 : length;
}

class Zstd final : public Codec {
 public:
  CompressionType type() const override { return kZSTD; }
  const char* name() const override { return kZstdName; }

  bool Compress(const CompressionOptions& options, const Slice& dict, const Slice& input,
                std::string* output) const override {
    if (input.size() > UINT32_MAX) return false;
    std::unique_ptr<Compressor> compressor = compressors.Take([] {
      auto fresh = std::make_unique<Compressor>();
      fresh->context.reset(ZSTD_createCCtx());
      return fresh;
    });
    if (compressor->context == nullptr) return false;
    output->clear();
    PutVarint32(output, static_cast<uint32_t>(input.size()));
    const size_t prefix = output->size();
    const size_t capacity = ZSTD_compressBound(input.size());
    output->resize(prefix + capacity);
    const size_t length =
        CompressWith(compressor.get(), options, dict, input, output->data() + prefix, capacity);
    output->resize(prefix + length);
    compressors.Give(std::move(compressor));
    return length != 0;
  }

  // Every format_version has the size prefix.
  Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                    size_t limit_bytes, BufferSink sink, Slice* result) const override {
    Slice frame = input;
    uint64_t raw_size = 0;
    Status s = TakeRawSize(kZstdName, format_version, OldPrefix::kVarint, &frame, &raw_size);
    if (!s.ok()) return s;
    // The size in the frame is optional, and as hostile as the prefix; where both are there they
    // must agree.
    const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (content == ZSTD_CONTENTSIZE_ERROR) return BadBlock(kZstdName, "no zstd frame");
    if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != raw_size) {
      return BadBlock(kZstdName, "size prefix and frame header disagree");
    }
    char* raw = nullptr;
    s = AllocateRaw(kZstdName, raw_size, MaxRawSize(frame.size()), limit_bytes, sink, &raw);
    if (!s.ok()) return s;

    std::unique_ptr<Decompressor> decompressor = decompressors.Take([] {
      auto fresh = std::make_unique<Decompressor>();
      fresh->context.reset(ZSTD_createDCtx());
      return fresh;
    });
    if (decompressor->context == nullptr) return Status::MemoryLimit("no zstd context");
    if (!decompressor->UseDict(dict)) return BadBlock(kZstdName, "unusable dictionary");
    const size_t length =
        ZSTD_decompressDCtx(decompressor->context.get(), raw, static_cast<size_t>(raw_size),
                            frame.data(), frame.size());
    // An exception or an early return above destroys the context instead: only one in a known state
    // goes back.
    decompressors.Give(std::move(decompressor));
    if (ZSTD_isError(length)) return BadBlock(kZstdName, ZSTD_getErrorName(length));
    if (length != raw_size) return BadBlock(kZstdName, "shorter than declared");
    *result = Slice(raw, length);
    return s;
  }
};

// True if the lengths are those of samples within `samples`, and their number is one that the
// library takes.
bool SamplesFit(const Slice& samples, const std::vector<size_t>& lengths) {
  size_t left = samples.size();
  for (const size_t length : lengths) {
    if (length > left) return false;
    left -= length;
  }
  return !lengths.empty() && lengths.size() <= UINT32_MAX;
}

}  // namespace

const Codec* ZstdCodec() {
  static const Zstd codec;
  return &codec;
}

}  // namespace varve::block_framing

namespace varve {

std::string TrainZstdDictionary(const Slice& samples, const std::vector<size_t>& sample_lengths,
                                size_t max_dict_bytes) {
  if (!block_framing::SamplesFit(samples, sample_lengths)) return {};
  std::string dict(max_dict_bytes, '\0');
  const size_t length =
      ZDICT_trainFromBuffer(dict.data(), dict.size(), samples.data(), sample_lengths.data(),
                            static_cast<unsigned>(sample_lengths.size()));
  if (ZDICT_isError(length)) return {};
  dict.resize(length);
  return dict;
}

std::string FinalizeZstdDictionary(const Slice& samples, const std::vector<size_t>& sample_lengths,
                                   size_t max_dict_bytes, int level) {
  if (!block_framing::SamplesFit(samples, sample_lengths)) return {};
  ZDICT_params_t parameters{};
  parameters.compressionLevel = block_framing::LevelOf(level);
  std::string dict(max_dict_bytes, '\0');
  // The content must fit as a whole; the newest samples probably resemble later blocks most.
  const size_t content_bytes = std::min(samples.size(), max_dict_bytes);
  const size_t length = ZDICT_finalizeDictionary(
      dict.data(), dict.size(), samples.data() + samples.size() - content_bytes, content_bytes,
      samples.data(), sample_lengths.data(), static_cast<unsigned>(sample_lengths.size()),
      parameters);
  if (ZDICT_isError(length)) return {};
  dict.resize(length);
  return dict;
}

}  // namespace varve

#else

namespace varve {

const Codec* block_framing::ZstdCodec() {
  return nullptr;
}

std::string TrainZstdDictionary(const Slice& /*samples*/,
                                const std::vector<size_t>& /*sample_lengths*/,
                                size_t /*max_dict_bytes*/) {
  return {};
}

std::string FinalizeZstdDictionary(const Slice& /*samples*/,
                                   const std::vector<size_t>& /*sample_lengths*/,
                                   size_t /*max_dict_bytes*/, int /*level*/) {
  return {};
}

}  // namespace varve

#endif
