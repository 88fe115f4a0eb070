// SPDX-License-Identifier: Apache-2.0
#include "table/index/static_btree.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

// Builds from the words up, each level holding the largest word of every node below it, and turns
// the levels round at the end:
//
//   root    [ 9  40  MAX .. ]
//   words   [ 2 5 .. 9 ] [ 11 .. 40 ] [ 41 77 MAX .. ]
//
// The padding with the largest word lets every node be searched as a full one.
void StaticBTree::Build(std::vector<uint64_t> words) {
  VARVE_ASSERT(std::is_sorted(words.begin(), words.end()));
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
  // The root is a single node, where every search begins.
  VARVE_ASSERT(levels_.back().size() == kFanout);
  std::reverse(levels_.begin(), levels_.end());
}

// Takes all words down one level before the next, and prefetches both lines of the node that each
// will read there.
void StaticBTree::LowerBounds(std::span<const uint64_t> words, size_t* indexes) const {
  std::fill_n(indexes, words.size(), 0);
  for (size_t l = 0; l < levels_.size(); l++) {
    const std::vector<uint64_t>& level = levels_[l];
    const uint64_t* const below = l + 1 < levels_.size() ? levels_[l + 1].data() : nullptr;
    for (size_t k = 0; k < words.size(); k++) {
      const size_t first = indexes[k] * kFanout;
      // Beyond the last node, on this level and all below, every word is smaller.
      size_t smaller = 0;
      if (first < level.size()) {
        const uint64_t* const node = level.data() + first;
        for (size_t i = 0; i < kFanout; i++) smaller += node[i] < words[k] ? 1 : 0;
      }
      indexes[k] = first + smaller;
      if (below != nullptr) {
        PrefetchLine<CacheLevel::kSecond>(below + indexes[k] * kFanout);
        PrefetchLine<CacheLevel::kSecond>(below + indexes[k] * kFanout + kFanout / 2);
      }
    }
  }
  for (size_t k = 0; k < words.size(); k++) indexes[k] = std::min(indexes[k], size_);
}

size_t StaticBTree::MemoryUsage() const {
  size_t sum = levels_.capacity() * sizeof(levels_[0]);
  for (const std::vector<uint64_t>& level : levels_) sum += level.capacity() * sizeof(uint64_t);
  return sum;
}

}  // namespace varve
