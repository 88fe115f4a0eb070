// SPDX-License-Identifier: Apache-2.0
#include "table/builder/compression_sampler.h"

#include <initializer_list>

#include "varve/compression_type.h"

namespace varve {
namespace {

const Codec* FirstOf(std::initializer_list<CompressionType> types) {
  for (const CompressionType type : types) {
    if (CodecSupported(type)) return FindCodec(type);
  }
  return nullptr;
}

// Returns the size with `codec`. A block that compression makes larger counts with its raw size.
uint64_t SizeWith(const Codec* codec, const Slice& raw, std::string* compressed) {
  if (codec == nullptr) return 0;
  const bool made = codec->Compress(CompressionOptions(), Slice(), raw, compressed);
  return made && compressed->size() < raw.size() ? compressed->size() : raw.size();
}

// In floating point, as the product of two sizes may exceed 64 bits.
uint64_t Scaled(uint64_t sampled, uint64_t all, uint64_t samples) {
  const double share = static_cast<double>(sampled) / static_cast<double>(samples);
  return static_cast<uint64_t>(share * static_cast<double>(all) + 0.5);
}

}  // namespace

CompressionSampler::CompressionSampler(uint64_t every)
    : every_(every),
      fast_(every == 0 ? nullptr : FirstOf({kLZ4Compression, kSnappyCompression})),
      slow_(every == 0 ? nullptr : FirstOf({kZSTD, kZlibCompression})) {}

CompressionSampler::Sizes CompressionSampler::Sample(const Slice& raw) {
  const Sizes sizes{SizeWith(fast_, raw, &compressed_), SizeWith(slow_, raw, &compressed_)};
  sampled_bytes_ += raw.size();
  sampled_.fast += sizes.fast;
  sampled_.slow += sizes.slow;
  return sizes;
}

CompressionSampler::Sizes CompressionSampler::Estimate() const {
  if (sampled_bytes_ == 0) return {};
  return {Scaled(sampled_.fast, raw_bytes_, sampled_bytes_),
          Scaled(sampled_.slow, raw_bytes_, sampled_bytes_)};
}

}  // namespace varve
