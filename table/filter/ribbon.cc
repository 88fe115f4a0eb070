// SPDX-License-Identifier: Apache-2.0

// Solves the equations of a Ribbon filter's keys.

#include "table/filter/ribbon.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/key/entry_limits.h"

namespace varve {
namespace {

// Number of seeds: a seed number has one byte.
constexpr int kSeeds = 256;

// Slots per key. Equations that start at random contradict each other where they are crowded, and
// the more keys there are, the likelier is a crowd somewhere: spare slots grow with the logarithm
// of the number of keys (Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and
// Xor", 2021). Measured from 250 to a million keys, by the share of seeds that give solvable
// equations: kMostSeeds for nineteen in twenty, kEnoughSeeds for three in five. Valid up to 2^13.5
// keys.
constexpr double kMostSeeds = 1.025;
constexpr double kEnoughSeeds = 1.0125;
// Additional slots per key for each doubling after that.
constexpr double kSlotsPerDoubling = 0.0033;

// Returns the number of blocks for kMostSeeds, rounded down if the result is enough for
// kEnoughSeeds, else up.
uint64_t BlocksFor(size_t keys) {
  const auto n = static_cast<double>(keys);
  const double doublings = std::max(std::log2(n) - 13.5, 0.0);
  const auto blocks = [&](double slots_per_key) {
    return n * (slots_per_key + kSlotsPerDoubling * doublings) / static_cast<double>(kRibbonWidth);
  };
  const double most = std::floor(blocks(kMostSeeds));
  const double chosen = most >= blocks(kEnoughSeeds) ? most : most + 1;
  return std::max(static_cast<uint64_t>(chosen), kRibbonBlocksMin);
}

// Performs Gaussian elimination as the equations are added. Row i holds an equation that starts at
// slot i, or nothing (coefficients 0).
class Rows {
 public:
  explicit Rows(uint64_t slots)
      : coefficients_(static_cast<size_t>(slots)), results_(static_cast<size_t>(slots)) {}

  void Clear() { std::fill(coefficients_.begin(), coefficients_.end(), 0); }

  [[nodiscard]] const void* Place(uint64_t start) const { return &coefficients_[start]; }
  [[nodiscard]] RibbonWord coefficients(uint64_t i) const { return coefficients_[i]; }
  [[nodiscard]] uint32_t result(uint64_t i) const { return results_[i]; }

  // Returns false if the equation contradicts those already present.
  bool Add(RibbonEquation e) {
    for (;;) {
      VARVE_ASSERT((e.coefficients & 1) != 0 && e.start < coefficients_.size());
      RibbonWord& row = coefficients_[e.start];
      if (row == 0) {
        row = e.coefficients;
        results_[e.start] = e.result;
        return true;
      }
      e.coefficients ^= row;
      e.result ^= results_[e.start];
      if (e.coefficients == 0) return e.result == 0;  // zero: the same key again
      const int zeros = TrailingZeros(e.coefficients);
      e.start += static_cast<uint64_t>(zeros);
      e.coefficients >>= zeros;
    }
  }

 private:
  static int TrailingZeros(RibbonWord word) {
    const auto low = static_cast<uint64_t>(word);
    return low != 0 ? std::countr_zero(low)
                    : 64 + std::countr_zero(static_cast<uint64_t>(word >> 64));
  }

  std::vector<RibbonWord> coefficients_;
  std::vector<uint32_t> results_;
};

// Solves for the slots from the last to the first. Bit i of a column's word is the column's
// solution at the current slot + i, which is what a row's equation refers to; at the first slot of
// a block the word is the block's segment.
void Solve(const Rows& rows, const RibbonLayout& layout, char* data) {
  std::array<RibbonWord, kRibbonColumnsMax> columns = {};
  for (uint64_t block = layout.blocks(); block-- > 0;) {
    // Keys that start in the previous block use as many columns as that block has; columns that
    // only this block has are used from here on.
    const uint64_t used = layout.ColumnsOf(block);
    for (uint64_t slot = (block + 1) * kRibbonWidth; slot-- > block * kRibbonWidth;) {
      const RibbonWord coefficients = rows.coefficients(slot);
      const uint32_t result = coefficients == 0 ? 0 : rows.result(slot);
      for (uint64_t c = 0; c < used; c++) {
        const RibbonWord shifted = columns[c] << 1;
        columns[c] = shifted | (RibbonParity(shifted & coefficients) ^ (result >> c & 1));
      }
    }
    char* segment = data + layout.FirstSegment(block) * kRibbonSegmentBytes;
    for (uint64_t c = 0; c < used; c++, segment += kRibbonSegmentBytes) {
      EncodeFixed64(segment, static_cast<uint64_t>(columns[c]));
      EncodeFixed64(segment + 8, static_cast<uint64_t>(columns[c] >> 64));
    }
  }
}

}  // namespace

// Takes the fewest columns whose error rate is not above the Bloom filter's, and then takes a
// column off as many blocks as that rate allows.
RibbonLayout RibbonLayoutFor(size_t keys, const BloomDesign& bloom) {
  if (keys == 0) return RibbonLayout();
  const uint64_t blocks = BlocksFor(keys);
  const double rate = bloom.false_positives();
  const auto columns = static_cast<uint64_t>(
      std::clamp(std::ceil(-std::log2(rate)), 1.0, static_cast<double>(kRibbonColumnsMax)));
  // A block with one column less doubles the rate of its keys.
  const double spare = rate * std::exp2(static_cast<double>(columns)) - 1;
  uint64_t segments = blocks * columns;
  if (columns > 1 && spare > 0) {
    segments -= static_cast<uint64_t>(static_cast<double>(blocks) * std::min(spare, 1.0));
  }
  const RibbonLayout layout(blocks, segments);
  const uint64_t bytes = segments * kRibbonSegmentBytes + kFilterMetadataBytes;
  const bool can_be_read = blocks <= kRibbonBlocksMax && bytes <= kBlockBytesMax;
  return can_be_read && bytes < bloom.Bytes(keys) ? layout : RibbonLayout();
}

// Tries one seed after the other until the equations of all keys can be solved, which mostly is one
// of the first few.
bool BuildRibbon(const FilterHashes& hashes, const BloomDesign& bloom, std::string* block) {
  const RibbonLayout layout = RibbonLayoutFor(hashes.size(), bloom);
  if (layout.blocks() == 0) return false;
  Rows rows(layout.blocks() * kRibbonWidth);
  for (int seed = 0; seed < kSeeds; seed++) {
    const RibbonHasher hasher(static_cast<unsigned char>(seed), layout.blocks());
    const bool solvable = ForEachPrefetched(
        hashes, [&](uint64_t hash) { return rows.Place(hasher.StartOf(hash)); },
        [&](uint64_t hash) { return rows.Add(hasher.EquationOf(hash)); });
    if (!solvable) {
      rows.Clear();
      continue;
    }
    block->assign(layout.bytes() + kFilterMetadataBytes, '\0');
    Solve(rows, layout, block->data());
    char* const meta = block->data() + layout.bytes();
    meta[0] = static_cast<char>(kRibbonMarker);
    meta[1] = static_cast<char>(seed);
    meta[2] = static_cast<char>(layout.blocks());
    meta[3] = static_cast<char>(layout.blocks() >> 8);
    meta[4] = static_cast<char>(layout.blocks() >> 16);
    return true;
  }
  return false;
}

}  // namespace varve
