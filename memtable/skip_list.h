// SPDX-License-Identifier: Apache-2.0
#pragma once

// A skip list (Pugh 1990) whose nodes are the entries themselves: many threads insert without a
// lock, nothing is ever deleted.
//
// A node is an entry in the arena with its links before it, the lowest next to the entry:
//   link h-1 | ... | link 1 | link 0 | entry
//
// Why it is right with any number of threads:
// 1. *Level 0 decides.* The order of level 0 is what the list holds. A node is in once a
//    compare-and-swap has put it between two neighbours there; as nodes stay, neighbours that were
//    neighbours at the swap had nothing between them, an equal key least of all.
// 2. *A link publishes.* It is swapped in with release and followed with acquire: a thread that
//    reaches a node sees its entry and the links of its lower levels.
// 3. *From the bottom up.* A node is linked on a level once it is on all below. So whatever bounds
//    a search on one level is met on every lower one, and a search that ends early on a node that
//    is not on all its levels yet has only taken a detour.
// 4. *Places nest.* Of a place, the gap on a level lies within the gap of the level above. One that
//    was found for a key serves the next key as a hint if a gap of it is still one, and holds the
//    key: then all gaps above hold it as well. After a swap that failed the place is found anew.

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

// Thread safety: all methods from any thread; no thread waits for another.
// Lifetime: the arena outlives it, and nodes live as long as the arena.
class SkipList {
 public:
  class Node;
  // One node in four of a level is on the next one: enough for 16 million entries.
  static constexpr uint32_t kMaxHeight = 12;

  struct Target {
    Slice user_key;
    uint64_t trailer;
  };
  // A node that is to be linked.
  struct Addition {
    Target target;
    Node* node;
    uint32_t height;
    size_t value_bytes;
  };
  // The neighbours of a key that the list may hold: null stands for its ends.
  struct Neighbours {
    const Node* before;  // the last node before the key
    const Node* at;      // the first one that is not
  };

  // Throws std::bad_alloc.
  SkipList(const InternalKeyComparator& icmp, EntryArena* arena);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // In the arena, and nowhere else so far. Throws std::bad_alloc.
  Addition Make(const MemTableEntry& entry);
  [[nodiscard]] bool IsBefore(const Addition& a, const Addition& b) const {
    const int order = icmp_.CompareUserKey(a.target.user_key, b.target.user_key);
    return order != 0 ? order < 0 : a.target.trailer > b.target.trailer;
  }
  // Links them; fastest in ascending order, where each search goes on from the one before. False:
  // the internal key of one is there, and those after it were not linked. Throws what the
  // comparator does; those before are linked then.
  bool Insert(std::span<const Addition> additions);

  [[nodiscard]] Neighbours Find(const Target& target) const;
  [[nodiscard]] int Compare(const Node* node, const Target& target) const;
  [[nodiscard]] const Node* First() const { return Next(head_); }
  [[nodiscard]] const Node* Last() const;  // null: it is empty
  [[nodiscard]] static const Node* Next(const Node* node);
  [[nodiscard]] static const MemEntry* EntryOf(const Node* node) {
    return MemEntry::At(reinterpret_cast<const char*>(node));
  }

  // About how many entries lie before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const;
  [[nodiscard]] EntryTotals totals() const { return alone_counts_.Plus(shared_counts_); }

 private:
  // On each level, the nodes between which a key belongs. Null as the right one: the end.
  struct Place {
    Node* before[kMaxHeight];
    Node* after[kMaxHeight];
  };

  static uint32_t RandomHeight();
  Node* NewNode(uint32_t height, size_t entry_bytes);
  void Forget(Place* place) const;
  // The lowest level whose gap serves the target, of those that are asked; the list's height: none.
  uint32_t LevelOfHint(const Target& target, const Place& place) const;
  // Finds the target's place on all levels below `from`, on which it is known; kMaxHeight: from the
  // top. Returns whether the target is there, which it is not if all levels were known.
  bool FindPlace(const Target& target, uint32_t from, Place* place) const;
  bool Link(const Addition& added, Place* place);
  // On levels from 1 up; false: there was contention, or the comparator threw, and `place` must be
  // found anew.
  bool LinkAbove(const Addition& added, Place* place) noexcept;
  bool SwapIn(const Addition& added, uint32_t level, const Place& place);
  void RaiseHeight(uint32_t height);

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  Node* const head_;  // before all keys; its entry is never looked at
  // Of the highest node. A search that starts lower than that takes longer, and finds the same.
  std::atomic<uint32_t> height_{1};

  // Writers only, away from what readers load. The place of the last insertion, for the holder of
  // the flag.
  alignas(64) InsertHintFlag hint_flag_;
  Place hint_;
  EntryCounters alone_counts_;  // of the holders
  alignas(64) EntryCounters shared_counts_;
};

}  // namespace varve
