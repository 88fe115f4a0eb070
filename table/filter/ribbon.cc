// SPDX-License-Identifier: Apache-2.0

// Solving the equations of a Ribbon filter's keys.

#include "table/filter/ribbon.h"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "table/filter/filter_bits.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

// Beyond this the block would outgrow 32-bit lengths at a hundred bits for each key.
constexpr size_t kMostKeys = 950'000'000;
// Seed numbers have one byte.
constexpr int kSeeds = 256;

// False positives of a Bloom filter whose keys share lines of 512 bits. Lines are not equally full:
// the mean of one that is a standard deviation fuller than the average and one that is emptier.
double BloomRate(int millibits_per_key) {
  const double bits_per_key = millibits_per_key / 1000.0;
  const double probes = BloomProbes(millibits_per_key);
  constexpr double kLineBits = kFilterLineBytes * 8;
  const double keys = kLineBits / bits_per_key;
  const auto rate = [probes](double keys_in_line) {
    return std::pow(1 - std::exp(-probes * keys_in_line / kLineBits), probes);
  };
  return (rate(keys + std::sqrt(keys)) + rate(std::max(keys - std::sqrt(keys), 0.0))) / 2;
}

// Slots for each key at which about nineteen in twenty seeds give equations that can be solved. The
// more keys, the likelier is a crowded stretch. Measured from 320 to a million keys: 1.024 up to
// eight thousand, then 1.026 at 2^14, 1.032 at 2^16, 1.038 at 2^18, 1.046 at 2^20.
double SlotsPerKey(size_t keys) {
  const double doublings = std::log2(static_cast<double>(keys)) - 13.5;
  return 1.025 + 0.0033 * std::max(doublings, 0.0);
}

// Gaussian elimination as the equations come in. Row i holds an equation that starts at slot i, or
// nothing (coefficients 0).
class Rows {
 public:
  explicit Rows(uint64_t slots)
      : coefficients_(static_cast<size_t>(slots)), results_(static_cast<size_t>(slots)) {}

  void Clear() { std::fill(coefficients_.begin(), coefficients_.end(), 0); }

  [[nodiscard]] const void* Place(uint64_t start) const { return &coefficients_[start]; }
  [[nodiscard]] RibbonWord coefficients(uint64_t i) const { return coefficients_[i]; }
  [[nodiscard]] uint32_t result(uint64_t i) const { return results_[i]; }

  // False if the equation contradicts those that are there.
  bool Add(RibbonEquation e) {
    for (;;) {
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

// Slots from the last to the first. Bit i of a column's word is the column's solution at the
// present slot + i: what a row's equation asks of, and at the first slot of a block its segment.
void Solve(const Rows& rows, const RibbonLayout& layout, char* data) {
  std::array<RibbonWord, kRibbonColumnsMax> columns = {};
  for (uint64_t block = layout.blocks(); block-- > 0;) {
    // Keys that start in the block before ask for as many columns as that block has; those that
    // this block alone has are of use from here on.
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

RibbonLayout RibbonLayoutFor(size_t keys, int millibits_per_key) {
  if (keys == 0 || keys > kMostKeys) return RibbonLayout();
  const double slots = static_cast<double>(keys) * SlotsPerKey(keys);
  // Readers do not take a single block.
  const uint64_t blocks = std::max<uint64_t>(
      2, static_cast<uint64_t>(std::ceil(slots / static_cast<double>(kRibbonWidth))));
  const double rate = BloomRate(millibits_per_key);
  const auto columns = static_cast<uint64_t>(
      std::clamp(std::ceil(-std::log2(rate)), 1.0, static_cast<double>(kRibbonColumnsMax)));
  // A block with a column less doubles the rate of its keys.
  const double spare = rate * std::exp2(static_cast<double>(columns)) - 1;
  uint64_t segments = blocks * columns;
  if (columns > 1 && spare > 0) {
    segments -= static_cast<uint64_t>(static_cast<double>(blocks) * std::min(spare, 1.0));
  }
  if (segments * kRibbonSegmentBytes + kFilterMetadataBytes >=
      FastLocalBloomBytes(keys, millibits_per_key)) {
    return RibbonLayout();
  }
  return RibbonLayout(blocks, segments);
}

bool BuildRibbon(const FilterHashes& hashes, int millibits_per_key, std::string* block) {
  const RibbonLayout layout = RibbonLayoutFor(hashes.size(), millibits_per_key);
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
