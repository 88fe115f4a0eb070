// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds a filter block in memory.

#include <cstddef>
#include <utility>

#include "table/block/block_contents.h"
#include "table/filter/filter_bits.h"

namespace varve {

// Thread safety: immutable.
class FilterBlock {
 public:
  explicit FilterBlock(BlockContents&& contents)
      : contents_(std::move(contents)), bits_(FilterBits::Parse(contents_.data)) {}

  [[nodiscard]] const FilterBits& bits() const { return bits_; }
  [[nodiscard]] bool owns_bytes() const { return contents_.owns_bytes(); }
  [[nodiscard]] size_t MemoryUsage() const { return sizeof(*this) + contents_.MemoryUsage(); }

 private:
  const BlockContents contents_;
  const FilterBits bits_;
};

}  // namespace varve
