// SPDX-License-Identifier: Apache-2.0
#pragma once

// Designs a Bloom filter whose keys each stay in one cache line ("blocked": Putze, Sanders and
// Singler, 2007): the number of bits that a key sets, the false-positive rate, and the size.

#include <cstddef>

namespace varve {

// Returns the share of absent keys that match all the same. Keys fall into lines at random, so a
// line's number of keys is Poisson-distributed: the result is the mean error over lines of each
// number.
[[nodiscard]] double BloomFalsePositives(int millibits_per_key, int probes);

// Thread safety: immutable.
class BloomDesign {
 public:
  // Designs a filter with this many thousandths of a bit of space per key.
  explicit BloomDesign(int millibits_per_key);

  [[nodiscard]] int probes() const { return probes_; }  // number of bits that a key sets, 1..24
  [[nodiscard]] double false_positives() const { return false_positives_; }
  // Returns the size of a block for this many keys, metadata included.
  [[nodiscard]] size_t Bytes(size_t keys) const;

 private:
  // The density, the number of bits set per key, and the expected rate of false positives.
  int millibits_per_key_;
  int probes_;
  double false_positives_;
};

}  // namespace varve
