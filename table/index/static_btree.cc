// SPDX-License-Identifier: Apache-2.0
#include "table/index/static_btree.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

// Builds from the words up, each level holding the largest word of every node below it, and joins
// the levels in the other order:
//
//   root    [ 9  40  MAX .. ]
//   words   [ 2 5 .. 9 ] [ 11 .. 40 ] [ 41 77 MAX .. ]
//
// The padding with the largest word lets every node be searched as a full one.
void StaticBTree::Build(std::vector<uint64_t> words) {
  VARVE_ASSERT(std::is_sorted(words.begin(), words.end()));
  size_ = words.size();
  std::vector<std::vector<uint64_t>> levels;
  std::vector<uint64_t> level = std::move(words);
  size_t total = 0;
  for (;;) {
    const size_t padded = std::max<size_t>(1, (level.size() + kFanout - 1) / kFanout) * kFanout;
    level.resize(padded, UINT64_MAX);
    total += padded;
    levels.push_back(std::move(level));
    if (padded == kFanout) break;
    level.clear();
    for (size_t i = kFanout - 1; i < padded; i += kFanout) level.push_back(levels.back()[i]);
  }
  VARVE_ASSERT(levels.size() <= kLevelsMost);
  nodes_.clear();
  nodes_.reserve(total);
  levels_ = levels.size();
  for (size_t l = 0; l < levels_; l++) {
    const std::vector<uint64_t>& from_root = levels[levels_ - 1 - l];
    begins_[l] = nodes_.size();
    nodes_.insert(nodes_.end(), from_root.begin(), from_root.end());
  }
  begins_[levels_] = nodes_.size();
}

// Takes all words down one level before the next, and prefetches both lines of the node that each
// will read there.
void StaticBTree::LowerBounds(std::span<const uint64_t> words, size_t* indexes) const {
  std::fill_n(indexes, words.size(), 0);
  for (size_t l = 0; l < levels_; l++) {
    const size_t size = begins_[l + 1] - begins_[l];
    const uint64_t* const level = nodes_.data() + begins_[l];
    const uint64_t* const below = l + 1 < levels_ ? nodes_.data() + begins_[l + 1] : nullptr;
    for (size_t k = 0; k < words.size(); k++) {
      const size_t first = indexes[k] * kFanout;
      // Beyond the last node, on this level and all below, every word is smaller.
      const size_t smaller = first < size ? CountSmaller(level + first, words[k]) : 0;
      indexes[k] = first + smaller;
      if (below != nullptr && indexes[k] * kFanout < begins_[l + 2] - begins_[l + 1]) {
        PrefetchLine<CacheLevel::kSecond>(below + indexes[k] * kFanout);
        PrefetchLine<CacheLevel::kSecond>(below + indexes[k] * kFanout + kFanout / 2);
      }
    }
  }
  for (size_t k = 0; k < words.size(); k++) indexes[k] = std::min(indexes[k], size_);
}

size_t StaticBTree::MemoryUsage() const {
  return HugeHeapAllocator<uint64_t>::OccupiedBytes(nodes_.capacity());
}

}  // namespace varve
