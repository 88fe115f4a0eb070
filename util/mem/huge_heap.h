// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares a heap on huge pages for pieces of some KiB with random access: cached blocks.
//
// A block cache is far larger than what the TLB covers with small pages, so that each access to it
// would begin with a page-table walk. Up to a quarter of what is in use is kept empty for later
// allocations: the system clears a page before it hands it out again. An allocation usually gets
// the piece of its size that was freed last.

#include <cstddef>

namespace varve {

// A process-wide heap. Thread safety: everything may be called from any thread.
//
// Builds with the address or thread sanitizer use the standard heap, which they check.
class HugeHeap {
 public:
  // Larger pieces come from the standard heap.
  static constexpr size_t kMostBytes = size_t{64} << 10;

  // Returns `bytes` of uninitialised memory at an address that is 16 above a multiple of 64, so
  // that offset 48 begins a cache line. Returns null if there is no memory.
  [[nodiscard]] static char* Allocate(size_t bytes);
  // Frees a piece. Requires the `bytes` of its allocation.
  static void Free(char* data, size_t bytes);

  // Returns the bytes that a piece of `bytes` takes here, its header included.
  [[nodiscard]] static size_t OccupiedBytes(size_t bytes);

  // Returns the bytes that the heap has mapped from the system, without spare pages; for tests.
  [[nodiscard]] static size_t MappedBytes();
};

}  // namespace varve
