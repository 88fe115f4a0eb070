// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides memory whose start is aligned for direct I/O.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace varve {

// Return the largest multiple of the alignment that is at most the value, and the smallest that is
// at least the value; value + alignment - 1 must not overflow.
constexpr uint64_t RoundDown(uint64_t value, uint64_t alignment) {
  return value - value % alignment;
}
constexpr uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return RoundDown(value + alignment - 1, alignment);
}

// Owns uninitialised bytes. Empty after construction and after a failed Allocate.
class AlignedBuffer {
 public:
  // Replaces the memory by `size` bytes, rounded up to `alignment`, a power of two. The old
  // contents are lost, also on failure. Returns false if there is no memory.
  [[nodiscard]] bool Allocate(size_t size, size_t alignment) {
    const size_t rounded = static_cast<size_t>(RoundUp(size, alignment));
    memory_.reset(static_cast<char*>(std::aligned_alloc(alignment, rounded)));
    capacity_ = memory_ == nullptr ? 0 : rounded;
    return memory_ != nullptr;
  }

  char* data() const { return memory_.get(); }
  // Returns the number of bytes at data().
  size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> memory_;
  size_t capacity_ = 0;
};

}  // namespace varve
