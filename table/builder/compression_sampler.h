// SPDX-License-Identifier: Apache-2.0
#pragma once

// What data would take with a fast codec and with a slow one, found by compressing one block in so
// many with both (sample_for_compression).

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "util/compress/codec.h"

namespace varve {

// Thread safety: none.
class CompressionSampler {
 public:
  // Bytes of one block, or of all data: 0 where there is no such codec, or no sample.
  struct Sizes {
    uint64_t fast = 0;  // LZ4, else Snappy
    uint64_t slow = 0;  // ZSTD, else zlib
  };

  // The first block is a sample, and then each `every`-th one. 0: none is.
  explicit CompressionSampler(uint64_t every);

  // The next block. What one takes that is a sample.
  Sizes Look(const Slice& raw) {
    raw_bytes_ += raw.size();
    if (every_ == 0 || blocks_++ % every_ != 0) [[likely]]
      return {};
    return Sample(raw);
  }
  // Of all blocks, as if all were like the samples.
  [[nodiscard]] Sizes Estimate() const;

 private:
  Sizes Sample(const Slice& raw);

  const uint64_t every_;
  const Codec* const fast_;
  const Codec* const slow_;
  uint64_t blocks_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t sampled_bytes_ = 0;
  Sizes sampled_;
  std::string compressed_;
};

}  // namespace varve
