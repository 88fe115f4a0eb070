// SPDX-License-Identifier: Apache-2.0

// Steps through copies of leaves. Leaves are never removed and their low keys never change, so a
// walk finds its way on from the copy's neighbour or low key, whatever writers have done to the
// leaf since.

#include "memtable/blocked_skip_list_iterator.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

// Prefetches what the first steps need; from then on each step prefetches one entry
// (PrefetchOnTheWay).
void BlockedSkipListIterator::Enter(uint32_t at) {
  at_ = at;
  if (leaf_.next != nullptr) BlockedSkipList::PrefetchNode(leaf_.next);
  const uint32_t end = std::min(leaf_.count, at + kAhead + 1);
  for (uint32_t i = at; i < end; i++) EntryAt(i)->Prefetch();
  if (at_ < leaf_.count) {
    Set();
  } else {
    // A search ends here if all of its leaf is before the target. The next leaf is behind it: the
    // search took the last leaf that begins at or before the target.
    NextLeaf();
  }
}

void BlockedSkipListIterator::NextLeaf() {
  valid_ = false;
  if (leaf_.next == nullptr) return;
  list_.CopyLeaf(leaf_.next, &leaf_);
  Enter(0);
}

void BlockedSkipListIterator::SeekToFirst() {
  list_.CopyFirstLeaf(&leaf_);
  Enter(0);
}

void BlockedSkipListIterator::SeekToLast() {
  list_.CopyLastLeaf(&leaf_);
  EnterBackwards(leaf_.count);
}

void BlockedSkipListIterator::Seek(const Slice& target) {
  const BlockedSkipList::Target at = TargetOf(target);
  list_.CopyLeafOf(at, &leaf_);
  Enter(list_.CountBefore(leaf_, at));
}

void BlockedSkipListIterator::SeekForPrev(const Slice& target) {
  const BlockedSkipList::Target at = TargetOf(target);
  // The leaf's low key is an entry at or before the target, unless the leaf is the leftmost one.
  list_.CopyLeafOf(at, &leaf_);
  EnterBackwards(list_.CountThrough(leaf_, at));
}

void BlockedSkipListIterator::Before(const BlockedSkipList::Target& target) {
  list_.CopyLeafBefore(target, &leaf_);
  EnterBackwards(list_.CountBefore(leaf_, target));
}

void BlockedSkipListIterator::EnterBackwards(uint32_t end) {
  valid_ = end != 0;
  if (!valid_) return;
  at_ = end - 1;
  for (uint32_t i = 0; i < std::min(at_, kAhead); i++) EntryAt(at_ - 1 - i)->Prefetch();
  Set();
}

void BlockedSkipListIterator::Prev() {
  VARVE_ASSERT(valid_);
  if (at_ > 0) {
    at_--;
    if (at_ >= kAhead) EntryAt(at_ - kAhead)->Prefetch();
    return Set();
  }
  const MemEntry* const low = BlockedSkipList::LowOf(leaf_.leaf);
  if (low == nullptr) {
    valid_ = false;
    return;
  }
  // A split may have put leaves between the left neighbour of the copied leaf and the leaf itself,
  // so the neighbour is searched.
  Before(TargetOf(low->internal_key()));
}

// A batch does not leave its leaf, so the entries returned last are as old as the current leaf.
bool BlockedSkipListIterator::SkipOlder(const Slice& target, SequenceNumber below) {
  if (leaf_.newest >= below) return false;
  const BlockedSkipList::Target to = TargetOf(target);
  for (;;) {
    const uint32_t before = list_.CountBefore(leaf_, to);
    // The target lies in this leaf, and no entry before it is new enough to stop at.
    if (before < leaf_.count) {
      Enter(before);
      return true;
    }
    valid_ = false;
    if (leaf_.next == nullptr) return true;
    list_.CopyLeaf(list_.PassOlder(leaf_.next, to, below), &leaf_);
    // Slots do not tell how new an entry is: a leaf that may have such an entry is shown from its
    // beginning.
    if (leaf_.newest >= below) {
      Enter(0);
      return true;
    }
  }
}

// Passes to the left leaf by leaf, until one has an entry at or before the target, or may have one
// as new as `below`, which is then shown from its end.
bool BlockedSkipListIterator::SkipOlderForPrev(const Slice& target, SequenceNumber below) {
  if (leaf_.newest >= below) return false;
  const BlockedSkipList::Target to = TargetOf(target);
  uint32_t end = leaf_.count;
  for (;;) {
    end = std::min(end, list_.CountThrough(leaf_, to));
    const MemEntry* const low = BlockedSkipList::LowOf(leaf_.leaf);
    // An entry at or before the target is here, or there is no leaf to the left.
    if (end != 0 || low == nullptr) break;
    const BlockedSkipList::Target first =
        TargetOf(list_.PassOlderForPrev(low, to, below)->internal_key());
    list_.CopyLeafBefore(first, &leaf_);
    end = list_.CountBefore(leaf_, first);
    if (leaf_.newest >= below) break;
  }
  EnterBackwards(end);
  return true;
}

// Batches end with the current leaf.
size_t BlockedSkipListIterator::NextBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  const uint32_t n = static_cast<uint32_t>(std::min<size_t>(max, leaf_.count - 1 - at_));
  if (n == 0) {
    Next();
    return WriteCurrent(out);
  }
  Slice last = key_;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t at = at_ + 1 + i;
    PrefetchOnTheWay(at);
    Slice value;
    const Slice key = EntryAt(at)->internal_key(&value);
    out[i].Set(key, value);
    out[i].same_key = SameKeyAt(at, key, last);
    last = key;
  }
  at_ += n;
  PublishLast(out[n - 1]);
  return n;
}

size_t BlockedSkipListIterator::PrevBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  size_t n = 0;
  while (n < max && at_ > 0) {
    const Slice last = key_;
    Prev();
    out[n].Set(key_, value_);
    out[n].same_key = SameKeyAt(at_ + 1, last, key_);
    n++;
  }
  if (n != 0) return n;
  Prev();
  return WriteCurrent(out);
}

}  // namespace varve
