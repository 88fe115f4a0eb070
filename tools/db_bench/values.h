// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes values: windows that slide over a pool of bytes of known compressibility.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "varve/slice.h"

namespace varve::bench {

// Holds the bytes that all values are cut from. It is immutable, so threads share it.
class ValuePool {
 public:
  // The pool can hold any value of up to `largest` bytes.
  explicit ValuePool(size_t largest);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Yields the values of one thread, one after the other.
class ValueStream {
 public:
  // `pool` must outlive this. `size` is the bytes of each value; 0 means as
  // --value_size_distribution_type says.
  ValueStream(const ValuePool& pool, size_t size);

  // Returns a slice that points into the pool.
  Slice Next() { return Next(size_ != 0 ? size_ : DrawSize()); }
  // Requires that `size` is at most the pool's largest value.
  Slice Next(size_t size);

 private:
  size_t DrawSize();

  const ValuePool& pool_;
  const size_t size_;
  size_t position_ = 0;
  std::mt19937_64 sizes_{301};
};

// Return the bytes of the largest value that the flags ask for, and of the mean one.
size_t LargestValue();
size_t MeanValue();
// Returns false, with a line on stderr, if the flags contradict each other.
[[nodiscard]] bool CheckValueFlags();

}  // namespace varve::bench
