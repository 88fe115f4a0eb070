// SPDX-License-Identifier: Apache-2.0
#pragma once

// An ordered list of entries that is only ever added to, with the key words of the next node in the
// links above the bottom, so that a descent reads one cache line a step and few keys.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "varve/slice.h"

#include "util/coding/fixed.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"
#include "util/mem/arena.h"

namespace varve {

// Thread safety: Insert and all reads may run in any number of threads at once; nothing waits.
// README.md has the argument.
// Lifetime: nodes lie in the arena, which outlives the list, and never move or go away before it.
class SkipList {
 public:
  class Node;

  // What has been inserted. Statistics; they publish nothing.
  struct Totals {
    uint64_t entries = 0;
    uint64_t deletions = 0;
    uint64_t bytes = 0;  // user keys, trailers and values
  };

  SkipList(const InternalKeyComparator& icmp, ConcurrentArena* arena);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // Copies the entry in. False, with nothing added, when the internal key is already there.
  // Requires: key and value shorter than 4 GiB. Throws std::bad_alloc.
  bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value);

  // Null stands for "no such node" everywhere.
  [[nodiscard]] const Node* First() const;
  [[nodiscard]] const Node* Last() const;
  // The first node at or after (user_key, trailer), and the last node before it.
  [[nodiscard]] const Node* LowerBound(const Slice& user_key, uint64_t trailer) const;
  [[nodiscard]] const Node* Before(const Slice& user_key, uint64_t trailer) const;

  // About how many entries lie before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const;
  [[nodiscard]] Totals totals() const;

 private:
  // One node in kBottomSpacing is in the lowest upper level, and half of each level in the one
  // above it: a step up there costs a cache miss, a level costs none.
  static constexpr int kBottomSpacing = 4;
  static constexpr int kMaxHeight = 24;
  static constexpr uint64_t kNoWord = ~uint64_t{0};

  struct Target {
    uint64_t word;
    Slice user_key;
    uint64_t trailer;
  };

  // Where a node goes: the nodes before it at every level, and the first one not before it.
  struct Splice {
    Node* prev[kMaxHeight];
    Node* next;
    int order;  // of `next` against the target: 0 or more; meaningless when next is null
  };

  struct Counters {
    std::atomic<uint64_t> entries{0};
    std::atomic<uint64_t> deletions{0};
    std::atomic<uint64_t> bytes{0};
  };

  [[nodiscard]] uint64_t WordOf(const Slice& user_key) const {
    switch (order_) {
      case KeyOrder::kBytewise:
        return KeyWord(user_key, 0);
      case KeyOrder::kReverseBytewise:
        return ~KeyWord(user_key, 0);
      case KeyOrder::kCustom:
        break;
    }
    return 0;
  }
  [[nodiscard]] Target MakeTarget(const Slice& user_key, uint64_t trailer) const {
    return Target{WordOf(user_key), user_key, trailer};
  }

  Node* NewNode(int height, const Slice& user_key, uint64_t trailer, const Slice& value);
  int RandomHeight();
  void RaiseHeight(int height);
  // <0 when the node sorts before the target.
  int CompareNode(const Node* node, const Target& target) const;
  void FindSplice(const Target& target, Splice* splice) const;
  // The last node before the target at level 0, perhaps the head.
  Node* FindBefore(const Target& target) const;
  // Whether the finger's neighbours enclose the target; completes the finger if so.
  bool FingerFits(const Target& target);
  bool Link(Node* node, int height, const Target& target, Splice* splice);
  void LinkUpper(Node* node, int level, const Target& target, Node* prev);
  static void Count(Counters* counters, bool exclusive, const Target& target, size_t value_bytes);

  const InternalKeyComparator icmp_;
  const KeyOrder order_;
  ConcurrentArena* const arena_;
  Node* const head_;
  // Levels in use. Grows only; a reader with an old value starts lower and is slower, not wrong.
  std::atomic<int> height_{1};
  // Set once two inserts ran at one time. Until then a link's word is that of its node for the one
  // thread that inserts; afterwards it may lag behind, and inserts look at the node itself.
  std::atomic<bool> overlapped_{false};

  // Writers only, away from what readers load. The thread that took finger_taken_ may use finger_
  // and counts without atomic additions; others go without.
  alignas(64) std::atomic<bool> finger_taken_{false};
  std::atomic<uint64_t> random_;
  Counters exclusive_counts_;
  Splice finger_;
  alignas(64) Counters shared_counts_;
};

// A node: links of its upper levels in front of it, highest first; then itself, the link of the
// bottom level; then the entry: varint32 user key length, internal key, varint32 value length,
// value.
class SkipList::Node {
 public:
  [[nodiscard]] Slice internal_key() const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    return Slice(key, n + kInternalKeyTrailerBytes);
  }
  [[nodiscard]] Slice user_key() const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    return Slice(key, n);
  }
  // The same, and the entry's value.
  [[nodiscard]] Slice internal_key(Slice* value) const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    const char* p = key + n + kInternalKeyTrailerBytes;
    uint32_t value_bytes = 0;
    p = GetVarint32Ptr(p, p + kMaxVarint32Length, &value_bytes);
    *value = Slice(p, value_bytes);
    return Slice(key, n + kInternalKeyTrailerBytes);
  }
  // Acquire: what the inserting thread wrote into the next node is visible.
  [[nodiscard]] const Node* Next() const { return next_.load(std::memory_order_acquire); }

 private:
  friend class SkipList;

  struct UpperLink {
    std::atomic<Node*> next{nullptr};
    // At least the word of `next`, and the word of a node that `next` once was. Read before
    // `next`, written after it.
    std::atomic<uint64_t> word{kNoWord};
  };

  UpperLink& upper(int level) { return reinterpret_cast<UpperLink*>(this)[-level]; }
  const char* Key(uint32_t* bytes) const {
    const char* const p = reinterpret_cast<const char*>(this + 1);
    return GetVarint32Ptr(p, p + kMaxVarint32Length, bytes);
  }

  std::atomic<Node*> next_{nullptr};
};

inline int SkipList::CompareNode(const Node* node, const Target& target) const {
  uint32_t n = 0;
  const char* const key = node->Key(&n);
  const Slice user_key(key, n);
  if (order_ != KeyOrder::kCustom) {
    const uint64_t word = WordOf(user_key);
    if (word != target.word) return word < target.word ? -1 : 1;
  }
  const int order = icmp_.CompareUserKey(user_key, target.user_key);
  if (order != 0) return order;
  return InternalKeyComparator::CompareTrailers(DecodeFixed64(key + n), target.trailer);
}

}  // namespace varve
