// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks for memory ahead of its use.

#include <cstdint>

namespace varve {

// Where the lines go. The first level is best for what is read next; but some processors carry
// fewer transfers at a time into it, so that dozens of lines that are read later are sooner there
// by the second.
enum class CacheLevel : uint8_t { kFirst, kSecond };

// The cache line of `address`, which is not read: it may lie anywhere.
template <CacheLevel level = CacheLevel::kFirst>
inline void PrefetchLine(const void* address) {
  if constexpr (level == CacheLevel::kFirst) {
    __builtin_prefetch(address, /*rw=*/0, /*locality=*/3);
  } else {
    __builtin_prefetch(address, /*rw=*/0, /*locality=*/2);
  }
  // Without this statement GCC takes a function that only prefetches for one without effect, and
  // drops calls of it that are not inlined.
  asm volatile("");
}

}  // namespace varve
