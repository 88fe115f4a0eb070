// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the length of the common prefix of two byte strings.
//
// It compares eight bytes at a time. In a little-endian word the first byte is the lowest, so the
// number of zero bits at the low end of the difference, divided by eight, is the number of equal
// bytes.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "util/coding/fixed.h"

namespace varve {

// Returns the number of leading bytes in which `a` and `b`, both at least `n` long, agree.
[[nodiscard]] inline size_t SharedPrefix(const char* a, const char* b, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t diff = DecodeFixed64(a + i) ^ DecodeFixed64(b + i);
    if (diff != 0) return i + (static_cast<size_t>(std::countr_zero(diff)) >> 3);
  }
  while (i < n && a[i] == b[i]) i++;
  return i;
}

}  // namespace varve
