// SPDX-License-Identifier: Apache-2.0
#include "table/index/word_tree.h"

#include <algorithm>
#include <utility>

namespace varve {

void WordTree::Build(std::vector<uint64_t> words) {
  size_ = words.size();
  levels_.clear();
  std::vector<uint64_t> level = std::move(words);
  for (;;) {
    const size_t padded = std::max<size_t>(1, (level.size() + kFanout - 1) / kFanout) * kFanout;
    level.resize(padded, UINT64_MAX);
    level.shrink_to_fit();
    const size_t nodes = padded / kFanout;
    levels_.push_back(std::move(level));
    if (nodes == 1) break;
    level.clear();
    for (size_t i = 0; i < nodes; i++) level.push_back(levels_.back()[i * kFanout + kFanout - 1]);
  }
  std::reverse(levels_.begin(), levels_.end());
}

size_t WordTree::MemoryUsage() const {
  size_t sum = levels_.capacity() * sizeof(levels_[0]);
  for (const std::vector<uint64_t>& level : levels_) sum += level.capacity() * sizeof(uint64_t);
  return sum;
}

}  // namespace varve
