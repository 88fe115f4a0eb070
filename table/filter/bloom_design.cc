// SPDX-License-Identifier: Apache-2.0

// Models the false-positive rate, and derives the design from it.

#include "table/filter/bloom_design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "table/filter/cache_line_bloom.h"
#include "table/filter/filter_hashes.h"

namespace varve {
namespace {

constexpr double kLineBits = kFilterLineBytes * 8;

// Millibits per key from which on a key sets 2, 3, ... bits: the fewest bits whose rate is within a
// five hundredth of the lowest rate of BloomFalsePositives. Each bit costs time, and the rate is
// flat around its lowest. Computed in steps of ten millibits; the test computes it again.
constexpr std::array<int, 23> kFirstWithOneMore = {
    2090,  3600,  5120,  6680,  8320,  10050, 11890, 13880, 16040, 18400, 21010, 23890,
    27110, 30720, 34780, 39370, 44580, 50520, 57310, 65090, 74060, 84400, 96380};

int ProbesFor(int millibits_per_key) {
  const auto more =
      std::upper_bound(kFirstWithOneMore.begin(), kFirstWithOneMore.end(), millibits_per_key);
  return 1 + static_cast<int>(more - kFirstWithOneMore.begin());
}

}  // namespace

double BloomFalsePositives(int millibits_per_key, int probes) {
  // With less than a bit per key the first terms of the sum are too small to be computed.
  const double mean = kLineBits * 1000 / std::max(millibits_per_key, 1000);
  const double stays_zero = std::pow(1 - 1 / kLineBits, probes);  // of a bit, when one key is added
  double share = std::exp(-mean);                                 // of lines that have `keys` keys
  double zeros = 1;                                               // share of zero bits in it
  double sum = 0;
  // Beyond the mean the shares fall quickly; terms that change the sum no more are left out.
  for (int keys = 0; keys < mean || share > sum * 1e-6; keys++) {
    sum += share * std::pow(1 - zeros, probes);
    share *= mean / (keys + 1);
    zeros *= stays_zero;
  }
  return sum;
}

BloomDesign::BloomDesign(int millibits_per_key)
    : millibits_per_key_(millibits_per_key),
      probes_(ProbesFor(millibits_per_key)),
      false_positives_(BloomFalsePositives(millibits_per_key, probes_)) {}

// Rounds up to whole bytes, of 8,000 millibits each, and then to whole lines.
size_t BloomDesign::Bytes(size_t keys) const {
  const uint64_t millibits =
      uint64_t{keys} * static_cast<uint64_t>(std::max(millibits_per_key_, 1));
  const uint64_t bytes = (millibits + 7999) / 8000;
  const uint64_t lines = (bytes + kFilterLineBytes - 1) / kFilterLineBytes;
  return static_cast<size_t>(std::min(lines * kFilterLineBytes, kBloomBytesMax)) +
         kFilterMetadataBytes;
}

}  // namespace varve
