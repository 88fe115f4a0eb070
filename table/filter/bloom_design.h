// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a Bloom filter is made whose keys each keep to one cache line ("blocked": Putze, Sanders and
// Singler, 2007): how many bits a key sets, how often the filter then errs, and what it takes.

#include <cstddef>

namespace varve {

// Share of absent keys that match all the same. Keys fall into lines like drops of rain, so that a
// line's number of keys is Poisson-distributed: the mean over what a line of each number errs.
[[nodiscard]] double BloomFalsePositives(int millibits_per_key, int probes);

// Thread safety: immutable.
class BloomDesign {
 public:
  // So many thousandths of a bit of space for each key.
  explicit BloomDesign(int millibits_per_key);

  [[nodiscard]] int probes() const { return probes_; }  // bits that a key sets, 1..24
  [[nodiscard]] double false_positives() const { return false_positives_; }
  // Size of the block of so many keys, metadata included.
  [[nodiscard]] size_t Bytes(size_t keys) const;

 private:
  int millibits_per_key_;
  int probes_;
  double false_positives_;
};

}  // namespace varve
