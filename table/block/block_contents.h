// SPDX-License-Identifier: Apache-2.0
#pragma once

// The uncompressed bytes of one block, and whose memory they are.

#include <cstddef>
#include <memory>
#include <new>

#include "varve/memory_allocator.h"
#include "varve/slice.h"

namespace varve {

// Gives block memory back to where AllocateBlockBuffer took it from.
struct BlockBufferDeleter {
  MemoryAllocator* allocator = nullptr;  // null: operator new
  void operator()(char* buffer) const {
    if (allocator != nullptr) {
      allocator->Deallocate(buffer);
    } else {
      ::operator delete(buffer);
    }
  }
};

using BlockBuffer = std::unique_ptr<char, BlockBufferDeleter>;

// Null when memory is out. `allocator` may be null and outlives the buffer.
[[nodiscard]] inline BlockBuffer AllocateBlockBuffer(size_t bytes, MemoryAllocator* allocator) {
  void* memory =
      allocator != nullptr ? allocator->Allocate(bytes) : ::operator new(bytes, std::nothrow);
  return BlockBuffer(static_cast<char*>(memory), BlockBufferDeleter{allocator});
}

// `data` points into `buffer`, or with a null buffer into memory that outlives every user: a file
// mapped for the life of its reader.
struct BlockContents {
  Slice data;
  BlockBuffer buffer;
  size_t buffer_bytes = 0;  // what the buffer occupies; 0 without one

  [[nodiscard]] bool owns_bytes() const { return buffer != nullptr; }
};

}  // namespace varve
