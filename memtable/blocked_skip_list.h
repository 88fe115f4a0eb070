// SPDX-License-Identifier: Apache-2.0
#pragma once

// A skip list whose nodes are blocks of (key prefix, arena offset) slots: every level is a list of
// blocks that is walked to the right, and then down. Seen from the side it is a B-link tree (Lehman
// and Yao 1981) with optimistic readers. Most steps of a search compare integers, and a scan copies
// a block at a time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/insert_hint.h"
#include "memtable/key_prefixes.h"
#include "memtable/lock_ranks.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: Insert and all reads may run in any number of threads at once. What reads write
// nobody has to see: the lock of CopyLocked, and the order of a leaf's slots when one is copied.
// README.md has the argument.
// Lifetime: entries and nodes lie in the arena, which outlives the list, and never move.
class BlockedSkipList {
 public:
  class Node;
  class NodeLock;
  static constexpr uint32_t kSlots = 39;

  struct Target {
    uint64_t prefix;
    Slice user_key;
    uint64_t trailer;
  };
  struct Slot {
    uint64_t prefix;
    ArenaOffset offset;
  };
  // An entry to be linked.
  struct Addition {
    Target target;
    ArenaOffset offset;
    size_t value_bytes;
  };
  static constexpr size_t kTogether = 16;
  enum class InsertResult : uint8_t { kAll, kIsThere, kThrew };
  // What a leaf held at one moment, in order.
  struct LeafCopy {
    uint32_t count = 0;
    const Node* leaf = nullptr;
    const Node* next = nullptr;  // the leaf to the right at that moment, may be null
    SequenceNumber newest = 0;   // no entry of the copy is newer
    // Bit i, if the key prefixes of slots i - 1 and i are equal: their user keys are, timestamp
    // included; 0 says nothing.
    uint64_t versions = 0;
    Slot slots[kSlots];
  };
  // `nodes_at_once`: how many nodes are taken from the arena together. `common_prefix`: what most
  // keys are expected to begin with; key prefixes are taken after it. Throws std::bad_alloc.
  BlockedSkipList(const InternalKeyComparator& icmp, EntryArena* arena, uint32_t nodes_at_once,
                  const Slice& common_prefix = Slice());
  BlockedSkipList(const BlockedSkipList&) = delete;
  BlockedSkipList& operator=(const BlockedSkipList&) = delete;

  [[nodiscard]] Target MakeTarget(const Slice& user_key, uint64_t trailer) const {
    return Target{prefixes_.Of(user_key), user_key, trailer};
  }
  [[nodiscard]] const MemEntry* EntryAt(ArenaOffset offset) const {
    return MemEntry::At(arena_->At(offset));
  }
  // Of two internal keys whose key prefixes are equal. A comparator of the user is not called:
  // kUnknown.
  [[nodiscard]] SameKey SameKeyDespitePrefixes(const Slice& a, const Slice& b) const {
    if (!BytesDecide(icmp_.order())) return SameKey::kUnknown;
    return icmp_.EqualKey(icmp_.KeyOf(a), icmp_.KeyOf(b)) ? SameKey::kYes : SameKey::kNo;
  }

  // Links the entry. False, with nothing changed, when the internal key is already there. Throws
  // std::bad_alloc, or what the comparator does, with nothing changed.
  bool Insert(const Target& target, ArenaOffset offset, size_t value_bytes);
  // Links up to kTogether entries whose trailers all differ, ordered by key prefix; their searches
  // wait for memory together, and they are counted once. What is linked is always a prefix of them,
  // and *linked says how long it is. kThrew: there was no memory, or the comparator threw, and
  // *thrown is what.
  InsertResult Insert(std::span<const Addition> additions, size_t* linked,
                      std::exception_ptr* thrown);

  [[nodiscard]] bool Empty() const;
  // The first entry at or after the target, null if none.
  [[nodiscard]] const MemEntry* LowerBound(const Target& target) const;
  // The leaf where the target is or would be.
  void CopyLeafOf(const Target& target, LeafCopy* copy) const;
  // The leaf with the last entry before the target. Its later slots may be after the target.
  void CopyLeafBefore(const Target& target, LeafCopy* copy) const;
  void CopyFirstLeaf(LeafCopy* copy) const;
  void CopyLastLeaf(LeafCopy* copy) const;
  // Of the leaf with that address; the root of an empty list is a leaf, too.
  void CopyLeaf(const Node* leaf, LeafCopy* copy) const;
  // Hints, without asking what is in order. The node alone; for the others it is at hand itself.
  static void PrefetchNode(const Node* node);
  // What comes before a value, of all its entries.
  void PrefetchEntries(const Node* leaf) const;
  // The same, and the leaf to the right of it.
  void PrefetchAfter(const Node* leaf) const;
  // The entry in slot `i`. The first slot of a leaf that is out of order stands for all: a copy of
  // it compares them.
  void PrefetchSlot(const Node* leaf, uint32_t i) const;
  // From `leaf` to the right: the first one that may have entries at or after the target, or as
  // new as `below`; or else the last one.
  [[nodiscard]] const Node* PassOlder(const Node* leaf, const Target& target,
                                      SequenceNumber below) const;
  // The same to the left, from the leaf that begins with `low`, and entries at or before the
  // target: what the last leaf begins with that it passes, `low` itself if that is none.
  [[nodiscard]] const MemEntry* PassOlderForPrev(const MemEntry* low, const Target& target,
                                                 SequenceNumber below) const;
  // The first key that may ever be in the leaf; null for the leftmost one.
  [[nodiscard]] static const MemEntry* LowOf(const Node* leaf);
  // The number of slots of the copy that lie before the target, or not after it.
  [[nodiscard]] uint32_t CountBefore(const LeafCopy& copy, const Target& target) const;
  [[nodiscard]] uint32_t CountThrough(const LeafCopy& copy, const Target& target) const;

  // The leftmost leaf, and what is in `leaf` while its lock is held. For a walk that must not miss
  // an Insert that began before it: each one either is seen, or takes the lock later.
  [[nodiscard]] const Node* FirstLeaf() const { return first_leaf_; }
  // Returns the next leaf.
  const Node* CopyLocked(const Node* leaf, LeafCopy* copy) const;

  // About how many entries lie before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const;
  // Statistics; they publish nothing.
  [[nodiscard]] EntryTotals totals() const { return alone_counts_.Plus(shared_counts_); }

 private:
  // Whether a search ends left of or at a key that equals the target.
  enum class Side : uint8_t { kAt, kBefore };
  static constexpr uint32_t kMaxLevel = 15;
  // All bits of LeafCopy::versions.
  static constexpr uint64_t kAllVersions = ~uint64_t{0};
  // Slots out of order that make a leaf worth writing to: on the way of a walk, and for a search,
  // of which there may be many between two additions.
  static constexpr uint32_t kTidiedOnTheWay = 1;
  static constexpr uint32_t kTidiedBySearch = 4;

  class LeavesAhead;

  struct NewNodeResult {
    Node* node;
    ArenaOffset offset;
  };
  NewNodeResult NewNode(uint32_t level, const MemEntry* low, uint64_t low_prefix);
  [[nodiscard]] SequenceNumber NewestOf(const Node* leaf) const;
  // Of a locked leaf, before the entry with that trailer is put there.
  void RaiseNewestOf(Node* leaf, uint64_t trailer);
  // Memory for a node.
  ArenaOffset TakeNode() VARVE_EXCLUDES(slab_mu_);
  [[nodiscard]] Node* NodeAt(ArenaOffset offset) const {
    return reinterpret_cast<Node*>(arena_->At(offset));
  }
  // What a slot of a node of that level stands for; null is before every key.
  [[nodiscard]] const MemEntry* KeyOf(uint32_t level, ArenaOffset offset) const;
  // <0 when the key sorts before the target. Null is before everything.
  int CompareKey(const MemEntry* key, const Target& target) const;
  int CompareLow(const Node* node, const Target& target) const;
  int CompareSlot(uint32_t level, const Slot& slot, const Target& target) const;
  int CompareSlots(uint32_t level, const Slot& a, const Slot& b) const {
    if (a.prefix != b.prefix) [[likely]]
      return a.prefix < b.prefix ? -1 : 1;
    return CompareTied(level, a, b);
  }
  int CompareTied(uint32_t level, const Slot& a, const Slot& b) const;
  // Whether a slot's key is before the target, or, for kAt, is the target.
  bool Passes(uint32_t level, const Slot& slot, const Target& target, Side side) const;

  // The node that owns the target on its level, from `node` to the right. Sets the state at which
  // that was so.
  Node* MoveRight(Node* node, const Target& target, Side side, uint64_t* state) const;
  bool BelongsRight(const Node* node, const Target& target, Side side, Node** next) const;
  Node* ChildOf(const Node* node, uint64_t state, const Target& target, Side side) const;
  // Down to `level`.
  Node* Find(const Target& target, Side side, uint32_t level, uint64_t* state) const;
  // The leaves of up to kTogether targets, or leaves to the left of them if there is a split at the
  // same time. All searches take a step before the first takes its next one.
  void FindLeaves(std::span<const Addition> additions, Node** leaves) const;
  // Puts slots [sorted, n) in their places, sorted < n. Returns what LeafCopy::versions says, of
  // leaves.
  uint64_t Sort(uint32_t level, Slot* slots, uint32_t sorted, uint32_t n) const;
  bool SortTie(uint32_t level, Slot* slots, uint32_t n) const;
  bool SortVersions(Slot* slots, uint32_t n) const;
  bool TryCopy(const Node* leaf, uint64_t state, LeafCopy* copy) const;
  // The same, and leaves the leaf in order if at least so many slots were not.
  bool TryCopyAndTidy(const Node* leaf, uint64_t state, uint32_t from, LeafCopy* copy) const;
  // Writes the copy's order into the leaf that it was made of at `state`, unless a thread is at it.
  static void Tidy(const Node* leaf, uint64_t state, const LeafCopy& copy);

  // Whether the leaf of the last insertion is that of the target; for the holder of the insert
  // hint.
  bool HintFits(const Target& target) const;
  // Whether the node is the target's, or lies before its; false, too, if the comparator throws.
  bool IsAtOrBehind(const Node* node, const Target& target) const noexcept;
  Node* LockOwner(Node* node, const Target& target);
  // Into a locked node, which is unlocked. Sets *right to the new node if it had to be split.
  // False, with nothing changed, if `may_be_there` and it is.
  bool Put(Node* node, const Target& target, ArenaOffset offset, bool may_be_there,
           NewNodeResult* right);
  // Into the leaf that owns it, from *node to the right; sets *node to the leaf that has it. Looks
  // whether it is there unless it is newer than `newest` and what goes without the insert hint.
  bool PutInOwner(Node** node, const Target& target, ArenaOffset offset, uint64_t newest);
  void RaiseNewest(uint64_t trailer);
  bool HasEqual(const Node* node, uint64_t state, const Target& target) const;
  // Of a locked node; `lock` publishes it.
  NewNodeResult Split(Node* node, uint64_t state, const Slot& added, NodeLock* lock);
  // Makes a new node known on the level above. Whatever throws makes searches slower, not wrong.
  void LinkAbove(NewNodeResult right) noexcept;
  // Puts a root above the level of `right` unless there is one.
  void GrowRoot(NewNodeResult right) VARVE_EXCLUDES(root_mu_);

  const InternalKeyComparator icmp_;
  const KeyPrefixes prefixes_;
  EntryArena* const arena_;
  const uint32_t nodes_at_once_;
  const Node* first_leaf_ = nullptr;
  // Sequence number of the first entry, at least 1; 0 before it came.
  std::atomic<SequenceNumber> first_sequence_{0};
  // The leftmost node of the highest level. Release publishes it.
  std::atomic<Node*> root_{nullptr};

  // Writers only, away from what readers load. The holder of the flag may use hint_, the leaf of
  // the last insertion, and counts alone.
  alignas(64) InsertHintFlag hint_flag_;
  Node* hint_ = nullptr;
  uint64_t newest_ = 0;  // trailer of all that the holders inserted
  EntryCounters alone_counts_;
  alignas(64) EntryCounters shared_counts_;
  // At least the trailer of what the others have inserted, or are about to. Written before they
  // take a leaf's lock and read with it held, which publishes it.
  std::atomic<uint64_t> shared_newest_{0};
  Mutex root_mu_{kListRootRank};
  ArenaOffset root_offset_ VARVE_GUARDED_BY(root_mu_) = 0;
  // Nodes come from slabs of nodes_at_once_: the offset of the slab's first node above, below it
  // how many were asked for. Adding one takes a node; release publishes a new slab, under slab_mu_.
  alignas(64) std::atomic<uint64_t> slab_;
  Mutex slab_mu_{kNodeSlabRank};
};

}  // namespace varve
