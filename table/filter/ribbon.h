// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds and describes Ribbon filters: each key is an equation over neighbouring slots of a bit
// table, and the filter is a table that solves the equations of all its keys (FORMAT.md, "Ribbon").
//
//      key   ->  start, coefficients c0 c1 ... c127 (c0 = 1), result
//      slots      ... s[start] s[start+1] ... s[start+127] ...
//      query:     c0*s[start] + c1*s[start+1] + ... + c127*s[start+127] = result ?      (mod 2)
//
// A key that was added satisfies its equation by construction. Another one satisfies it in one
// column with probability 1/2, so in n columns with 2^-n. The table needs little more than one slot
// per key and column, about 30 % less than a Bloom filter with the same rate of errors, but solving
// the equations takes longer than setting bits.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "table/filter/bloom_design.h"
#include "table/filter/filter_hashes.h"
#include "util/base/assert.h"

namespace varve {

inline constexpr unsigned char kRibbonMarker = 0xfe;
// Slots of one block; also the number of neighbouring slots that an equation spans.
inline constexpr uint64_t kRibbonWidth = 128;
// One column of one block.
inline constexpr size_t kRibbonSegmentBytes = kRibbonWidth / 8;
// Limits of the number of blocks: readers reject a filter of a single block, and the number has
// three bytes.
inline constexpr uint64_t kRibbonBlocksMin = 2;
inline constexpr uint64_t kRibbonBlocksMax = 0xffffff;
// Maximum number of columns, which are numbered by the bits of RibbonEquation::result.
inline constexpr uint64_t kRibbonColumnsMax = 32;

using RibbonWord = unsigned __int128;

// In every column, the sum (xor) of the slots `start` + i for which bit i of `coefficients` is set
// must be that column's bit of `result`.
struct RibbonEquation {
  uint64_t start;
  RibbonWord coefficients;  // bit 0 is always set
  uint32_t result;
};

// Computes the equations of key hashes. The numbers in it are part of the format: readers must
// compute the same equations. Thread safety: immutable.
class RibbonHasher {
 public:
  RibbonHasher() = default;
  // Takes the values in the filter's metadata: a seed number, and the number of blocks, at least 1.
  RibbonHasher(unsigned char seed_number, uint64_t blocks)
      : seed_(SeedOf(seed_number)), starts_(kRibbonWidth * blocks - (kRibbonWidth - 1)) {}

  // Returns the first slot of the key's equation.
  [[nodiscard]] uint64_t StartOf(uint64_t hash) const { return High64(Mix(hash), starts_); }

  // Returns the equation over GF(2) that the filter satisfies for this hash: where it begins, its
  // coefficients, and the result.
  [[nodiscard]] RibbonEquation EquationOf(uint64_t hash) const {
    const uint64_t mixed = Mix(hash);
    const uint64_t a = mixed * 0xc28f82822b650bed;
    return {High64(mixed, starts_), ((RibbonWord{a} << 64) ^ (a ^ 0xc367844a6e52731d)) | 1,
            static_cast<uint32_t>(__builtin_bswap64(a))};
  }

 private:
  static constexpr uint64_t High64(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(RibbonWord{a} * b >> 64);
  }
  static constexpr uint32_t SeedOf(unsigned char seed_number) {
    uint64_t seed = uint64_t{seed_number} * 0xc78219a23eeadd03;
    seed ^= (seed & 0xf0f0f0f0f0f0f0f0) >> 4;
    return static_cast<uint32_t>(seed);
  }
  [[nodiscard]] uint64_t Mix(uint64_t hash) const { return (hash ^ seed_) * 0x6193d459236a3a0d; }

  // Mixed into every hash; another seed is tried if the equations cannot be solved.
  uint32_t seed_ = 0;
  uint64_t starts_ = 1;  // number of slots at which an equation can start
};

// Says how many columns each block has. The numbers differ by at most one, and the first blocks
// have the smaller; so the false-positive rate is not restricted to powers of two. Thread safety:
// immutable.
class RibbonLayout {
 public:
  RibbonLayout() = default;
  // Requires that both are at least 1, and at least one segment per block.
  RibbonLayout(uint64_t blocks, uint64_t segments)
      : blocks_(blocks),
        segments_(segments),
        columns_((segments + blocks - 1) / blocks),
        short_blocks_(columns_ * blocks - segments) {
    VARVE_ASSERT(blocks > 0 && segments >= blocks);
  }

  [[nodiscard]] uint64_t blocks() const { return blocks_; }
  // Returns the number of columns of the blocks that have most.
  [[nodiscard]] uint64_t columns() const { return columns_; }
  // Returns the number of columns of a block.
  [[nodiscard]] uint64_t ColumnsOf(uint64_t block) const {
    VARVE_ASSERT(block < blocks_);
    return block < short_blocks_ ? columns_ - 1 : columns_;
  }
  // Returns the number of the block's first segment; its columns follow each other.
  [[nodiscard]] uint64_t FirstSegment(uint64_t block) const {
    return block * columns_ - std::min(block, short_blocks_);
  }
  // Returns the size of the filter without its metadata.
  [[nodiscard]] size_t bytes() const {
    return static_cast<size_t>(segments_) * kRibbonSegmentBytes;
  }

 private:
  uint64_t blocks_ = 0;
  uint64_t segments_ = 0;
  uint64_t columns_ = 0;
  // Number of blocks, from the first on, that have one column less.
  uint64_t short_blocks_ = 0;
};

[[nodiscard]] inline uint64_t RibbonParity(RibbonWord word) {
  return static_cast<uint64_t>(
      __builtin_parityll(static_cast<uint64_t>(word) ^ static_cast<uint64_t>(word >> 64)));
}

// Returns the layout of a filter for this many keys with the false-positive rate of that Bloom
// filter. It has no blocks if the Bloom filter is not larger, or if no reader could use the Ribbon
// filter.
[[nodiscard]] RibbonLayout RibbonLayoutFor(size_t keys, const BloomDesign& bloom);

// Returns the memory that BuildRibbon needs beside the block: the equations, one per slot.
[[nodiscard]] inline size_t RibbonBuildBytes(const RibbonLayout& layout) {
  return static_cast<size_t>(layout.blocks() * kRibbonWidth) *
         (sizeof(RibbonWord) + sizeof(RibbonEquation::result));
}

// Replaces *block by the Ribbon block of these FilterHash values, metadata included. Returns false,
// with *block unchanged, if a Bloom filter must be used: because RibbonLayoutFor has no blocks, or
// because no seed gives solvable equations, which is extremely unlikely.
//
// Cost: temporarily RibbonBuildBytes of memory, about 21 per key, and several times the time of a
// Bloom filter.
[[nodiscard]] bool BuildRibbon(const FilterHashes& hashes, const BloomDesign& bloom,
                               std::string* block);

}  // namespace varve
