// SPDX-License-Identifier: Apache-2.0
#pragma once

// A static search tree over ascending 64-bit words: two cache lines per level, no branches on data.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/base/assert.h"
#include "util/mem/huge_heap.h"

namespace varve {

// Thread safety: immutable after Build.
class StaticBTree {
 public:
  // Requires ascending `words`; equal ones are allowed.
  void Build(std::vector<uint64_t> words);

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint64_t word(size_t i) const {
    VARVE_ASSERT(i < size_);
    return nodes_[begins_[levels_ - 1] + i];
  }
  // Returns the index of the first word >= `word`, or size() if there is none. As soon as it is
  // known that this is one of the kFanout indexes from `first` on, or the one after them, calls
  // near(first), which may prefetch what belongs to them while the words are waited for.
  template <typename Near>
  [[nodiscard]] size_t LowerBound(uint64_t word, const Near& near) const {
    size_t index = 0;
    for (size_t l = 0; l < levels_; l++) {
      const size_t first = index * kFanout;
      // Beyond the last node every word is smaller.
      if (first >= begins_[l + 1] - begins_[l]) return size_;
      if (l + 1 == levels_) near(first);
      index = first + CountSmaller(&nodes_[begins_[l] + first], word);
    }
    return index < size_ ? index : size_;
  }
  [[nodiscard]] size_t LowerBound(uint64_t word) const {
    return LowerBound(word, [](size_t) {});
  }
  // Sets indexes[k] to the LowerBound of words[k], for all words level by level, so that the waits
  // for memory overlap.
  void LowerBounds(std::span<const uint64_t> words, size_t* indexes) const;
  [[nodiscard]] size_t MemoryUsage() const;

  // Words of a node, which is two cache lines.
  static constexpr size_t kFanout = 16;

 private:
  // More than the levels of any tree: each multiplies the number of words by kFanout.
  static constexpr size_t kLevelsMost = 16;

  // Returns the number of words of the node that are smaller.
  [[nodiscard]] static size_t CountSmaller(const uint64_t* node, uint64_t word) {
    size_t smaller = 0;
    for (size_t i = 0; i < kFanout; i++) smaller += node[i] < word ? 1 : 0;
    return smaller;
  }

  // Levels from the root, which is one node, down to the words themselves, one after the other.
  // Each is padded with the largest word to whole nodes; word i of an upper level is the largest of
  // node i below it.
  std::vector<uint64_t, HugeHeapAllocator<uint64_t>> nodes_;
  // Level l is [begins_[l], begins_[l + 1]) of nodes_.
  std::array<size_t, kLevelsMost + 1> begins_{};
  size_t levels_ = 0;
  size_t size_ = 0;
};

}  // namespace varve
