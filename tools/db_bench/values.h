// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values: windows that slide over a pool of bytes of known compressibility.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "varve/slice.h"

namespace varve::bench {

// The bytes after all values. Immutable, so that threads share it.
class ValuePool {
 public:
  // Holds any value of up to `largest` bytes.
  explicit ValuePool(size_t largest);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The values of one thread, one after the other.
class ValueStream {
 public:
  // `pool` must outlive this. `size`: bytes of each value; 0: as
  // --value_size_distribution_type says.
  ValueStream(const ValuePool& pool, size_t size);

  // Points into the pool.
  Slice Next() { return Next(size_ != 0 ? size_ : DrawSize()); }
  // `size` at most the pool's largest value.
  Slice Next(size_t size);

 private:
  size_t DrawSize();

  const ValuePool& pool_;
  const size_t size_;
  size_t position_ = 0;
  std::mt19937_64 sizes_{301};
};

// Bytes of the largest value that the flags ask for, and of the mean one.
size_t LargestValue();
size_t MeanValue();
// False, with a line on stderr, if the flags contradict each other.
[[nodiscard]] bool CheckValueFlags();

}  // namespace varve::bench
