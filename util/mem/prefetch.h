// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prefetches memory ahead of its use.

#include <cstdint>

namespace varve {

// Target of a prefetch. The first level is best for what is read next; but some processors carry
// fewer concurrent transfers into it, so that dozens of lines that are read later arrive sooner in
// the second.
enum class CacheLevel : uint8_t { kFirst, kSecond };

// Prefetches the cache line of `address`. The address is not read, so it need not be valid.
template <CacheLevel level = CacheLevel::kFirst>
inline void PrefetchLine(const void* address) {
  if constexpr (level == CacheLevel::kFirst) {
    __builtin_prefetch(address, /*rw=*/0, /*locality=*/3);
  } else {
    __builtin_prefetch(address, /*rw=*/0, /*locality=*/2);
  }
  // Without this statement GCC treats a function that only prefetches as one without effect, and
  // drops calls of it that are not inlined.
  asm volatile("");
}

}  // namespace varve
