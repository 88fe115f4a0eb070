// SPDX-License-Identifier: Apache-2.0
#pragma once

// A heap on huge pages, for pieces of some KiB that are looked into at random: cached blocks.
//
// Such memory is far larger than what the processor can translate with small pages, so that each
// look would begin with a walk through the page tables. Up to a quarter of what is in use is kept
// empty for what comes next: a page that the system takes back is cleared before it gives it again.
// A small piece that is asked for after another of its size was given back is that one, as a rule.

#include <cstddef>

namespace varve {

// Process-wide. Thread safety: everything may be called from any thread.
//
// Builds with the address or thread sanitizer take all from the standard heap, which they watch.
class HugeHeap {
 public:
  // Larger pieces come from the standard heap.
  static constexpr size_t kMostBytes = size_t{64} << 10;

  // `bytes` of uninitialised memory at an address that is 16 above a multiple of 64: what lies 48
  // bytes in begins a cache line. Null when there is no memory.
  [[nodiscard]] static char* Allocate(size_t bytes);
  // With the same `bytes`.
  static void Free(char* data, size_t bytes);

  // What a piece of `bytes` takes here, its header included.
  [[nodiscard]] static size_t OccupiedBytes(size_t bytes);

  // Bytes taken from the system and not given back, by all, without spare pages; for tests.
  [[nodiscard]] static size_t MappedBytes();
};

}  // namespace varve
