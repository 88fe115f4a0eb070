// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the uncompressed bytes of one block, and says who owns their memory.

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "varve/memory_allocator.h"
#include "varve/slice.h"

#include "util/base/assert.h"
#include "util/mem/huge_heap.h"

namespace varve {

// Describes the source of the memory for a block's bytes, and how much of it lies before them.
struct BlockRoom {
  MemoryAllocator* allocator = nullptr;  // null: the system's heap, or the one on huge pages
  size_t front = 0;                      // bytes before the block's, freed with them
  bool huge_pages = false;               // used if there is no allocator

  bool operator==(const BlockRoom&) const = default;
};

// Returns block memory to where AllocateBlockBuffer took it from.
struct BlockBufferDeleter {
  BlockRoom room;
  size_t bytes = 0;  // excludes room.front; HugeHeap needs it

  void operator()(char* buffer) const {
    VARVE_ASSERT(room.allocator == nullptr || !room.huge_pages);
    char* const memory = buffer - room.front;
    if (room.allocator != nullptr) {
      room.allocator->Deallocate(memory);
    } else if (room.huge_pages) {
      HugeHeap::Free(memory, room.front + bytes);
    } else {
      std::free(memory);
    }
  }
};

using BlockBuffer = std::unique_ptr<char, BlockBufferDeleter>;

// Returns null if memory is out. The room's allocator must outlive the buffer.
[[nodiscard]] inline BlockBuffer AllocateBlockBuffer(size_t bytes, const BlockRoom& room) {
  const size_t total = room.front + bytes;
  void* const memory = room.allocator != nullptr ? room.allocator->Allocate(total)
                       : room.huge_pages         ? HugeHeap::Allocate(total)
                                                 : std::malloc(total);
  if (memory == nullptr) return nullptr;
  return BlockBuffer(static_cast<char*>(memory) + room.front, BlockBufferDeleter{room, bytes});
}

// Returns how much memory `bytes` bytes at `memory` occupy: allocators round up.
[[nodiscard]] inline size_t OccupiedBytes(char* memory, size_t bytes, MemoryAllocator* allocator) {
  const size_t usable =
      allocator != nullptr ? allocator->UsableSize(memory, bytes) : malloc_usable_size(memory);
  return std::max(usable, bytes);
}

// `data` points into `buffer`, or, if that is null, into memory that outlives every user: a file
// mapped for the life of its reader.
struct BlockContents {
  Slice data;
  BlockBuffer buffer;
  bool was_compressed = false;

  [[nodiscard]] bool owns_bytes() const { return buffer != nullptr; }
  [[nodiscard]] size_t MemoryUsage() const {
    if (buffer == nullptr) return 0;
    const auto& [room, bytes] = buffer.get_deleter();
    const size_t total = room.front + bytes;
    return room.allocator == nullptr && room.huge_pages
               ? HugeHeap::OccupiedBytes(total)
               : OccupiedBytes(buffer.get() - room.front, total, room.allocator);
  }
};

}  // namespace varve
