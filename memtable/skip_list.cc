// SPDX-License-Identifier: Apache-2.0

// Searching and inserting in the skip list.

#include "memtable/skip_list.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace varve {

namespace {

// A reader's distance to the node it will want next, in nodes of a scan.
void Prefetch(const void* p) {
  __builtin_prefetch(p, 0, 3);
}

}  // namespace

SkipList::SkipList(const InternalKeyComparator& icmp, ConcurrentArena* arena)
    : icmp_(icmp),
      order_(icmp.order()),
      arena_(arena),
      head_(NewNode(kMaxHeight, Slice(), 0, Slice())),
      random_(reinterpret_cast<uintptr_t>(this) * 0x9E3779B97F4A7C15u | 1) {
  for (Node*& prev : finger_.prev) prev = head_;
  finger_.next = nullptr;
  finger_.order = 1;
}

SkipList::Node* SkipList::NewNode(int height, const Slice& user_key, uint64_t trailer,
                                  const Slice& value) {
  static_assert(sizeof(Node) == 8 && sizeof(Node::UpperLink) == 16);
  static_assert(std::is_trivially_destructible_v<Node>);
  const size_t links = static_cast<size_t>(height - 1) * sizeof(Node::UpperLink);
  const size_t entry = VarintLength(user_key.size()) + user_key.size() + kInternalKeyTrailerBytes +
                       VarintLength(value.size()) + value.size();
  char* const start = arena_->Allocate(links + sizeof(Node) + entry);
  for (int i = 0; i < height - 1; i++) {
    new (start + static_cast<size_t>(i) * sizeof(Node::UpperLink)) Node::UpperLink;
  }
  Node* const node = new (start + links) Node;
  char* p = EncodeVarint32(start + links + sizeof(Node), static_cast<uint32_t>(user_key.size()));
  if (!user_key.empty()) memcpy(p, user_key.data(), user_key.size());
  p += user_key.size();
  EncodeFixed64(p, trailer);
  p = EncodeVarint32(p + kInternalKeyTrailerBytes, static_cast<uint32_t>(value.size()));
  if (!value.empty()) memcpy(p, value.data(), value.size());
  return node;
}

int SkipList::RandomHeight() {
  // Two threads may read one state and draw the same height, which does no harm.
  uint64_t x = random_.load(std::memory_order_relaxed);
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  random_.store(x, std::memory_order_relaxed);
  const uint64_t bits = x * 0x2545F4914F6CDD1Du >> 20;
  if (bits % kBottomSpacing != 0) return 1;
  return std::min(2 + std::countr_zero(bits / kBottomSpacing | uint64_t{1} << 40), kMaxHeight);
}

void SkipList::RaiseHeight(int height) {
  int seen = height_.load(std::memory_order_relaxed);
  while (seen < height && !height_.compare_exchange_weak(seen, height, std::memory_order_relaxed)) {
  }
}

void SkipList::FindSplice(const Target& target, Splice* splice) const {
  Node* x = head_;
  const int height = height_.load(std::memory_order_relaxed);
  for (int level = kMaxHeight - 1; level >= height; level--) splice->prev[level] = head_;
  for (int level = height - 1; level > 0; level--) {
    for (;;) {
      // Acquire, and before `next`: the node that brought this word is visible as `next`, or one
      // before it, so a word below the target's proves that `next` is before the target.
      const Node::UpperLink& link = x->upper(level);
      const uint64_t word = link.word.load(std::memory_order_acquire);
      if (word > target.word) break;
      Node* const next = link.next.load(std::memory_order_acquire);
      if (word == target.word && (next == nullptr || CompareNode(next, target) >= 0)) break;
      x = next;
    }
    splice->prev[level] = x;
  }
  for (;;) {
    Node* const next = x->next_.load(std::memory_order_acquire);
    splice->next = next;
    splice->order = 1;
    if (next == nullptr) break;
    splice->order = CompareNode(next, target);
    if (splice->order >= 0) break;
    x = next;
  }
  splice->prev[0] = x;
}

SkipList::Node* SkipList::FindBefore(const Target& target) const {
  Node* x = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level > 0; level--) {
    for (;;) {
      // As in FindSplice.
      const Node::UpperLink& link = x->upper(level);
      const uint64_t word = link.word.load(std::memory_order_acquire);
      if (word > target.word) break;
      Node* const next = link.next.load(std::memory_order_acquire);
      if (word == target.word && (next == nullptr || CompareNode(next, target) >= 0)) break;
      x = next;
    }
  }
  for (;;) {
    Node* const next = x->next_.load(std::memory_order_acquire);
    if (next == nullptr) return x;
    Prefetch(next->next_.load(std::memory_order_relaxed));
    if (CompareNode(next, target) >= 0) return x;
    x = next;
  }
}

bool SkipList::FingerFits(const Target& target) {
  Node* const prev = finger_.prev[0];
  if (prev == head_ || CompareNode(prev, target) >= 0) return false;
  finger_.next = prev->next_.load(std::memory_order_acquire);
  finger_.order = finger_.next == nullptr ? 1 : CompareNode(finger_.next, target);
  return finger_.order >= 0;
}

bool SkipList::Insert(const Slice& user_key, uint64_t trailer, const Slice& value) {
  const int height = RandomHeight();
  Node* const node = NewNode(height, user_key, trailer, value);
  const Target target = MakeTarget(user_key, trailer);
  RaiseHeight(height);
  // Acquire and release hand finger_ and exclusive_counts_ from one holder to the next.
  if (!finger_taken_.load(std::memory_order_relaxed) &&
      !finger_taken_.exchange(true, std::memory_order_acquire)) [[likely]] {
    if (!FingerFits(target)) FindSplice(target, &finger_);
    const bool linked = Link(node, height, target, &finger_);
    if (linked) {
      for (int level = 0; level < height; level++) finger_.prev[level] = node;
      Count(&exclusive_counts_, true, target, value.size());
    }
    finger_taken_.store(false, std::memory_order_release);
    return linked;
  }
  // Relaxed: the release of the first link that this thread changes carries it along.
  overlapped_.store(true, std::memory_order_relaxed);
  Splice splice;
  FindSplice(target, &splice);
  const bool linked = Link(node, height, target, &splice);
  if (linked) Count(&shared_counts_, false, target, value.size());
  return linked;
}

bool SkipList::Link(Node* node, int height, const Target& target, Splice* splice) {
  Node* prev = splice->prev[0];
  Node* next = splice->next;
  int order = splice->order;
  for (;;) {
    if (next != nullptr) {
      if (order == 0) return false;
      if (order < 0) {
        prev = next;
        next = prev->next_.load(std::memory_order_acquire);
        order = next == nullptr ? 1 : CompareNode(next, target);
        continue;
      }
    }
    node->next_.store(next, std::memory_order_relaxed);
    // Release publishes the entry and the link of the new node.
    if (prev->next_.compare_exchange_strong(next, node, std::memory_order_release,
                                            std::memory_order_acquire)) [[likely]] {
      break;
    }
    // Others only ever put nodes between, so `next` is theirs now, and not null.
    order = CompareNode(next, target);
  }
  for (int level = 1; level < height; level++) LinkUpper(node, level, target, splice->prev[level]);
  return true;
}

void SkipList::LinkUpper(Node* node, int level, const Target& target, Node* prev) {
  Node::UpperLink& own = node->upper(level);
  for (;;) {
    Node::UpperLink& link = prev->upper(level);
    const uint64_t word = link.word.load(std::memory_order_acquire);
    Node* next = link.next.load(std::memory_order_acquire);
    if (next != nullptr) {
      // Whoever made the word lag has set overlapped_ before it changed `next`.
      const bool exact = !overlapped_.load(std::memory_order_relaxed);
      const bool before =
          exact && word != target.word ? word < target.word : CompareNode(next, target) < 0;
      if (before) {
        prev = next;
        continue;
      }
    }
    own.next.store(next, std::memory_order_relaxed);
    own.word.store(word, std::memory_order_relaxed);
    // Release publishes the two stores above, and the lower levels of the node.
    if (link.next.compare_exchange_strong(next, node, std::memory_order_release,
                                          std::memory_order_relaxed)) [[likely]] {
      // Release, after `next`. When another thread got in between, this word is too large for what
      // `next` is by now: searches then leave the level a step earlier than they could.
      link.word.store(target.word, std::memory_order_release);
      return;
    }
  }
}

void SkipList::Count(Counters* counters, bool exclusive, const Target& target, size_t value_bytes) {
  const auto add = [exclusive](std::atomic<uint64_t>* counter, uint64_t n) {
    if (exclusive) {
      counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    } else {
      counter->fetch_add(n, std::memory_order_relaxed);
    }
  };
  add(&counters->entries, 1);
  add(&counters->bytes, target.user_key.size() + kInternalKeyTrailerBytes + value_bytes);
  const ValueType type = UnpackType(target.trailer);
  if (type == kTypeDeletion || type == kTypeSingleDeletion || type == kTypeDeletionWithTimestamp) {
    add(&counters->deletions, 1);
  }
}

SkipList::Totals SkipList::totals() const {
  Totals result;
  for (const Counters* counters : {&exclusive_counts_, &shared_counts_}) {
    result.entries += counters->entries.load(std::memory_order_relaxed);
    result.deletions += counters->deletions.load(std::memory_order_relaxed);
    result.bytes += counters->bytes.load(std::memory_order_relaxed);
  }
  return result;
}

const SkipList::Node* SkipList::First() const {
  return head_->Next();
}

const SkipList::Node* SkipList::Last() const {
  Node* x = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level > 0; level--) {
    while (Node* const next = x->upper(level).next.load(std::memory_order_acquire)) x = next;
  }
  while (Node* const next = x->next_.load(std::memory_order_acquire)) x = next;
  return x == head_ ? nullptr : x;
}

const SkipList::Node* SkipList::LowerBound(const Slice& user_key, uint64_t trailer) const {
  const Target target = MakeTarget(user_key, trailer);
  const Node* node = FindBefore(target)->Next();
  // An entry may have come in between since the search saw its end.
  while (node != nullptr && CompareNode(node, target) < 0) node = node->Next();
  return node;
}

const SkipList::Node* SkipList::Before(const Slice& user_key, uint64_t trailer) const {
  const Node* const node = FindBefore(MakeTarget(user_key, trailer));
  return node == head_ ? nullptr : node;
}

uint64_t SkipList::EstimateRank(const Slice& user_key) const {
  const Target target =
      MakeTarget(user_key, PackSequenceAndType(kMaxSequenceNumber, kValueTypeForSeek));
  const auto spacing_of = [](int level) {
    return level == 0 ? uint64_t{1} : uint64_t{kBottomSpacing} << (level - 1);
  };
  // From a level with enough nodes that their distances average out.
  constexpr uint64_t kNodesMin = 512;
  const uint64_t entries = totals().entries;
  int level = height_.load(std::memory_order_relaxed) - 1;
  while (level > 0 && entries / spacing_of(level) < kNodesMin) level--;
  uint64_t rank = 0;
  Node* x = head_;
  for (; level >= 0; level--) {
    const uint64_t spacing = spacing_of(level);
    for (;;) {
      Node* const next = level == 0 ? x->next_.load(std::memory_order_acquire)
                                    : x->upper(level).next.load(std::memory_order_acquire);
      if (next == nullptr || CompareNode(next, target) >= 0) break;
      x = next;
      rank += spacing;
    }
  }
  return rank;
}

}  // namespace varve
