// SPDX-License-Identifier: Apache-2.0

// Implements insertion into the blocked skip list: locks, splits, and the levels above.
//
// An insertion finds its leaf like a reader, locks it, moves right if it was split meanwhile, and
// appends a slot: slots of a leaf are in the order of insertion until the leaf is copied or split,
// which sorts them. A full leaf is split in two under its lock; the new node is linked before it
// is entered in the level above, so it can be found at any moment.

#include <algorithm>
#include <new>
#include <type_traits>

#include "memtable/blocked_skip_list.h"
#include "memtable/blocked_skip_list_node.h"
#include "util/base/assert.h"
#include "util/sync/spin.h"

namespace varve {

namespace {

// With this value of `newest`, every insertion looks for its key.
constexpr uint64_t kMaxTrailer = ~uint64_t{0};
// A leaf's lock is held for a few hundred instructions at most, unless its holder was preempted;
// then the holder needs this processor.
constexpr unsigned kLockPauseRounds = 4;

}  // namespace

BlockedSkipList::BlockedSkipList(const InternalKeyComparator& icmp, EntryArena* arena,
                                 uint32_t nodes_at_once, const Slice& common_prefix)
    : icmp_(icmp),
      prefixes_(icmp, common_prefix),
      arena_(arena),
      nodes_at_once_(nodes_at_once),
      slab_(nodes_at_once) {  // as if all nodes of a slab were taken, so that the first begins one
  static_assert(sizeof(Node) == EntryArena::kMaxUnit);
  static_assert(std::is_trivially_destructible_v<Node>);
  // The leftmost leaf has no low key: every key is at or behind it.
  const NewNodeResult first = NewNode(0, nullptr, 0);
  first_leaf_ = first.node;
  hint_ = first.node;
  MutexLock lock(&root_mu_);
  root_offset_ = first.offset;
  root_.store(first.node, std::memory_order_release);
}

BlockedSkipList::NewNodeResult BlockedSkipList::NewNode(uint32_t level, const MemEntry* low,
                                                        uint64_t low_prefix) {
  const ArenaOffset offset = TakeNode();
  return {new (NodeAt(offset)) Node(level, low, low_prefix), offset};
}

// Takes a lock only once in nodes_at_once_ nodes: the thread that splits a leaf has it locked, and
// must not wait for a thread that was preempted here.
ArenaOffset BlockedSkipList::TakeNode() {
  const auto taken = [this](ArenaOffset* offset) {
    // Acquire pairs with the slab's release, for the arena's At. An index past the slab's end is no
    // node.
    const uint64_t slab = slab_.fetch_add(1, std::memory_order_acquire);
    const auto index = static_cast<uint32_t>(slab);
    *offset = arena_->OffsetAfter(static_cast<ArenaOffset>(slab >> 32), index * sizeof(Node));
    return index < nodes_at_once_;
  };
  ArenaOffset offset;
  if (taken(&offset)) [[likely]]
    return offset;
  MutexLock lock(&slab_mu_);
  // Another thread may have begun a new slab since.
  if (taken(&offset)) return offset;
  const EntryArena::Piece piece =
      arena_->Allocate(size_t{nodes_at_once_} * sizeof(Node) + alignof(Node));
  // Bytes from the piece's start to the next multiple of the alignment: the negated address, modulo
  // the alignment.
  const size_t gap = (~reinterpret_cast<uintptr_t>(piece.data) + 1) & (alignof(Node) - 1);
  offset = arena_->OffsetAfter(piece.offset, gap);
  // One node is taken already: this thread's.
  slab_.store(uint64_t{offset} << 32 | 1, std::memory_order_release);
  return offset;
}

// Locks one node at a time: if the target lies further right, the lock is released before the next
// node is locked.
BlockedSkipList::Node* BlockedSkipList::LockOwner(Node* node, const Target& target) {
  SpinWait spin(kLockPauseRounds);
  for (;;) {
    uint64_t state = node->state.load(std::memory_order_relaxed);
    if ((state & node_state::kLocked) != 0) {
      spin.Once();
      continue;
    }
    // Acquire: what the last holder did is visible.
    if (!node->state.compare_exchange_weak(state, state | node_state::kLocked,
                                           std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    // The border may have moved before the lock was taken, so ownership is judged under it.
    NodeLock lock(node, state);
    Node* next = nullptr;
    if (!BelongsRight(node, target, Side::kAt, &next)) {
      lock.Keep();
      return node;
    }
    node = next;
  }
}

bool BlockedSkipList::HintFits(const Target& target) const {
  if (hint_->low_prefix > target.prefix) return false;
  if (hint_->low_prefix == target.prefix && CompareKey(hint_->low, target) > 0) return false;
  // A concurrent rewrite does no harm: LockOwner checks again.
  Node* next = nullptr;
  return !BelongsRight(hint_, target, Side::kAt, &next);
}

bool BlockedSkipList::IsAtOrBehind(const Node* node, const Target& target) const noexcept try {
  return CompareKey(node->low, target) <= 0;
} catch (...) {
  return false;
}

// The leaf is locked, filled and, if it is full, split; only then the new leaf is made known to the
// level above, until when readers reach it by its left neighbour.
bool BlockedSkipList::PutInOwner(Node** node, const Target& target, ArenaOffset offset,
                                 uint64_t newest) {
  NewNodeResult right{nullptr, 0};
  Node* const owner = LockOwner(*node, target);
  // Sequence numbers mostly ascend: an entry newer than everything cannot be there. The bound of
  // other threads is read under the leaf's lock, so it covers what they have put into the leaf.
  const bool may_be_there =
      target.trailer <= newest || target.trailer <= shared_newest_.load(std::memory_order_relaxed);
  const bool added = Put(owner, target, offset, may_be_there, &right);
  *node = owner;
  if (right.node != nullptr) {
    // The entry is in: an exception here only costs a detour.
    if (IsAtOrBehind(right.node, target)) *node = right.node;
    // The lock is released before the level above is locked: a thread holds one node's lock at a
    // time, so there are no deadlocks.
    LinkAbove(right);
  }
  return added;
}

// One thread at a time has the insert hint. It tries the leaf of the last insertion first, may skip
// the check for equal keys if its sequence numbers ascend, and counts without atomic additions. All
// others search from the root and check.
bool BlockedSkipList::Insert(const Target& target, ArenaOffset offset, size_t value_bytes) {
  const InsertHintFlag::Hold hint(&hint_flag_);
  const bool exclusive = hint.taken();
  Node* leaf = exclusive && HintFits(target) ? hint_ : nullptr;
  uint64_t state = 0;
  if (leaf == nullptr) leaf = Find(target, Side::kAt, 0, &state);
  // Raised before the entry is in, so that a thread that meets the leaf with it looks for equal
  // keys.
  if (!exclusive) RaiseNewest(target.trailer);
  const bool added = PutInOwner(&leaf, target, offset, exclusive ? newest_ : kMaxTrailer);
  EntryTotals totals;
  if (added) totals.Add(target.user_key, target.trailer, value_bytes);
  if (exclusive) {
    hint_ = leaf;
    newest_ = std::max(newest_, target.trailer);
  }
  exclusive ? alone_counts_.AddAlone(totals) : shared_counts_.AddShared(totals);
  return added;
}

// Does the same for several additions: first their leaves are found together, then they are put in
// one after the other. Whatever ends the loop early leaves the additions before that linked and
// counted.
BlockedSkipList::InsertResult BlockedSkipList::Insert(std::span<const Addition> additions,
                                                      size_t* linked, std::exception_ptr* thrown) {
  VARVE_ASSERT(!additions.empty() && additions.size() <= kTogether);
  VARVE_ASSERT(
      std::ranges::is_sorted(additions, {}, [](const auto& a) { return a.target.prefix; }));
  *linked = 0;
  const InsertHintFlag::Hold hint(&hint_flag_);
  const bool exclusive = hint.taken();
  Node* leaves[kTogether];
  // All targets are tested against the hint, as additions with equal key prefixes may come in any
  // order.
  const auto fits = [this](const Addition& a) { return HintFits(a.target); };
  if (exclusive && std::all_of(additions.begin(), additions.end(), fits)) {
    std::fill_n(leaves, additions.size(), hint_);
  } else {
    FindLeaves(additions, leaves);
  }
  uint64_t newest = 0;
  for (const Addition& a : additions) newest = std::max(newest, a.target.trailer);
  // No two additions have the same trailer, so an addition whose trailer is above everything that
  // was in the list before the call needs no check for an equal key.
  const uint64_t newest_before = exclusive ? newest_ : kMaxTrailer;
  if (!exclusive) RaiseNewest(newest);
  EntryTotals totals;
  InsertResult result = InsertResult::kAll;
  size_t done = 0;
  try {
    for (; done < additions.size(); done++) {
      const Addition& a = additions[done];
      if (!PutInOwner(&leaves[done], a.target, a.offset, newest_before)) {
        result = InsertResult::kIsThere;
        break;
      }
      totals.Add(a.target.user_key, a.target.trailer, a.value_bytes);
    }
  } catch (...) {
    *thrown = std::current_exception();
    result = InsertResult::kThrew;
  }
  exclusive ? alone_counts_.AddAlone(totals) : shared_counts_.AddShared(totals);
  if (exclusive) {
    if (result == InsertResult::kAll) hint_ = leaves[done - 1];
    newest_ = std::max(newest_, newest);
  }
  *linked = done;
  return result;
}

void BlockedSkipList::RaiseNewest(uint64_t trailer) {
  uint64_t seen = shared_newest_.load(std::memory_order_relaxed);
  while (seen < trailer &&
         !shared_newest_.compare_exchange_weak(seen, trailer, std::memory_order_relaxed)) {
  }
}

// A leaf has room for 32 bits, so the bound is stored as a distance from the list's first sequence
// number; UINT32_MAX stands for every larger distance.
void BlockedSkipList::RaiseNewestOf(Node* leaf, uint64_t trailer) {
  const SequenceNumber sequence = UnpackSequence(trailer);
  SequenceNumber first = first_sequence_.load(std::memory_order_relaxed);
  if (first == 0) [[unlikely]] {
    const SequenceNumber mine = std::max<SequenceNumber>(sequence, 1);
    // Another thread's value is as good; `first` becomes it.
    if (first_sequence_.compare_exchange_strong(first, mine, std::memory_order_relaxed)) {
      first = mine;
    }
  }
  if (sequence <= first) return;
  const auto above = static_cast<uint32_t>(std::min<uint64_t>(sequence - first, UINT32_MAX));
  if (leaf->newest.load(std::memory_order_relaxed) < above) {
    leaf->newest.store(above, std::memory_order_relaxed);
  }
}

// Searches the sorted slots by halves, and looks at each of the others, which were added since.
bool BlockedSkipList::HasEqual(const Node* node, uint64_t state, const Target& target) const {
  const uint32_t sorted = node_state::Sorted(state);
  uint32_t at = 0;
  for (uint32_t n = sorted; n > 0;) {
    const uint32_t half = n / 2;
    const int order = CompareSlot(0, node->At(at + half), target);
    if (order == 0) return true;
    if (order < 0) {
      at += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  for (uint32_t i = sorted; i < node_state::Count(state); i++) {
    if (CompareSlot(0, node->At(i), target) == 0) return true;
  }
  return false;
}

// A slot is appended behind the others, in order or not, and then published by the new state; a
// full node is split instead. If a comparator throws, or memory is out, the lock's destructor
// leaves the node as it was.
bool BlockedSkipList::Put(Node* node, const Target& target, ArenaOffset offset, bool may_be_there,
                          NewNodeResult* right) {
  // By rule 1 of README.md, the key is not to the left of here.
  VARVE_ASSERT(node->low_prefix <= target.prefix);
  // This thread holds the lock: no other thread writes the state.
  const uint64_t state = node->state.load(std::memory_order_relaxed) & ~node_state::kLocked;
  NodeLock lock(node, state);
  const uint32_t level = node_state::Level(state);
  uint32_t sorted = node_state::Sorted(state);
  const uint32_t count = node_state::Count(state);
  bool ties_are_versions = node_state::TiesAreVersions(state);
  // Ascending keys need no comparison with the others.
  const bool last =
      sorted == count && (count == 0 || CompareSlot(level, node->At(count - 1), target) < 0);
  if (!last && may_be_there && HasEqual(node, state, target)) return false;
  const Slot added{target.prefix, offset};
  // Raised before the slot is published, so that no reader passes the leaf as too old with the
  // entry in it.
  if (level == 0) RaiseNewestOf(node, target.trailer);
  if (count == kSlots) {
    *right = Split(node, state, added, &lock);
    return true;
  }
  node->Set(count, added);
  if (last) {
    sorted++;
    // A slot with an equal key prefix precedes it: usually that is another key, because newer
    // versions sort before older ones.
    if (count != 0 && node->At(count - 1).prefix == target.prefix) ties_are_versions = false;
  }
  // Release publishes the slot, and the entry or node that it leads to.
  lock.Publish(
      node_state::Make(level, sorted, count + 1, ties_are_versions, node_state::Version(state)));
  return true;
}

// Sorts the slots and the added one outside of the node, completes the new right node with the
// upper part, which may fail for lack of memory, and only then rewrites this node. From the
// announcement of the rewrite on nothing can fail.
BlockedSkipList::NewNodeResult BlockedSkipList::Split(Node* node, uint64_t state, const Slot& added,
                                                      NodeLock* lock) {
  const uint32_t level = node_state::Level(state);
  const uint64_t version = node_state::Version(state);
  Slot slots[kSlots + 1];
  for (uint32_t i = 0; i < kSlots; i++) slots[i] = node->At(i);
  const Slot latest = slots[kSlots - 1];  // Of a leaf that is not in order: the one added last.
  slots[kSlots] = added;
  const bool ties_are_versions =
      Sort(level, slots, node_state::Sorted(state), kSlots + 1) == kAllVersions;
  // Ascending or descending keys leave full nodes behind, all others leave halves.
  const bool in_order = node_state::Sorted(state) == kSlots;
  uint32_t keep = (kSlots + 1) / 2;
  if (in_order && slots[kSlots].offset == added.offset) {
    keep = kSlots;
  } else if (slots[0].offset == added.offset && (in_order || slots[1].offset == latest.offset)) {
    // If a walk has put the leaf in order, it is unknown which slot was added last.
    keep = 1;
  }
  const uint32_t moved = kSlots + 1 - keep;
  VARVE_ASSERT(slots[keep - 1].prefix <= slots[keep].prefix && node->low_prefix <= slots[0].prefix);
  const NewNodeResult right = NewNode(level, KeyOf(level, slots[keep].offset), slots[keep].prefix);
  for (uint32_t i = 0; i < moved; i++) right.node->Set(i, slots[keep + i]);
  right.node->next.store(node->next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  right.node->high_prefix.store(node->high_prefix.load(std::memory_order_relaxed),
                                std::memory_order_relaxed);
  right.node->newest.store(node->newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // The new node is complete before it can be reached; its own stores need no order.
  right.node->state.store(node_state::Make(level, moved, moved, ties_are_versions, 0),
                          std::memory_order_relaxed);
  // Readers that see any of the stores below see this one, and begin again.
  node->AnnounceRewrite(state);
  for (uint32_t i = 0; i < keep; i++) node->Set(i, slots[i]);
  node->high_prefix.store(slots[keep].prefix, std::memory_order_release);
  // Release publishes the new node. From here on its entries are reached through the neighbour,
  // even before LinkAbove.
  node->next.store(right.node, std::memory_order_release);
  lock->Publish(node_state::Make(level, keep, keep, ties_are_versions, version + 1));
  return right;
}

// Called by readers, to spare later readers the sort. Whatever prevents it is no error: the leaf
// then stays as it is.
void BlockedSkipList::Tidy(const Node* leaf, uint64_t state, const LeafCopy& copy) {
  VARVE_ASSERT(copy.leaf == leaf && copy.count == node_state::Count(state));
  // const_cast: the slots stay the same for readers, in another order.
  Node* const node = const_cast<Node*>(leaf);
  if ((state & node_state::kLocked) != 0) return;
  // This only tries the lock: a writer that holds it puts the leaf out of order again.
  if (!node->state.compare_exchange_strong(state, state | node_state::kLocked,
                                           std::memory_order_acquire, std::memory_order_relaxed)) {
    return;
  }
  node->AnnounceRewrite(state);
  for (uint32_t i = 0; i < copy.count; i++) node->Set(i, copy.slots[i]);
  node->state.store(node_state::Make(0, copy.count, copy.count, copy.versions == kAllVersions,
                                     node_state::Version(state) + 1),
                    std::memory_order_release);
}

// Enters the new node into its parent, which may have to be split in turn, and so on upwards.
void BlockedSkipList::LinkAbove(NewNodeResult right) noexcept {
  try {
    while (right.node != nullptr) {
      const uint32_t level = node_state::Level(right.node->Stable()) + 1;
      GrowRoot(right);
      const Slice low = right.node->low->internal_key();
      const Target target{right.node->low_prefix, ExtractUserKey(low), ExtractTrailer(low)};
      uint64_t state = 0;
      Node* const above = LockOwner(Find(target, Side::kAt, level, &state), target);
      NewNodeResult split{nullptr, 0};
      Put(above, target, right.offset, /*may_be_there=*/false, &split);
      right = split;
    }
  } catch (...) {
    // The entry is in. The node can then be reached only from its left neighbour.
  }
}

// The new root has one child, the old root; the caller adds `right` beside it.
void BlockedSkipList::GrowRoot(NewNodeResult right) {
  const uint32_t level = node_state::Level(right.node->Stable());
  // Acquire, and levels only grow: if there is a root above, no lock is needed.
  const Node* seen = root_.load(std::memory_order_acquire);
  if (node_state::Level(seen->state.load(std::memory_order_relaxed)) > level) [[likely]]
    return;
  MutexLock lock(&root_mu_);
  Node* const old = root_.load(std::memory_order_relaxed);
  if (node_state::Level(old->state.load(std::memory_order_relaxed)) > level) return;
  // The leftmost node of the level of `right` is the root.
  VARVE_ASSERT(node_state::Level(old->state.load(std::memory_order_relaxed)) == level);
  const NewNodeResult root = NewNode(level + 1, nullptr, 0);
  root.node->Set(0, Slot{0, root_offset_});
  root.node->state.store(node_state::Make(level + 1, 1, 1, /*ties_are_versions=*/true, 0),
                         std::memory_order_relaxed);
  root_offset_ = root.offset;
  // Release publishes the node.
  root_.store(root.node, std::memory_order_release);
}

}  // namespace varve
