// SPDX-License-Identifier: Apache-2.0
#pragma once

// The uncompressed bytes of one block, and whose memory they are.

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "varve/memory_allocator.h"
#include "varve/slice.h"

namespace varve {

// Gives block memory back to where AllocateBlockBuffer took it from.
struct BlockBufferDeleter {
  MemoryAllocator* allocator = nullptr;  // null: malloc
  void operator()(char* buffer) const {
    if (allocator != nullptr) {
      allocator->Deallocate(buffer);
    } else {
      std::free(buffer);
    }
  }
};

using BlockBuffer = std::unique_ptr<char, BlockBufferDeleter>;

// Null when memory is out. `allocator` may be null and outlives the buffer.
[[nodiscard]] inline BlockBuffer AllocateBlockBuffer(size_t bytes, MemoryAllocator* allocator) {
  void* memory = allocator != nullptr ? allocator->Allocate(bytes) : std::malloc(bytes);
  return BlockBuffer(static_cast<char*>(memory), BlockBufferDeleter{allocator});
}

// What such a buffer of `bytes` bytes occupies: allocators round up.
[[nodiscard]] inline size_t OccupiedBytes(char* buffer, size_t bytes, MemoryAllocator* allocator) {
  const size_t usable =
      allocator != nullptr ? allocator->UsableSize(buffer, bytes) : malloc_usable_size(buffer);
  return std::max(usable, bytes);
}

// `data` points into `buffer`, or with a null buffer into memory that outlives every user: a file
// mapped for the life of its reader.
struct BlockContents {
  Slice data;
  BlockBuffer buffer;
  size_t buffer_bytes = 0;  // as allocated; 0 without one

  [[nodiscard]] bool owns_bytes() const { return buffer != nullptr; }
  [[nodiscard]] size_t MemoryUsage() const {
    if (buffer == nullptr) return 0;
    return OccupiedBytes(buffer.get(), buffer_bytes, buffer.get_deleter().allocator);
  }
};

}  // namespace varve
