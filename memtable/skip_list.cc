// SPDX-License-Identifier: Apache-2.0

// Implements searching the skip list, and inserting into it. Rules by number are those of
// skip_list.h.

#include "memtable/skip_list.h"

#include <algorithm>
#include <bit>
#include <new>

#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

namespace {

constexpr unsigned kBranchingBits = 2;
// The level on which a hint is tried, besides level 0, where the next of ascending keys belongs:
// its gap holds about sixteen nodes.
constexpr uint32_t kHintLevel = 2;
// An estimate visits at most this many nodes, of the lowest level that is sparse enough.
constexpr uint64_t kSampledNodes = 256;

}  // namespace

// A node: its links, highest level first, and the entry behind them. No object is constructed: a
// pointer to one is the address of its entry.
class SkipList::Node {
 public:
  using Links = std::atomic<Node*>;

  Node() = delete;
  [[nodiscard]] Links& link(uint32_t level) {
    return reinterpret_cast<Links*>(this)[-1 - int(level)];
  }
  // Acquire: makes the node and all that it leads to visible.
  [[nodiscard]] Node* Next(uint32_t level) const {
    return reinterpret_cast<const Links*>(this)[-1 - int(level)].load(std::memory_order_acquire);
  }
};

SkipList::SkipList(const InternalKeyComparator& icmp, EntryArena* arena)
    : icmp_(icmp), arena_(arena), head_(NewNode(kMaxHeight, 1)) {
  Forget(&hint_);
}

const SkipList::Node* SkipList::Next(const Node* node) {
  return node->Next(0);
}

// Draws a height from two bits of a random number for each level; the generator is Marsaglia's
// xorshift.
uint32_t SkipList::RandomHeight() {
  thread_local uint64_t state = reinterpret_cast<uintptr_t>(&state) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  // The bit that is set bounds the number of zeros; kMaxHeight is reached before.
  const auto zeros = static_cast<uint32_t>(std::countr_zero(state >> 8 | uint64_t{1} << 55));
  return std::min(1 + zeros / kBranchingBits, kMaxHeight);
}

SkipList::Node* SkipList::NewNode(uint32_t height, size_t entry_bytes) {
  constexpr size_t kAlign = sizeof(Node::Links);
  // Pieces of the arena start at even addresses.
  const size_t bytes = kAlign - 2 + height * sizeof(Node::Links) + entry_bytes;
  const auto start = reinterpret_cast<uintptr_t>(arena_->Allocate(bytes).data);
  // Links are atomic and must be aligned; the entry behind them then is aligned as well.
  char* const links = reinterpret_cast<char*>((start + kAlign - 1) & ~(kAlign - 1));
  for (uint32_t i = 0; i < height; i++) new (links + i * sizeof(Node::Links)) Node::Links(nullptr);
  return reinterpret_cast<Node*>(links + height * sizeof(Node::Links));
}

SkipList::Addition SkipList::Make(const MemTableEntry& entry) {
  const uint32_t height = RandomHeight();
  Node* const node = NewNode(height, MemEntry::BytesFor(entry.key, entry.value));
  const uint64_t trailer = PackSequenceAndType(entry.seq, entry.type);
  MemEntry::Write(reinterpret_cast<char*>(node), entry.key, trailer, entry.value);
  return {{entry.key, trailer}, node, height, entry.value.size()};
}

int SkipList::Compare(const Node* node, const Target& target) const {
  const Slice key = EntryOf(node)->internal_key();
  const int order = icmp_.CompareUserKey(ExtractUserKey(key), target.user_key);
  if (order != 0) return order;
  return InternalKeyComparator::CompareTrailers(ExtractTrailer(key), target.trailer);
}

// Goes right on each level as long as nodes are before the target, and then down. The node at which
// a level ended is not compared again on the levels below.
SkipList::Neighbours SkipList::Find(const Target& target) const {
  const Node* before = head_;
  const Node* at = nullptr;
  // Relaxed: at any height, links of the head lead on, or are null.
  for (uint32_t level = height_.load(std::memory_order_relaxed); level-- > 0;) {
    const Node* next = before->Next(level);
    // The node that bounded the level above is not before the target, and is on this level, too
    // (rule 3).
    while (next != at) {
      VARVE_ASSERT(next != nullptr);
      const Node* const behind = next->Next(level);
      if (behind != nullptr) PrefetchLine(behind);
      if (Compare(next, target) >= 0) break;
      before = next;
      next = behind;
    }
    at = next;
  }
  return {before == head_ ? nullptr : before, at};
}

const SkipList::Node* SkipList::Last() const {
  const Node* last = head_;
  for (uint32_t level = height_.load(std::memory_order_relaxed); level-- > 0;) {
    // The last node of a level may have others behind it on the level below.
    while (const Node* const next = last->Next(level)) last = next;
  }
  return last == head_ ? nullptr : last;
}

void SkipList::Forget(Place* place) const {
  std::fill_n(place->before, kMaxHeight, head_);
  std::fill_n(place->after, kMaxHeight, nullptr);
}

// Tests two levels: level 0, where the neighbour of the last key would go, and one above it, where
// a key that is not far away would. A search that begins at a gap saves all levels above (rule 4).
uint32_t SkipList::LevelOfHint(const Target& target, const Place& place) const {
  for (const uint32_t level : {uint32_t{0}, kHintLevel}) {
    Node* const before = place.before[level];
    Node* const after = place.after[level];
    // If nodes were linked between the two, they no longer bound the target closely.
    if (before->Next(level) != after) continue;
    if (before != head_ && Compare(before, target) >= 0) continue;
    if (after == nullptr || Compare(after, target) > 0) return level;
  }
  return kMaxHeight;
}

// Does what Find does, and notes the neighbours on each level in *place.
bool SkipList::FindPlace(const Target& target, uint32_t from, Place* place) const {
  Node* before = head_;
  Node* after = nullptr;
  int order = 1;  // Order of `after` and the target.
  if (from == kMaxHeight) {
    from = height_.load(std::memory_order_relaxed);
  } else {
    before = place->before[from];
    after = place->after[from];
  }
  while (from-- > 0) {
    Node* next = before->Next(from);
    while (next != after) {
      VARVE_ASSERT(next != nullptr);
      Node* const behind = next->Next(from);
      if (behind != nullptr) PrefetchLine(behind);
      const int next_order = Compare(next, target);
      if (next_order >= 0) {
        order = next_order;
        break;
      }
      before = next;
      next = behind;
    }
    after = next;
    place->before[from] = before;
    place->after[from] = after;
  }
  return order == 0;
}

// Release publishes the node. The swap fails unless the gap still is one (rule 1).
bool SkipList::SwapIn(const Addition& added, uint32_t level, const Place& place) {
  Node* after = place.after[level];
  VARVE_ASSERT(place.before[level] == head_ || Compare(place.before[level], added.target) < 0);
  VARVE_ASSERT(after == nullptr || Compare(after, added.target) > 0);
  added.node->link(level).store(after, std::memory_order_relaxed);
  return place.before[level]->link(level).compare_exchange_strong(
      after, added.node, std::memory_order_release, std::memory_order_relaxed);
}

void SkipList::RaiseHeight(uint32_t height) {
  uint32_t seen = height_.load(std::memory_order_relaxed);
  while (seen < height && !height_.compare_exchange_weak(seen, height, std::memory_order_relaxed)) {
  }
}

// Afterwards *place is right behind the new node, as a hint for the next key, or says nothing.
bool SkipList::Link(const Addition& added, Place* place) {
  VARVE_ASSERT(added.height >= 1 && added.height <= kMaxHeight);
  uint32_t from = LevelOfHint(added.target, *place);
  bool contended = false;
  for (;; contended = true, from = kMaxHeight) {
    if (FindPlace(added.target, from, place)) return false;
    // The entry is in once it is linked on level 0; the levels above only make searches faster.
    if (SwapIn(added, 0, *place)) break;
  }
  RaiseHeight(added.height);
  // Another thread adds nearby, so the place is out of date.
  if (!LinkAbove(added, place) || contended) {
    Forget(place);
    return true;
  }
  // The next ascending key belongs right behind this node: on its levels, the nodes after it are
  // those that were found.
  std::fill_n(place->before, added.height, added.node);
  return true;
}

// The entry is in: an exception here only costs a detour.
bool SkipList::LinkAbove(const Addition& added, Place* place) noexcept try {
  bool contended = false;
  for (uint32_t level = 1; level < added.height; level++) {
    while (!SwapIn(added, level, *place)) {
      contended = true;
      FindPlace(added.target, kMaxHeight, place);
    }
  }
  return !contended;
} catch (...) {
  return false;
}

// A thread that gets the insert hint searches from the place of the last insertion; any other one
// uses a place of its own for this call. What was linked is counted, whatever ends the loop.
bool SkipList::Insert(std::span<const Addition> additions) {
  const InsertHintFlag::Hold hint(&hint_flag_);
  Place own;
  if (!hint.taken()) Forget(&own);
  Place* const place = hint.taken() ? &hint_ : &own;
  EntryCounters& counts = hint.taken() ? alone_counts_ : shared_counts_;
  const auto count = [&](const EntryTotals& totals) {
    hint.taken() ? counts.AddAlone(totals) : counts.AddShared(totals);
  };
  EntryTotals totals;
  try {
    for (const Addition& a : additions) {
      if (!Link(a, place)) break;
      totals.Add(a.target.user_key, a.target.trailer, a.value_bytes);
    }
  } catch (...) {
    Forget(place);
    count(totals);
    throw;
  }
  count(totals);
  return totals.entries == additions.size();
}

// Counts the nodes before the key on a level that has few nodes, all of which are looked at.
uint64_t SkipList::EstimateRank(const Slice& user_key) const {
  const Target target{user_key, ~uint64_t{0}};  // before all versions of the key
  const uint64_t entries = totals().entries;
  const uint32_t top = height_.load(std::memory_order_relaxed) - 1;
  uint32_t level = 0;
  // Heights are drawn by chance, so the share of a level's nodes that are before the key is about
  // the share of all entries.
  while (level < top && entries >> (kBranchingBits * level) > kSampledNodes) level++;
  uint64_t before = 0;
  uint64_t all = 0;
  bool passed = false;
  for (const Node* node = head_->Next(level); node != nullptr; node = node->Next(level)) {
    passed = passed || Compare(node, target) >= 0;
    before += passed ? 0 : 1;
    all++;
  }
  if (all == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(entries) * static_cast<double>(before) /
                               static_cast<double>(all));
}

}  // namespace varve
