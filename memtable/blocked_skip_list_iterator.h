// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a walk over a blocked skip list that holds a copy of one leaf.
//
// Writers may split a leaf, or rewrite its slots, while a walk is in it. So the walk copies a
// leaf's slots when it enters, sorted, and steps through the copy. When the copy is used up, a
// forward walk goes to the neighbour that the copy names, a backward walk searches for what lies
// before the copy's lowest key.
//
//      list      [leaf a] -> [leaf b] -> [leaf b', split off meanwhile] -> [leaf c]
//      iterator  leaf_: copy of b as it was when it was entered,  at_: position in the copy

#include "memtable/blocked_skip_list.h"
#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"
#include "util/mem/prefetch.h"

namespace varve {

// Walks the entries of a list in both directions. Entries added after their leaf was copied may be
// missing; all others are found. Thread safety: none. Lifetime: the list outlives it.
class BlockedSkipListIterator final : public InternalIterator {
 public:
  explicit BlockedSkipListIterator(const BlockedSkipList& list) : list_(list) {}

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  bool SkipOlder(const Slice& target, SequenceNumber below) override;
  bool SkipOlderForPrev(const Slice& target, SequenceNumber below) override;
  void Next() override {
    VARVE_ASSERT(valid_);
    if (++at_ < leaf_.count) [[likely]] {
      PrefetchOnTheWay(at_);
      Set();
    } else {
      NextLeaf();
    }
  }
  void Prev() override;
  size_t NextBatch(BatchEntry* out, size_t max) override;
  size_t PrevBatch(BatchEntry* out, size_t max) override;
  Status status() const override { return Status::OK(); }
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return true; }

 private:
  // Entries are prefetched this far ahead of the position.
  static constexpr uint32_t kAhead = 8;

  // Compares slot `i` with the one before it; `key` and `key_before` are their internal keys.
  [[nodiscard]] SameKey SameKeyAt(uint32_t i, const Slice& key, const Slice& key_before) const {
    if (leaf_.slots[i - 1].prefix != leaf_.slots[i].prefix) return SameKey::kNo;
    if ((leaf_.versions >> i & 1) != 0) return SameKey::kYes;
    return list_.SameKeyDespitePrefixes(key_before, key);
  }
  // Returns the key in the form in which the list searches.
  [[nodiscard]] BlockedSkipList::Target TargetOf(const Slice& internal_key) const {
    return list_.MakeTarget(ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }
  // Returns the entry of slot `i` of the copy.
  [[nodiscard]] const MemEntry* EntryAt(uint32_t i) const {
    return list_.EntryAt(leaf_.slots[i].offset);
  }
  // Shows the entry at at_.
  void Set() {
    key_ = EntryAt(at_)->internal_key(&value_);
    valid_ = true;
  }
  // Prefetches after a step forward to `at`. A few entries of the next leaf are prefetched with
  // each of the last steps, because all of them at once would wait for each other.
  void PrefetchOnTheWay(uint32_t at) const {
    if (at + kAhead < leaf_.count) [[likely]] {
      EntryAt(at + kAhead)->Prefetch();
    } else if (leaf_.next != nullptr) {
      list_.PrefetchSlot(leaf_.next, at + kAhead - leaf_.count);
    }
  }
  // Moves to position `at` of a leaf just copied, which may be its end.
  void Enter(uint32_t at);
  // Moves to the last of the first `end` entries of a leaf just copied; there may be none.
  void EnterBackwards(uint32_t end);
  // Copies the leaf after this one, and shows its first entry.
  void NextLeaf();
  // Moves to the last entry before the target.
  void Before(const BlockedSkipList::Target& target);

  const BlockedSkipList& list_;
  uint32_t at_ = 0;
  BlockedSkipList::LeafCopy leaf_;
};

}  // namespace varve
