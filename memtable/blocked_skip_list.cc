// SPDX-License-Identifier: Apache-2.0

// Implements searches in the blocked skip list, and copies of its leaves.
//
// A reader takes no lock. It reads a node's state, the slots, and the state again: if a writer has
// rewritten the node meanwhile, the state differs and the reader looks again (Stable waits for a
// rewrite under way). A node may also have been split since the reader was directed to it; then
// the key is to the right, and the reader follows `next` until a node's low bound is above the
// key. So a directory that is behind costs steps, never a wrong result; README.md has the
// argument.

#include "memtable/blocked_skip_list.h"

#include <algorithm>

#include "memtable/blocked_skip_list_node.h"
#include "util/base/assert.h"
#include "util/mem/prefetch.h"
#include "util/sync/spin.h"

namespace varve {

// Waits by spinning, as a rewrite only sets a leaf's slots.
uint64_t BlockedSkipList::Node::Stable() const {
  uint64_t s = state.load(std::memory_order_acquire);
  if ((s & node_state::kRewriting) == 0) [[likely]]
    return s;
  SpinWait spin;
  do {
    spin.Once();
    s = state.load(std::memory_order_acquire);
  } while ((s & node_state::kRewriting) != 0);
  return s;
}

const MemEntry* BlockedSkipList::KeyOf(uint32_t level, ArenaOffset offset) const {
  return level == 0 ? EntryAt(offset) : NodeAt(offset)->low;
}

const MemEntry* BlockedSkipList::LowOf(const Node* leaf) {
  return leaf->low;
}

void BlockedSkipList::PrefetchNode(const Node* node) {
  node->PrefetchAll();
}

int BlockedSkipList::CompareKey(const MemEntry* key, const Target& target) const {
  if (key == nullptr) return -1;
  const Slice internal = key->internal_key();
  const int order = icmp_.CompareUserKey(ExtractUserKey(internal), target.user_key);
  if (order != 0) return order;
  return InternalKeyComparator::CompareTrailers(ExtractTrailer(internal), target.trailer);
}

int BlockedSkipList::CompareSlot(uint32_t level, const Slot& slot, const Target& target) const {
  if (slot.prefix != target.prefix) return slot.prefix < target.prefix ? -1 : 1;
  return CompareKey(KeyOf(level, slot.offset), target);
}

int BlockedSkipList::CompareLow(const Node* node, const Target& target) const {
  if (node->low == nullptr) return -1;
  if (node->low_prefix != target.prefix) return node->low_prefix < target.prefix ? -1 : 1;
  return CompareKey(node->low, target);
}

int BlockedSkipList::CompareTied(uint32_t level, const Slot& a, const Slot& b) const {
  const MemEntry* const x = KeyOf(level, a.offset);
  const MemEntry* const y = KeyOf(level, b.offset);
  if (x == nullptr || y == nullptr) return x == y ? 0 : (x == nullptr ? -1 : 1);
  return icmp_.Compare(x->internal_key(), y->internal_key());
}

bool BlockedSkipList::Passes(uint32_t level, const Slot& slot, const Target& target,
                             Side side) const {
  if (slot.prefix != target.prefix) return slot.prefix < target.prefix;
  const int order = CompareKey(KeyOf(level, slot.offset), target);
  return side == Side::kAt ? order <= 0 : order < 0;
}

// A split moves the upper half of a node to a new right neighbour, and the level above hears of
// that later. A thread that arrives at the left half therefore looks at the border, and goes on to
// the right.
bool BlockedSkipList::BelongsRight(const Node* node, const Target& target, Side side,
                                   Node** next) const {
  *next = node->next.load(std::memory_order_acquire);
  if (*next == nullptr) return false;
  // The border's prefix lies in the node itself, so that the neighbour is rarely touched.
  const uint64_t high = node->high_prefix.load(std::memory_order_acquire);
  if (high != target.prefix) return high < target.prefix;
  const int order = CompareKey((*next)->low, target);
  return side == Side::kAt ? order <= 0 : order < 0;
}

BlockedSkipList::Node* BlockedSkipList::MoveRight(Node* node, const Target& target, Side side,
                                                  uint64_t* state) const {
  for (;;) {
    *state = node->Stable();
    Node* next = nullptr;
    const bool right = BelongsRight(node, target, side, &next);
    // Between a rewrite's stores the two may be inconsistent.
    if (!node->StillIs(*state)) continue;
    if (!right) return node;
    VARVE_ASSERT(next->low_prefix >= node->low_prefix);
    node = next;
  }
}

// Returns the child of the last slot that passes. The result is good only if the node still has
// `state` afterwards, which the caller checks; until then slots may be mixed from two states.
BlockedSkipList::Node* BlockedSkipList::ChildOf(const Node* node, uint64_t state,
                                                const Target& target, Side side) const {
  const uint32_t level = node_state::Level(state);
  const uint32_t sorted = node_state::Sorted(state);
  const uint32_t count = node_state::Count(state);
  VARVE_ASSERT(level > 0 && count > 0);
  // The lowest slot is that of the node's own low key, and passes.
  uint32_t at = 0;
  for (uint32_t n = sorted; n > 1;) {
    const uint32_t half = n / 2;
    if (Passes(level, node->At(at + half), target, side)) at += half;
    n -= half;
  }
  // Slots after the sorted ones are in order of arrival, so each of them is looked at.
  Slot best = node->At(at);
  for (uint32_t i = sorted; i < count; i++) {
    const Slot slot = node->At(i);
    if (Passes(level, slot, target, side) && CompareSlots(level, best, slot) < 0) best = slot;
  }
  return NodeAt(best.offset);
}

// Goes right on each level until the node owns the target, and then down. If a node was rewritten
// while its slots were read, only that node is looked at again.
BlockedSkipList::Node* BlockedSkipList::Find(const Target& target, Side side, uint32_t level,
                                             uint64_t* state) const {
  Node* node = root_.load(std::memory_order_acquire);
  for (;;) {
    node = MoveRight(node, target, side, state);
    VARVE_ASSERT(node_state::Level(*state) >= level);
    if (node_state::Level(*state) == level) return node;
    Node* const child = ChildOf(node, *state, target, side);
    child->PrefetchAll();
    // After a rewrite the node may own less: repeat from this node.
    if (node->StillIs(*state)) [[likely]]
      node = child;
  }
}

// Does what Find does, for all targets level by level. It ends one step earlier: a leaf that was
// split meanwhile is left to LockOwner, which goes right.
void BlockedSkipList::FindLeaves(std::span<const Addition> additions, Node** leaves) const {
  Node* const root = root_.load(std::memory_order_acquire);
  std::fill_n(leaves, additions.size(), root);
  for (uint32_t level = node_state::Level(root->Stable()); level > 0; level--) {
    for (size_t i = 0; i < additions.size(); i++) {
      const Target& target = additions[i].target;
      Node* node = leaves[i];
      uint64_t state = 0;
      do {
        node = MoveRight(node, target, Side::kAt, &state);
        leaves[i] = ChildOf(node, state, target, Side::kAt);
      } while (!node->StillIs(state));
      // All additions go down one level together: while the node of one is loaded, the others are
      // searched.
      leaves[i]->PrefetchAll();
    }
  }
}

bool BlockedSkipList::Empty() const {
  // If there is no level above it, the root is the only leaf.
  const uint64_t state = root_.load(std::memory_order_acquire)->Stable();
  return node_state::Level(state) == 0 && node_state::Count(state) == 0;
}

// Looks in the leaf that owns the target for its smallest slot at or after it: by binary search in
// the ordered part, one by one in the rest. If there is none, the next leaf's first key is the
// answer. All of it is read from one state of the leaf, or again.
const MemEntry* BlockedSkipList::LowerBound(const Target& target) const {
  for (;;) {
    uint64_t state = 0;
    const Node* const leaf = Find(target, Side::kAt, 0, &state);
    const uint32_t sorted = node_state::Sorted(state);
    const uint32_t count = node_state::Count(state);
    uint32_t at = 0;
    for (uint32_t n = sorted; n > 0;) {
      const uint32_t half = n / 2;
      if (CompareSlot(0, leaf->At(at + half), target) < 0) {
        at += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    bool found = at < sorted;
    Slot best = found ? leaf->At(at) : Slot{0, 0};
    for (uint32_t i = sorted; i < count; i++) {
      const Slot slot = leaf->At(i);
      if (CompareSlot(0, slot, target) < 0) continue;
      if (!found || CompareSlots(0, slot, best) < 0) best = slot;
      found = true;
    }
    const Node* const next = leaf->next.load(std::memory_order_acquire);
    if (!leaf->StillIs(state)) continue;
    if (found) return EntryAt(best.offset);
    // The low key of a leaf is its first entry.
    return next == nullptr ? nullptr : next->low;
  }
}

namespace {

// Returns the number of `n` slots ordered by key prefix that are below `prefix`, without a branch
// that depends on them. Requires n > 0.
uint32_t CountBelow(const BlockedSkipList::Slot* slots, uint32_t n, uint64_t prefix) {
  uint32_t below = 0;
  while (n > 1) {
    const uint32_t half = n / 2;
    below += slots[below + half - 1].prefix < prefix ? half : 0;
    n -= half;
  }
  return below + (slots[below].prefix < prefix ? 1 : 0);
}

}  // namespace

// Most slots differ in their prefixes, so keys are loaded only for runs of equal prefixes, which
// are sorted by themselves afterwards.
uint64_t BlockedSkipList::Sort(uint32_t level, Slot* slots, uint32_t sorted, uint32_t n) const {
  // Sorts by key prefixes alone, which loads no key. A slot added later usually is newer, so it is
  // put first among equal prefixes.
  for (uint32_t i = sorted; i < n; i++) {
    const Slot slot = slots[i];
    if (i == 0 || slots[i - 1].prefix < slot.prefix) continue;
    const uint32_t at = CountBelow(slots, i, slot.prefix);
    std::move_backward(slots + at, slots + i, slots + i + 1);
    slots[at] = slot;
  }
  uint64_t versions = kAllVersions;
  for (uint32_t begin = 0; begin + 1 < n;) {
    uint32_t end = begin + 1;
    while (end < n && slots[end].prefix == slots[begin].prefix) end++;
    if (end - begin > 1 && !SortTie(level, slots + begin, end - begin)) {
      // Clears bits begin + 1 to end - 1, those of the slots that tie with the one before.
      versions &= ~((uint64_t{1} << end) - (uint64_t{2} << begin));
    }
    begin = end;
  }
  return versions;
}

// Sorts entries of one user key, as ties nearly always are, by their trailers alone. Returns false,
// with nothing changed, if they have several keys.
bool BlockedSkipList::SortVersions(Slot* slots, uint32_t n) const {
  VARVE_ASSERT(n <= kSlots + 1);
  const MemEntry* entries[kSlots + 1];  // A node being split has one more.
  for (uint32_t i = 0; i < n; i++) {
    entries[i] = EntryAt(slots[i].offset);
    PrefetchLine(entries[i]);
  }
  uint64_t trailers[kSlots + 1];
  Slice user_key;
  for (uint32_t i = 0; i < n; i++) {
    const Slice key = entries[i]->internal_key();
    if (i == 0) {
      user_key = ExtractUserKey(key);
    } else if (!EqualBytes(ExtractUserKey(key), user_key)) {
      return false;
    }
    trailers[i] = ExtractTrailer(key);
  }
  for (uint32_t i = 1; i < n; i++) {
    const uint64_t trailer = trailers[i];
    if (trailer < trailers[i - 1]) continue;
    const Slot slot = slots[i];
    uint32_t at = i;
    for (; at > 0 && trailers[at - 1] < trailer; at--) {
      trailers[at] = trailers[at - 1];
      slots[at] = slots[at - 1];
    }
    trailers[at] = trailer;
    slots[at] = slot;
  }
  return true;
}

// Returns true if it has found them to be entries of one user key.
bool BlockedSkipList::SortTie(uint32_t level, Slot* slots, uint32_t n) const {
  if (level == 0 && SortVersions(slots, n)) return true;
  const auto less = [&](const Slot& a, const Slot& b) { return CompareSlots(level, a, b) < 0; };
  for (uint32_t i = 1; i < n; i++) {
    const Slot slot = slots[i];
    // Ties are mostly in order or in reverse order.
    if (!less(slot, slots[i - 1])) continue;
    Slot* const to = less(slot, slots[0]) ? slots : std::upper_bound(slots, slots + i, slot, less);
    std::move_backward(to, slots + i, slots + i + 1);
    *to = slot;
  }
  return false;
}

void BlockedSkipList::PrefetchEntries(const Node* leaf) const {
  const uint32_t count = node_state::Count(leaf->state.load(std::memory_order_acquire));
  for (uint32_t i = 0; i < count; i++) {
    // The part before the value may extend into a second line.
    const char* const entry = reinterpret_cast<const char*>(EntryAt(leaf->At(i).offset));
    PrefetchLine<CacheLevel::kSecond>(entry);
    PrefetchLine<CacheLevel::kSecond>(entry + 32);
  }
}

void BlockedSkipList::PrefetchAfter(const Node* leaf) const {
  PrefetchEntries(leaf);
  const Node* const next = leaf->next.load(std::memory_order_acquire);
  if (next != nullptr) next->PrefetchAll();
}

void BlockedSkipList::PrefetchSlot(const Node* leaf, uint32_t i) const {
  const uint64_t state = leaf->state.load(std::memory_order_acquire);
  if (i >= node_state::Count(state)) return;
  if (node_state::Sorted(state) != node_state::Count(state)) {
    if (i == 0) PrefetchEntries(leaf);
    return;
  }
  EntryAt(leaf->At(i).offset)->Prefetch();
}

// Copies without a lock: writers may change the leaf meanwhile, and the check of its state at the
// end finds out. Slots after the sorted ones are sorted in the copy.
bool BlockedSkipList::TryCopy(const Node* leaf, uint64_t state, LeafCopy* copy) const {
  const uint32_t count = node_state::Count(state);
  for (uint32_t i = 0; i < count; i++) copy->slots[i] = leaf->At(i);
  // The neighbour is read before the check: slots and neighbour are then of one state, and no entry
  // between them is missed.
  copy->next = leaf->next.load(std::memory_order_acquire);
  if (!leaf->StillIs(state)) return false;
  copy->leaf = leaf;
  copy->count = count;
  copy->newest = NewestOf(leaf);
  const uint32_t sorted = node_state::Sorted(state);
  if (sorted != count) {
    copy->versions = Sort(0, copy->slots, sorted, count);
  } else {
    copy->versions = node_state::TiesAreVersions(state) ? kAllVersions : 0;
  }
  VARVE_ASSERT(count == 0 || copy->slots[0].prefix <= copy->slots[count - 1].prefix);
  return true;
}

bool BlockedSkipList::TryCopyAndTidy(const Node* leaf, uint64_t state, uint32_t from,
                                     LeafCopy* copy) const {
  if (!TryCopy(leaf, state, copy)) return false;
  // The copy was sorted in any case; storing the order spares the next reader the sort.
  if (copy->count - node_state::Sorted(state) >= from) Tidy(leaf, state, *copy);
  return true;
}

// Relaxed: a reader that has loaded a slot sees the bound stored before it, or a later one.
SequenceNumber BlockedSkipList::NewestOf(const Node* leaf) const {
  const uint32_t above = leaf->newest.load(std::memory_order_relaxed);
  if (above == UINT32_MAX) return kMaxSequenceNumber;
  return first_sequence_.load(std::memory_order_relaxed) + above;
}

// Prefetches the heads of leaves ahead of a walk to the right. A leaf names only the next one, so
// that the walk would wait for each of them; the level above has many at once. That level is only a
// hint: it may be out of order, or lack the latest splits.
class BlockedSkipList::LeavesAhead {
 public:
  explicit LeavesAhead(const BlockedSkipList& list) : list_(list) {}

  // Must be called for each leaf that the walk goes to next.
  void Pass(const Node* leaf) {
    if (passed_++ < kWaits) {
      leaf->PrefetchHead();
    } else if (passed_ == kWaits + 1) {
      Begin(leaf);
    } else {
      Fetch();
    }
  }

 private:
  // A short walk ends sooner than the level above is found.
  static constexpr uint32_t kWaits = 4;
  static constexpr uint32_t kAhead = 12;

  // Finds the leaf's parent, and prefetches some of its children from the leaf on. If the parent
  // does not have the leaf yet, begins with the next parent.
  void Begin(const Node* leaf) {
    const Node* const root = list_.root_.load(std::memory_order_acquire);
    if (leaf->low == nullptr || node_state::Level(root->Stable()) == 0) return;
    const Slice low = leaf->low->internal_key();
    const Target target = list_.MakeTarget(ExtractUserKey(low), ExtractTrailer(low));
    uint64_t state = 0;
    Take(list_.Find(target, Side::kAt, 1, &state));
    while (at_ < count_ && children_[at_] != leaf) at_++;
    for (uint32_t i = 0; i < kAhead; i++) Fetch();
  }
  void Take(const Node* parent) {
    count_ = node_state::Count(parent->state.load(std::memory_order_acquire));
    for (uint32_t i = 0; i < count_; i++) children_[i] = list_.NodeAt(parent->At(i).offset);
    at_ = 0;
    next_parent_ = parent->next.load(std::memory_order_acquire);
    if (next_parent_ != nullptr) next_parent_->PrefetchAll();
  }
  void Fetch() {
    if (at_ == count_ && next_parent_ != nullptr) Take(next_parent_);
    if (at_ < count_) children_[at_++]->PrefetchHead();
  }

  const BlockedSkipList& list_;
  uint32_t passed_ = 0;
  uint32_t at_ = 0;  // Index of the first child not prefetched.
  uint32_t count_ = 0;
  const Node* next_parent_ = nullptr;
  const Node* children_[kSlots];
};

// The order of leaves never changes: after one search for the target's leaf, no key is compared on
// the way to it.
const BlockedSkipList::Node* BlockedSkipList::PassOlder(const Node* leaf, const Target& target,
                                                        SequenceNumber below) const {
  // The search pays if there is at least one leaf to pass.
  if (NewestOf(leaf) >= below || CompareLow(leaf, target) > 0) return leaf;
  uint64_t found_at = 0;
  const Node* const end = Find(target, Side::kAt, 0, &found_at);
  LeavesAhead ahead(*this);
  for (;;) {
    const uint64_t state = leaf->Stable();
    const Node* const next = leaf->next.load(std::memory_order_acquire);
    const SequenceNumber newest = NewestOf(leaf);
    if (!leaf->StillIs(state)) continue;
    if (leaf == end || next == nullptr || newest >= below) return leaf;
    ahead.Pass(next);
    leaf = next;
  }
}

// No check of the leaf's state is needed. A split meanwhile may move entries to a new leaf between
// this one and `low`; they are passed with this one, whose bound was raised for them before.
const MemEntry* BlockedSkipList::PassOlderForPrev(const MemEntry* low, const Target& target,
                                                  SequenceNumber below) const {
  for (;;) {
    const Slice key = low->internal_key();
    uint64_t state = 0;
    const Node* const leaf =
        Find(MakeTarget(ExtractUserKey(key), ExtractTrailer(key)), Side::kBefore, 0, &state);
    const SequenceNumber newest = NewestOf(leaf);
    if (newest >= below || CompareLow(leaf, target) <= 0) return low;
    low = leaf->low;
  }
}

void BlockedSkipList::CopyLeaf(const Node* leaf, LeafCopy* copy) const {
  while (!TryCopyAndTidy(leaf, leaf->Stable(), kTidiedOnTheWay, copy)) {
  }
}

void BlockedSkipList::CopyLeafOf(const Target& target, LeafCopy* copy) const {
  uint64_t state = 0;
  for (;;) {
    const Node* const leaf = Find(target, Side::kAt, 0, &state);
    if (TryCopyAndTidy(leaf, state, kTidiedBySearch, copy)) return;
  }
}

void BlockedSkipList::CopyLeafBefore(const Target& target, LeafCopy* copy) const {
  uint64_t state = 0;
  for (;;) {
    const Node* const leaf = Find(target, Side::kBefore, 0, &state);
    if (TryCopyAndTidy(leaf, state, kTidiedBySearch, copy)) return;
  }
}

void BlockedSkipList::CopyFirstLeaf(LeafCopy* copy) const {
  CopyLeaf(first_leaf_, copy);
}

// Goes right as far as possible on each level, and down by the last slot. It begins anew from the
// same node if that changes meanwhile.
void BlockedSkipList::CopyLastLeaf(LeafCopy* copy) const {
  const Node* node = root_.load(std::memory_order_acquire);
  for (;;) {
    const uint64_t state = node->Stable();
    const uint32_t level = node_state::Level(state);
    const Node* const next = node->next.load(std::memory_order_acquire);
    if (next != nullptr) {
      node = next;
      continue;
    }
    if (level == 0) {
      // A split since then has made another leaf the last one.
      if (TryCopyAndTidy(node, state, kTidiedBySearch, copy) && copy->next == nullptr) return;
      continue;
    }
    Slot last = node->At(0);
    for (uint32_t i = 1; i < node_state::Count(state); i++) {
      const Slot slot = node->At(i);
      if (CompareSlots(level, last, slot) < 0) last = slot;
    }
    if (node->StillIs(state)) node = NodeAt(last.offset);
  }
}

const BlockedSkipList::Node* BlockedSkipList::CopyLocked(const Node* leaf, LeafCopy* copy) const {
  // const_cast: the lock is not part of what readers see.
  Node* const node = const_cast<Node*>(leaf);
  SpinWait spin;
  uint64_t state = node->state.load(std::memory_order_relaxed);
  while ((state & node_state::kLocked) != 0 ||
         !node->state.compare_exchange_weak(state, state | node_state::kLocked,
                                            std::memory_order_acquire, std::memory_order_relaxed)) {
    spin.Once();
    state = node->state.load(std::memory_order_relaxed);
  }
  const NodeLock lock(node, state);
  // A locked leaf is not rewritten, so the copy is whole; if it were not, the walk would come to
  // the leaf again.
  const bool whole = TryCopy(leaf, state, copy);
  return whole ? copy->next : leaf;
}

uint32_t BlockedSkipList::CountBefore(const LeafCopy& copy, const Target& target) const {
  uint32_t at = 0;
  for (uint32_t n = copy.count; n > 0;) {
    const uint32_t half = n / 2;
    if (CompareSlot(0, copy.slots[at + half], target) < 0) {
      at += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return at;
}

uint32_t BlockedSkipList::CountThrough(const LeafCopy& copy, const Target& target) const {
  const uint32_t before = CountBefore(copy, target);
  const bool equal = before < copy.count && CompareSlot(0, copy.slots[before], target) == 0;
  return before + (equal ? 1 : 0);
}

// Goes down to the key's leaf, and adds up on each level the share of the entries that lie under
// the children before the one it takes.
uint64_t BlockedSkipList::EstimateRank(const Slice& user_key) const {
  const Target target = MakeTarget(user_key, ~uint64_t{0});  // before all versions of the key
  const Node* node = root_.load(std::memory_order_acquire);
  // Nodes of a level are taken to have equally many entries below them, which is good enough for an
  // estimate.
  double share = 1;  // Share of all entries below `node`.
  double before = 0;
  for (;;) {
    const uint64_t state = node->Stable();
    const uint32_t level = node_state::Level(state);
    const uint32_t count = node_state::Count(state);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < count; i++) {
      if (Passes(level, node->At(i), target, Side::kBefore)) passed++;
    }
    if (count == 0) return 0;
    if (level == 0) {
      before += share / count * passed;
      break;
    }
    const Node* const child = ChildOf(node, state, target, Side::kBefore);
    // A node that was rewritten meanwhile is read again, before its part enters share and before.
    if (!node->StillIs(state)) continue;
    share /= count;
    if (passed > 0) before += share * (passed - 1);
    node = child;
  }
  return static_cast<uint64_t>(before * static_cast<double>(totals().entries));
}

}  // namespace varve
