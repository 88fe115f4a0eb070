// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the keys of an index block as eight-byte words, which narrow a search down without reading
// the keys themselves.
//
// Words are taken after the common prefix of all keys. If many consecutive keys have equal words,
// as those of a group with a long prefix of its own do, that run gets words of its own, taken after
// the common prefix of the run's keys; and so on. So the time of a search is logarithmic in the
// number of keys, and linear in the length of the key, whatever the keys are.
//
//      keys     user/a/0001   user/b/longname/0001 ... user/b/longname/0400   user/c/0001
//      root_    prefix "user/", words "a/0001"   "b/longna" x 400   "c/0001"
//      runs_[0] skipped 5 bytes, prefix "b/longname/0", words "001" ... "400"
//
// A search for user/b/longname/0137 finds the word "b/longna" in the root, sees that the next word
// is equal, goes to the node of that run, and finds its word there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "table/index/static_btree.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread safety: immutable after Build.
class SeparatorPrefixes {
 public:
  // Result of a search: keys before `begin` are smaller than the key sought, keys from `end` on are
  // not; keys between must be compared.
  struct Range {
    size_t begin;
    size_t end;
  };

  // Builds the words of keys 0 <= i < n, in ascending order of bytes; with `reverse`, in descending
  // order. `key_at(i)` returns a slice: a user key, from which users with timestamps have cut
  // these. If all keys, or those of a run, are out of order, nothing is built for them, and built()
  // is false in the first case.
  template <typename KeyAt>
  void Build(size_t n, bool reverse, const KeyAt& key_at);

  // True if Build succeeded; otherwise none of the methods below may be called.
  [[nodiscard]] bool built() const { return built_; }

  // Returns the keys that must be compared with `key`, which has the form of those of Build: mostly
  // none or one. Calls near(first) where StaticBTree::LowerBound does: the result is likely to lie
  // among the kNear keys from `first` on.
  static constexpr size_t kNear = StaticBTree::kFanout;
  template <typename Near>
  [[nodiscard]] Range Find(const Slice& key, const Near& near) const {
    VARVE_ASSERT(built_);
    uint64_t word = 0;
    size_t place = 0;
    if (!WordOf(root_, key, &word, &place)) return {place, place};
    return FindFrom(key, word, root_.words.LowerBound(word, near));
  }
  [[nodiscard]] Range Find(const Slice& key) const {
    return Find(key, [](size_t) {});
  }
  // Sets ranges[k] to what Find returns for keys[k]. Requires at most kSoughtMax keys. Overlaps the
  // waits for memory.
  static constexpr size_t kSoughtMax = 32;
  void Find(std::span<const Slice> keys, Range* ranges) const;

  // Returns false if key `i` is not `key`. Reads only what a search has just read.
  [[nodiscard]] bool MayBe(size_t i, const Slice& key) const {
    VARVE_ASSERT(built_);
    return root_.words.word(i) == PrefixAfter(root_, key);
  }

  // Returns the bytes that the words and prefixes take.
  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // Shorter runs are compared key by key.
  static constexpr size_t kRunMin = 8;

  // Consecutive keys and their words.
  struct Node {
    size_t first = 0;    // number of the first key
    size_t skipped = 0;  // number of bytes covered by the parent node
    std::string prefix;  // common prefix of the keys, after those bytes
    StaticBTree words;
    // Nodes of the runs in this one, ascending.
    size_t runs_begin = 0;
    size_t runs_end = 0;

    // Returns the number of bytes of a key before its word.
    [[nodiscard]] size_t prefix_end() const { return skipped + prefix.size(); }
  };

  // Sets *word and returns true if the key has the node's prefix; otherwise sets *place to its
  // position among all keys and returns false. Requires that the key has the first `skipped` bytes.
  bool WordOf(const Node& node, const Slice& key, uint64_t* word, size_t* place) const {
    VARVE_ASSERT(key.size() >= node.skipped);
    const size_t n = std::min(key.size() - node.skipped, node.prefix.size());
    int side = n == 0 ? 0 : memcmp(key.data() + node.skipped, node.prefix.data(), n);
    if (side == 0 && n < node.prefix.size()) side = -1;
    if (side != 0) {
      *place = node.first + ((side < 0) != reverse_ ? 0 : node.words.size());
      return false;
    }
    *word = PrefixAfter(node, key);
    return true;
  }
  // Returns the word of a key with the prefix. For other keys it has no meaning, but equal keys
  // have equal words.
  [[nodiscard]] uint64_t PrefixAfter(const Node& node, const Slice& key) const {
    const uint64_t plain = KeyPrefix(key, node.prefix_end());
    return reverse_ ? ~plain : plain;
  }
  // Completes a search. `low` is the position of the first word of the root that is not smaller.
  [[nodiscard]] Range FindFrom(const Slice& key, uint64_t word, size_t low) const {
    const StaticBTree& words = root_.words;
    if (low == words.size() || words.word(low) != word) return {low, low};
    // This is by far the most frequent case.
    if (low + 1 == words.size() || words.word(low + 1) != word) return {low, low + 1};
    return FindInRun(key, word, low);
  }
  // Continues a search in the run of equal words that begins at `low`.
  [[nodiscard]] Range FindInRun(const Slice& key, uint64_t word, size_t low) const;
  // Returns the end of the run that begins at `low`.
  static size_t EndOfRun(const StaticBTree& words, size_t low);
  // Returns the node of the run at `low`, or null if there is none.
  [[nodiscard]] const Node* RunAt(const Node& node, size_t low) const;

  // Fills `node`, which has first and skipped. Returns false if it would be useless.
  template <typename KeyAt>
  bool Fill(size_t n, const KeyAt& key_at, Node* node) const;
  // Adds a node for each run of more than kRunMin equal words in node number `parent`.
  template <typename KeyAt>
  void AddRunsOf(size_t parent, const KeyAt& key_at);
  // Returns a node by number: 0 is the root.
  [[nodiscard]] Node& node(size_t i) { return i == 0 ? root_ : runs_[i - 1]; }

  bool built_ = false;
  // True if the keys descend by bytes; words are complemented then, so that they ascend.
  bool reverse_ = false;
  // Words of all keys; runs_ has the words of runs, those of one parent side by side.
  Node root_;
  std::vector<Node> runs_;
  std::vector<size_t> run_firsts_;  // first key of each of runs_
};

// The common prefix of sorted keys is that of the first and the last. Keys that turn out not to
// have it, or words that descend, show that the keys are out of order.
template <typename KeyAt>
bool SeparatorPrefixes::Fill(size_t n, const KeyAt& key_at, Node* node) const {
  const auto rest = [&](size_t i) {
    Slice key = key_at(node->first + i);
    key.remove_prefix(node->skipped);
    return key;
  };
  const Slice first = rest(0);
  node->prefix.assign(first.data(), first.difference_offset(rest(n - 1)));
  std::vector<uint64_t> words(n);
  for (size_t i = 0; i < n; i++) {
    const Slice key = rest(i);
    if (!key.starts_with(node->prefix)) return false;
    const uint64_t plain = KeyPrefix(key, node->prefix.size());
    words[i] = reverse_ ? ~plain : plain;
    if (i != 0 && words[i - 1] > words[i]) return false;
  }
  // A run whose words are all equal would contain itself as a run.
  if (node != &root_ && words.front() == words.back()) return false;
  node->words.Build(std::move(words));
  return true;
}

// The nodes of one parent are adjacent, so that they can be searched.
template <typename KeyAt>
void SeparatorPrefixes::AddRunsOf(size_t parent, const KeyAt& key_at) {
  const size_t runs_begin = runs_.size();
  const size_t n = node(parent).words.size();
  for (size_t low = 0; low + kRunMin < n;) {
    const StaticBTree& words = node(parent).words;
    if (words.word(low + kRunMin) != words.word(low)) {
      low++;
      continue;
    }
    const size_t end = EndOfRun(words, low);
    Node run;
    run.first = node(parent).first + low;
    run.skipped = node(parent).prefix_end();
    if (Fill(end - low, key_at, &run)) {
      run_firsts_.push_back(run.first);
      runs_.push_back(std::move(run));
    }
    low = end;
  }
  node(parent).runs_begin = runs_begin;
  node(parent).runs_end = runs_.size();
}

// The loop also comes to the nodes that it adds itself. It ends, because only a run whose own words
// differ gets a node, so that the runs in it are shorter.
template <typename KeyAt>
void SeparatorPrefixes::Build(size_t n, bool reverse, const KeyAt& key_at) {
  reverse_ = reverse;
  if (n == 0 || !Fill(n, key_at, &root_)) return;
  for (size_t i = 0; i <= runs_.size(); i++) AddRunsOf(i, key_at);
  runs_.shrink_to_fit();
  run_firsts_.shrink_to_fit();
  built_ = true;
}

}  // namespace varve
