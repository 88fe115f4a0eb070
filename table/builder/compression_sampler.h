// SPDX-License-Identifier: Apache-2.0
#pragma once

// Estimates the size of the data with a fast codec and with a slow one, by compressing some of the
// blocks with both (sample_for_compression).

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "util/compress/codec.h"

namespace varve {

// Thread safety: none.
class CompressionSampler {
 public:
  // Bytes of one block, or of all data; 0 if there is no such codec, or no sample.
  struct Sizes {
    uint64_t fast = 0;  // LZ4 if available, else Snappy
    uint64_t slow = 0;  // ZSTD if available, else zlib
  };

  // The first block is a sample, and then each `every`-th one. 0: there are no samples.
  explicit CompressionSampler(uint64_t every);

  // Takes the next block. Returns its sizes if it is a sample, else zeros.
  Sizes Look(const Slice& raw) {
    raw_bytes_ += raw.size();
    if (every_ == 0 || blocks_++ % every_ != 0) [[likely]]
      return {};
    return Sample(raw);
  }
  // Returns the sizes of all blocks, assuming that all are like the samples.
  [[nodiscard]] Sizes Estimate() const;

 private:
  // Compresses the block with both codecs and returns the sizes.
  Sizes Sample(const Slice& raw);

  // One block of this many is a sample; 0: none is.
  const uint64_t every_;
  const Codec* const fast_;
  const Codec* const slow_;
  // Numbers of blocks and bytes seen, of those sampled, and of what they were compressed to.
  uint64_t blocks_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t sampled_bytes_ = 0;
  Sizes sampled_;
  std::string compressed_;
};

}  // namespace varve
