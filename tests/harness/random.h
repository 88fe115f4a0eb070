// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides seeded random choices for tests: the same seed gives the same test, on every machine.

#include <cstdint>
#include <string>

namespace varve::testing {

// The generator splitmix64. Thread safety: none.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, n). Requires n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Returns a number skewed towards 0: a uniform number of bits, then uniform below.
  uint64_t Skewed(int max_bits) {
    return Below(uint64_t{1} << Below(static_cast<uint64_t>(max_bits) + 1));
  }
  // Returns letters, half of them repeated, so that compression has an effect.
  std::string Text(size_t n) {
    std::string text(n, 'x');
    for (size_t i = 0; i < n; i += 2) text[i] = static_cast<char>('a' + Below(26));
    return text;
  }

 private:
  uint64_t state_;
};

}  // namespace varve::testing
