// SPDX-License-Identifier: Apache-2.0
#pragma once

// A static search tree over ascending 64-bit words: two cache lines per level, no branches on data.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// Thread safety: immutable after Build.
class StaticBTree {
 public:
  // Requires ascending `words`; equal ones are allowed.
  void Build(std::vector<uint64_t> words);

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint64_t word(size_t i) const {
    VARVE_ASSERT(i < size_);
    return levels_.back()[i];
  }
  // Returns the index of the first word >= `word`, or size() if there is none.
  [[nodiscard]] size_t LowerBound(uint64_t word) const {
    size_t index = 0;
    for (const std::vector<uint64_t>& level : levels_) {
      // Beyond the last node every word is smaller.
      if (index * kFanout >= level.size()) return size_;
      const uint64_t* node = level.data() + index * kFanout;
      size_t smaller = 0;
      for (size_t i = 0; i < kFanout; i++) smaller += node[i] < word ? 1 : 0;
      index = index * kFanout + smaller;
    }
    return index < size_ ? index : size_;
  }
  // Sets indexes[k] to the LowerBound of words[k], for all words level by level, so that the waits
  // for memory overlap.
  void LowerBounds(std::span<const uint64_t> words, size_t* indexes) const;
  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // Words of a node, which is two cache lines.
  static constexpr size_t kFanout = 16;

  // Levels from the root, which is one node, down to the words themselves. Each is padded with the
  // largest word to whole nodes; word i of an upper level is the largest of node i below it.
  std::vector<std::vector<uint64_t>> levels_;
  size_t size_ = 0;
};

}  // namespace varve
