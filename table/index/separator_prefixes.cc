// SPDX-License-Identifier: Apache-2.0
#include "table/index/separator_prefixes.h"

#include "util/base/assert.h"

namespace varve {

size_t SeparatorPrefixes::EndOfRun(const StaticBTree& words, size_t low) {
  const uint64_t word = words.word(low);
  return word == UINT64_MAX ? words.size() : words.LowerBound(word + 1);
}

// Short runs, and those in which nothing would be gained, have no node.
const SeparatorPrefixes::Node* SeparatorPrefixes::RunAt(const Node& node, size_t low) const {
  const auto begin = run_firsts_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(node.runs_end);
  const size_t first = node.first + low;
  const auto found =
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(node.runs_begin), end, first);
  return found != end && *found == first ? &runs_[static_cast<size_t>(found - begin)] : nullptr;
}

// Descends from run to run. It ends, because each node's prefix goes further into the key than its
// parent's.
SeparatorPrefixes::Range SeparatorPrefixes::FindInRun(const Slice& key, uint64_t word,
                                                      size_t low) const {
  for (const Node* node = &root_;;) {
    const Node* const run = RunAt(*node, low);
    if (run == nullptr) return {node->first + low, node->first + EndOfRun(node->words, low)};
    node = run;
    size_t place = 0;
    if (!WordOf(*node, key, &word, &place)) return {place, place};
    low = node->words.LowerBound(word);
    const size_t begin = node->first + low;
    if (low == node->words.size() || node->words.word(low) != word) return {begin, begin};
    if (low + 1 == node->words.size() || node->words.word(low + 1) != word) {
      return {begin, begin + 1};
    }
  }
}

// Keys without a word search for 0 meanwhile, so that the loops have no branches on them.
void SeparatorPrefixes::Find(std::span<const Slice> keys, Range* ranges) const {
  VARVE_ASSERT(built_ && keys.size() <= kSoughtMax);
  uint64_t words[kSoughtMax];
  bool has_word[kSoughtMax];
  for (size_t i = 0; i < keys.size(); i++) {
    size_t place = 0;
    has_word[i] = WordOf(root_, keys[i], &words[i], &place);
    if (!has_word[i]) {
      ranges[i] = {place, place};
      words[i] = 0;
    }
  }
  size_t lows[kSoughtMax];
  root_.words.LowerBounds({words, keys.size()}, lows);
  for (size_t i = 0; i < keys.size(); i++) {
    if (has_word[i]) ranges[i] = FindFrom(keys[i], words[i], lows[i]);
  }
}

size_t SeparatorPrefixes::MemoryUsage() const {
  size_t sum = root_.prefix.capacity() + root_.words.MemoryUsage() +
               runs_.capacity() * sizeof(Node) + run_firsts_.capacity() * sizeof(size_t);
  for (const Node& run : runs_) sum += run.prefix.capacity() + run.words.MemoryUsage();
  return sum;
}

}  // namespace varve
