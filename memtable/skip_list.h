// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a skip list (Pugh 1990) whose nodes are the entries themselves: many threads insert
// without a lock, and nothing is ever deleted.
//
// A node is an entry in the arena with its links before it, the lowest next to the entry:
//   link h-1 | ... | link 1 | link 0 | entry
//
// Why it is right with any number of threads:
// 1. *Level 0 decides.* The order of level 0 is the content of the list. A node is in once a
//    compare-and-swap has put it between two neighbours there. As nodes stay, nodes that were
//    neighbours at the swap had nothing between them, in particular no equal key.
// 2. *A link publishes.* It is swapped in with release and followed with acquire: a thread that
//    reaches a node sees its entry and the links of its lower levels.
// 3. *Nodes are linked from the bottom up.* A node is linked on a level once it is on all below. So
//    a node that bounds a search on one level is found on every lower one, and a search that meets
//    a node which is not on all its levels yet only takes a detour.
// 4. *Places nest.* Within a place, the gap on a level lies within the gap of the level above. A
//    place found for one key is a hint for the next: if one of its gaps is still a gap and holds
//    the key, then all gaps above hold it as well. After a failed swap the place is searched anew.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/insert_hint.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread safety: all methods may be called from any thread; no thread waits for another. Lifetime:
// the arena outlives it, and nodes live as long as the arena.
class SkipList {
 public:
  class Node;
  // One node in four of a level is on the next one: enough for 16 million entries.
  static constexpr uint32_t kMaxHeight = 12;

  // An internal key to be searched for.
  struct Target {
    Slice user_key;
    uint64_t trailer;
  };
  // A node to be linked.
  struct Addition {
    Target target;
    Node* node;
    uint32_t height;
    size_t value_bytes;
  };
  // The neighbours of a key that the list may hold; null is an end of the list.
  struct Neighbours {
    const Node* before;  // The last node before the key.
    const Node* at;      // The first node at or after it.
  };

  // Throws std::bad_alloc.
  SkipList(const InternalKeyComparator& icmp, EntryArena* arena);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // Creates a node in the arena, not yet linked. Throws std::bad_alloc.
  Addition Make(const MemTableEntry& entry);
  // True if the addition's internal key comes first.
  [[nodiscard]] bool IsBefore(const Addition& a, const Addition& b) const {
    const int order = icmp_.CompareUserKey(a.target.user_key, b.target.user_key);
    return order != 0 ? order < 0 : a.target.trailer > b.target.trailer;
  }
  // Links the nodes; fastest in ascending order, where each search continues from the previous one.
  // Returns false if the internal key of a node is there already: the nodes before it are linked
  // then, and those after it are not. The same holds if the comparator throws, which this call
  // passes on.
  bool Insert(std::span<const Addition> additions);

  // Finds the neighbours of the target.
  [[nodiscard]] Neighbours Find(const Target& target) const;
  // Returns <0, 0 or >0 if the node's key is before, at or after the target.
  [[nodiscard]] int Compare(const Node* node, const Target& target) const;
  // Return the first node, the last one, and the one after `node`; null if there is none.
  [[nodiscard]] const Node* First() const { return Next(head_); }
  [[nodiscard]] const Node* Last() const;
  [[nodiscard]] static const Node* Next(const Node* node);
  [[nodiscard]] static const MemEntry* EntryOf(const Node* node) {
    return MemEntry::At(reinterpret_cast<const char*>(node));
  }

  // Estimates the number of entries before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const;
  [[nodiscard]] EntryTotals totals() const { return alone_counts_.Plus(shared_counts_); }

 private:
  // The nodes between which a key belongs, on each level. A null right node is the end.
  struct Place {
    Node* before[kMaxHeight];
    Node* after[kMaxHeight];
  };

  // Draws the height of a node.
  static uint32_t RandomHeight();
  // Allocates a node with room for its links and the entry.
  Node* NewNode(uint32_t height, size_t entry_bytes);
  // Makes the place one that says nothing, so that the next search begins at the top.
  void Forget(Place* place) const;
  // Returns the lowest tested level whose gap contains the target; kMaxHeight if none.
  uint32_t LevelOfHint(const Target& target, const Place& place) const;
  // Finds the target's place on all levels below `from`, on which it is known; kMaxHeight searches
  // from the top. Returns true if the list has the target. With `from` 0 it searches nothing and
  // returns false: LevelOfHint has shown that the gap does not hold the target.
  bool FindPlace(const Target& target, uint32_t from, Place* place) const;
  // Links the node on level 0. Returns false if the internal key is there.
  bool Link(const Addition& added, Place* place);
  // Links the node on the levels from 1 up. Returns false if there was contention, or the
  // comparator threw: `place` must then be searched anew.
  bool LinkAbove(const Addition& added, Place* place) noexcept;
  // Links the node on one level. Returns false if another node has come in between.
  bool SwapIn(const Addition& added, uint32_t level, const Place& place);
  // Raises height_ to at least this.
  void RaiseHeight(uint32_t height);

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  Node* const head_;  // Before all keys; its entry is never read.
  // Height of the highest node. A search that starts lower takes longer, and finds the same.
  std::atomic<uint32_t> height_{1};

  // Used by writers only, on cache lines apart from what readers load. The place of the last
  // insertion, for the holder of the flag.
  alignas(64) InsertHintFlag hint_flag_;
  Place hint_;
  EntryCounters alone_counts_;  // Counted by the holders.
  alignas(64) EntryCounters shared_counts_;
};

}  // namespace varve
