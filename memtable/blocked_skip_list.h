// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a skip list whose nodes are blocks of (key prefix, arena offset) slots: every level is a
// list of blocks that is walked to the right, and then down. It resembles a B-link tree (Lehman and
// Yao 1981) with optimistic readers. Most steps of a search compare integers, and a scan copies a
// block at a time.

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

// An ordered set of entries of a memtable, to which entries are added and from which none is ever
// removed.
//
// Thread safety: Insert and all reads may run in any number of threads at once. Reads add and
// change no entries. They may write to a leaf: CopyLocked takes its lock, and the other copies may
// store the slots in sorted order. memtable/README.md has the argument. Lifetime: entries and nodes
// lie in the arena, which outlives the list, and never move.
class BlockedSkipList {
 public:
  class Node;
  class NodeLock;
  // Slots of a node. With them a node takes eight cache lines.
  static constexpr uint32_t kSlots = 39;

  // An internal key to be searched for, with its key prefix (key_prefixes.h), which decides most
  // comparisons.
  struct Target {
    uint64_t prefix;
    Slice user_key;
    uint64_t trailer;
  };
  // An entry of a leaf, or a child of an inner node, at its offset in the arena.
  struct Slot {
    uint64_t prefix;
    ArenaOffset offset;
  };
  // An entry to be linked.
  struct Addition {
    Target target;
    ArenaOffset offset;
    size_t value_bytes;  // size of the value, for totals()
  };
  // Most entries of one call of Insert.
  static constexpr size_t kTogether = 16;
  // Result of Insert. kAll: all entries were linked. kIsThere: the internal key of an entry was
  // there already. kThrew: linking an entry threw. The latter two end the call at that entry.
  enum class InsertResult : uint8_t { kAll, kIsThere, kThrew };
  // The contents of a leaf at one moment, in order.
  struct LeafCopy {
    uint32_t count = 0;
    const Node* leaf = nullptr;
    const Node* next = nullptr;  // The leaf to the right at that moment; may be null.
    SequenceNumber newest = 0;   // No entry of the copy is newer.
    // Bit i is about slots i - 1 and i if their key prefixes are equal. Set: their user keys,
    // timestamp included, are equal, too. Clear: nothing is known. Where the prefixes differ it has
    // no meaning, and may be set.
    uint64_t versions = 0;
    Slot slots[kSlots];
  };
  // `nodes_at_once` is the number of nodes that are allocated from the arena together.
  // `common_prefix` is the expected beginning of most keys; key prefixes are taken after it. Throws
  // std::bad_alloc.
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
  // Compares the user keys, timestamps left out, of two internal keys whose key prefixes are equal.
  // Returns kUnknown under a comparator of the user, which is not called.
  [[nodiscard]] SameKey SameKeyDespitePrefixes(const Slice& a, const Slice& b) const {
    if (!BytesDecide(icmp_.order())) return SameKey::kUnknown;
    return icmp_.EqualKey(icmp_.KeyOf(a), icmp_.KeyOf(b)) ? SameKey::kYes : SameKey::kNo;
  }

  // Links the entry that is written at `offset` in the arena. Returns false, with nothing changed,
  // if the internal key is already there. Throws std::bad_alloc, or what the comparator does, with
  // nothing changed.
  bool Insert(const Target& target, ArenaOffset offset, size_t value_bytes);
  // Links up to kTogether entries. Requires that their trailers all differ and that they are
  // ordered by key prefix. Their cache misses overlap, and totals() is updated once for all. The
  // linked ones are always a prefix of them, of length *linked. Returns kThrew, with the exception
  // in *thrown, if linking an entry threw. An exception of the searches before that leaves this
  // call, with nothing linked and *linked 0.
  InsertResult Insert(std::span<const Addition> additions, size_t* linked,
                      std::exception_ptr* thrown);

  [[nodiscard]] bool Empty() const;
  // Returns the first entry at or after the target, null if none.
  [[nodiscard]] const MemEntry* LowerBound(const Target& target) const;
  // Copies the leaf where the target is or would be.
  void CopyLeafOf(const Target& target, LeafCopy* copy) const;
  // Copies the leaf with the last entry before the target. Its later slots may be after the target.
  void CopyLeafBefore(const Target& target, LeafCopy* copy) const;
  // Copy the leaf with the smallest keys, and the one with the largest.
  void CopyFirstLeaf(LeafCopy* copy) const;
  void CopyLastLeaf(LeafCopy* copy) const;
  // Copies the leaf with that address; the root of an empty list is a leaf, too.
  void CopyLeaf(const Node* leaf, LeafCopy* copy) const;
  // The Prefetch functions are hints and ignore concurrent changes. PrefetchNode prefetches the
  // node alone; the others read the node, which should be in the processor's cache by then.
  static void PrefetchNode(const Node* node);
  // Prefetches, for all entries of the leaf, what precedes the value.
  void PrefetchEntries(const Node* leaf) const;
  // Like PrefetchEntries, and also prefetches the leaf to the right.
  void PrefetchAfter(const Node* leaf) const;
  // Prefetches the entry in slot `i`. If a leaf is out of order, slot 0 prefetches all entries: a
  // copy of the leaf compares them.
  void PrefetchSlot(const Node* leaf, uint32_t i) const;
  // Returns the first leaf, from `leaf` to the right, that may have entries at or after the target,
  // or as new as `below`; if there is none, the last leaf.
  [[nodiscard]] const Node* PassOlder(const Node* leaf, const Target& target,
                                      SequenceNumber below) const;
  // Requires that `low` is not null. Passes leaves to the left of the leaf that begins with `low`,
  // as long as they have only entries after the target, and older than `below`. Returns the first
  // key of the last leaf that it passes, or `low` itself if it passes none.
  [[nodiscard]] const MemEntry* PassOlderForPrev(const MemEntry* low, const Target& target,
                                                 SequenceNumber below) const;
  // Returns the first key that may ever be in the leaf; null for the leftmost leaf, which has no
  // lower bound.
  [[nodiscard]] static const MemEntry* LowOf(const Node* leaf);
  // Return the number of slots of the copy that lie before the target, or not after it.
  [[nodiscard]] uint32_t CountBefore(const LeafCopy& copy, const Target& target) const;
  [[nodiscard]] uint32_t CountThrough(const LeafCopy& copy, const Target& target) const;

  // Returns the leftmost leaf, from which a walk by CopyLocked begins.
  [[nodiscard]] const Node* FirstLeaf() const { return first_leaf_; }
  // Locks the leaf, copies it, and returns the next leaf, null after the last one. For a walk that
  // must not miss an Insert: the copy has each entry whose Insert had the leaf's lock before, and
  // every other Insert takes the lock later, and sees what the walk has published by then.
  const Node* CopyLocked(const Node* leaf, LeafCopy* copy) const;

  // Estimates the number of entries before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const;
  // Returns statistics, which are read relaxed: they order no other memory access.
  [[nodiscard]] EntryTotals totals() const { return alone_counts_.Plus(shared_counts_); }

 private:
  // Says if a search ends at or left of a key that equals the target.
  enum class Side : uint8_t { kAt, kBefore };
  static constexpr uint32_t kMaxLevel = 15;  // level of the highest possible root; leaves are 0
  // All bits of LeafCopy::versions.
  static constexpr uint64_t kAllVersions = ~uint64_t{0};
  // Number of unordered slots from which a leaf is written back in order: in a walk, and in a
  // search, of which there may be many between two additions.
  static constexpr uint32_t kTidiedOnTheWay = 1;
  static constexpr uint32_t kTidiedBySearch = 4;

  // Prefetches the heads of leaves ahead of PassOlder.
  class LeavesAhead;

  // A new node by its address and by its offset, which parents store.
  struct NewNodeResult {
    Node* node;
    ArenaOffset offset;
  };
  // Makes a node whose first key is `low`; null for the leftmost of a level.
  NewNodeResult NewNode(uint32_t level, const MemEntry* low, uint64_t low_prefix);
  // Returns a bound for the sequence numbers in the leaf.
  [[nodiscard]] SequenceNumber NewestOf(const Node* leaf) const;
  // Raises the bound of a locked leaf, before the entry with that trailer is put there.
  void RaiseNewestOf(Node* leaf, uint64_t trailer);
  // Allocates memory for a node.
  ArenaOffset TakeNode() VARVE_EXCLUDES(slab_mu_);
  [[nodiscard]] Node* NodeAt(ArenaOffset offset) const {
    return reinterpret_cast<Node*>(arena_->At(offset));
  }
  // Returns the key of a slot in a node of that level; null is before every key.
  [[nodiscard]] const MemEntry* KeyOf(uint32_t level, ArenaOffset offset) const;
  // Returns <0 if the key sorts before the target. Null is before everything.
  int CompareKey(const MemEntry* key, const Target& target) const;
  // Compare the first key of a node, and that of a slot, as CompareKey does.
  int CompareLow(const Node* node, const Target& target) const;
  int CompareSlot(uint32_t level, const Slot& slot, const Target& target) const;
  int CompareSlots(uint32_t level, const Slot& a, const Slot& b) const {
    if (a.prefix != b.prefix) [[likely]]
      return a.prefix < b.prefix ? -1 : 1;
    return CompareTied(level, a, b);
  }
  // Compares slots with equal key prefixes.
  int CompareTied(uint32_t level, const Slot& a, const Slot& b) const;
  // True if a slot's key is before the target, or, for kAt, is the target.
  bool Passes(uint32_t level, const Slot& slot, const Target& target, Side side) const;

  // Returns the node that owns the target on its level, from `node` to the right. Sets *state to
  // the state at which that was so.
  Node* MoveRight(Node* node, const Target& target, Side side, uint64_t* state) const;
  // True if the target belongs to a node to the right of this one, because this one was split
  // meanwhile. Sets *next to the right neighbour in any case; null if there is none.
  bool BelongsRight(const Node* node, const Target& target, Side side, Node** next) const;
  // Returns the child under which the target lies, among the slots that `state` counts.
  Node* ChildOf(const Node* node, uint64_t state, const Target& target, Side side) const;
  // Returns the node of `level` that owns the target, found from the root. Sets *state as MoveRight
  // does.
  Node* Find(const Target& target, Side side, uint32_t level, uint64_t* state) const;
  // Finds the leaves of up to kTogether targets, or leaves to the left of them if there is a
  // concurrent split. All searches take a step before the first takes its next one.
  void FindLeaves(std::span<const Addition> additions, Node** leaves) const;
  // Sorts slots [sorted, n) into place. Requires sorted < n. For leaves, returns the value of
  // LeafCopy::versions: all bits, less those of slots whose keys had to be compared.
  uint64_t Sort(uint32_t level, Slot* slots, uint32_t sorted, uint32_t n) const;
  // Sort slots whose key prefixes are equal. Return true if all are versions of one user key.
  bool SortTie(uint32_t level, Slot* slots, uint32_t n) const;
  bool SortVersions(Slot* slots, uint32_t n) const;
  // Copies the leaf. Returns false if it has been rewritten since it had that state.
  bool TryCopy(const Node* leaf, uint64_t state, LeafCopy* copy) const;
  // Like TryCopy, and writes the order back to the leaf if at least `from` slots were out of order.
  bool TryCopyAndTidy(const Node* leaf, uint64_t state, uint32_t from, LeafCopy* copy) const;
  // Writes the copy's order into the leaf from which it was made at `state`, unless a thread has
  // the lock.
  static void Tidy(const Node* leaf, uint64_t state, const LeafCopy& copy);

  // True if the leaf of the last insertion is the target's. Only the holder of the insert hint may
  // call it.
  bool HintFits(const Target& target) const;
  // True if the node is the target's or lies before it; false, too, if the comparator throws.
  bool IsAtOrBehind(const Node* node, const Target& target) const noexcept;
  // Locks the node that owns the target, from `node` to the right, and returns it.
  Node* LockOwner(Node* node, const Target& target);
  // Puts the entry into a locked node, and unlocks it. Sets *right to the new node if it had to be
  // split, and leaves *right otherwise. Returns false, with nothing changed, if `may_be_there` and
  // the key is there.
  bool Put(Node* node, const Target& target, ArenaOffset offset, bool may_be_there,
           NewNodeResult* right);
  // Puts the entry into the leaf that owns it, from *node to the right; sets *node to the leaf that
  // has the entry now, or that has an equal key; the result is that of Put. Skips the check for an
  // equal key if the entry is newer than `newest` and than everything inserted without the insert
  // hint.
  bool PutInOwner(Node** node, const Target& target, ArenaOffset offset, uint64_t newest);
  // Raises the bound of what was inserted without the insert hint.
  void RaiseNewest(uint64_t trailer);
  // True if the node has an entry with the target's internal key.
  bool HasEqual(const Node* node, uint64_t state, const Target& target) const;
  // Splits a locked node; `lock` publishes it.
  NewNodeResult Split(Node* node, uint64_t state, const Slot& added, NodeLock* lock);
  // Links a new node on the level above. An exception there makes searches slower, not wrong.
  void LinkAbove(NewNodeResult right) noexcept;
  // Adds a root above the level of `right` unless there is one.
  void GrowRoot(NewNodeResult right) VARVE_EXCLUDES(root_mu_);

  const InternalKeyComparator icmp_;
  const KeyPrefixes prefixes_;
  EntryArena* const arena_;
  const uint32_t nodes_at_once_;
  // Set by the constructor; the leftmost leaf stays so for ever, as splits make nodes on the
  // right.
  const Node* first_leaf_ = nullptr;
  // Sequence number of the first entry, at least 1; 0 before there is one.
  std::atomic<SequenceNumber> first_sequence_{0};
  // The leftmost node of the highest level. Release publishes it.
  std::atomic<Node*> root_{nullptr};

  // Used by writers only, on cache lines apart from what readers load. The holder of the flag may
  // use hint_, the leaf of the last insertion, and alone writes alone_counts_.
  alignas(64) InsertHintFlag hint_flag_;
  Node* hint_ = nullptr;
  uint64_t newest_ = 0;  // Largest trailer that the holders have inserted.
  EntryCounters alone_counts_;
  alignas(64) EntryCounters shared_counts_;
  // At least the largest trailer that other threads have inserted, or are about to. Written before
  // those threads take a leaf's lock, and read with that lock held, which publishes the value.
  std::atomic<uint64_t> shared_newest_{0};
  Mutex root_mu_{kListRootRank};
  ArenaOffset root_offset_ VARVE_GUARDED_BY(root_mu_) = 0;
  // Nodes come from slabs of nodes_at_once_. The upper half is the offset of the slab's first node,
  // the lower half the number of nodes requested from it. An increment takes a node; release
  // publishes a new slab, under slab_mu_.
  alignas(64) std::atomic<uint64_t> slab_;
  Mutex slab_mu_{kNodeSlabRank};
};

}  // namespace varve
