// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the uncompressed bytes of one block, and says who owns their memory.
//
//      allocation   [ room.front | bytes of the block ............ ]
//                                 ^ BlockBuffer points here
//
// The room before the bytes is for the Block object and its index and, in front of both, for an
// entry of the block cache (table/block/block.h): a cached block is one allocation. The memory
// comes from one of three places: the allocator of the cache, the heap on huge pages, or the
// system's heap. The deleter of a buffer knows which one, so that a buffer may be passed around
// like any unique_ptr.
//
// A block of a mapped file owns no bytes. Its Slice points into the mapping, which lives as long as
// the table's reader.

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

  // Frees the whole allocation, of which `buffer` is a part.
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

// Owns the bytes of a block, with room before them.
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
  // True if the block was compressed in the file.
  bool was_compressed = false;

  // False if the bytes belong to a mapped file.
  [[nodiscard]] bool owns_bytes() const { return buffer != nullptr; }
  // Returns how much memory the bytes occupy, the room before them included; 0 if they are not
  // owned.
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
