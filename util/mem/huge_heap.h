// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares a heap on huge pages for memory with random access: cached blocks of some KiB, and the
// indexes and filters of open tables, of up to a megabyte.
//
// A block cache is far larger than what the TLB covers with small pages, so that each access to it
// would begin with a page-table walk. The heap has independent parts, each of which keeps up to a
// quarter of what it has in use empty, and at least one page, for later allocations: the system
// clears a page before it hands it out again. An allocation usually gets the piece of its size that
// was freed last.
//
// A program must not allocate or free here while it holds a mutex that is held over a fork()
// (util/sync/fork_watch.h): the heap's own locks are taken before a fork, too.

#include <cstddef>
#include <cstdint>
#include <new>

namespace varve {

// A process-wide heap. Thread safety: everything may be called from any thread.
//
// Builds with the address or thread sanitizer use the standard heap, which they check.
class HugeHeap {
 public:
  // Larger pieces come from the standard heap.
  static constexpr size_t kMostBytes = size_t{1} << 20;

  // Number of bytes from the start of a piece to the next cache line.
  static constexpr size_t kToLine = 48;

  // Returns `bytes` of uninitialised memory at an address that is 16 above a multiple of 64, so
  // that a cache line begins at offset kToLine. Returns null if there is no memory.
  [[nodiscard]] static char* Allocate(size_t bytes);
  // Frees a piece. Requires the `bytes` of its allocation.
  static void Free(char* data, size_t bytes);

  // Returns the bytes that a piece of `bytes` takes here, its header included.
  [[nodiscard]] static size_t OccupiedBytes(size_t bytes);

  // Returns the bytes that the heap has mapped from the system, without spare pages; for tests.
  [[nodiscard]] static size_t MappedBytes();
};

// Lets a container keep its elements in the heap, from the start of a cache line on.
template <typename T>
class HugeHeapAllocator {
 public:
  using value_type = T;
  HugeHeapAllocator() = default;
  template <typename Other>
  explicit HugeHeapAllocator(const HugeHeapAllocator<Other>&) {}

  // Throws std::bad_alloc if there is no memory.
  [[nodiscard]] T* allocate(size_t n) {
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    char* const data = HugeHeap::Allocate(n * sizeof(T) + HugeHeap::kToLine);
    if (data == nullptr) throw std::bad_alloc();
    return reinterpret_cast<T*>(data + HugeHeap::kToLine);
  }
  void deallocate(T* data, size_t n) {
    HugeHeap::Free(reinterpret_cast<char*>(data) - HugeHeap::kToLine,
                   n * sizeof(T) + HugeHeap::kToLine);
  }
  // Returns the bytes that an array of `n` elements takes, rounding included; 0 for none.
  [[nodiscard]] static size_t OccupiedBytes(size_t n) {
    return n == 0 ? 0 : HugeHeap::OccupiedBytes(n * sizeof(T) + HugeHeap::kToLine);
  }
  friend bool operator==(const HugeHeapAllocator&, const HugeHeapAllocator&) { return true; }
};

}  // namespace varve
