// SPDX-License-Identifier: Apache-2.0

// From leaf to leaf, both ways.

#include "memtable/tree_iterator.h"

#include <algorithm>

namespace varve {

void KeyTreeIterator::Enter(uint32_t at) {
  at_ = at;
  if (leaf_.next != nullptr) KeyTree::PrefetchNode(leaf_.next);
  const uint32_t end = std::min(leaf_.count, at + kAhead + 1);
  for (uint32_t i = at; i < end; i++) EntryAt(i)->Prefetch();
  if (at_ < leaf_.count) {
    Set();
  } else {
    NextLeaf();
  }
}

void KeyTreeIterator::NextLeaf() {
  valid_ = false;
  if (leaf_.next == nullptr) return;
  tree_.CopyLeaf(leaf_.next, &leaf_);
  Enter(0);
}

void KeyTreeIterator::SeekToFirst() {
  tree_.CopyFirstLeaf(&leaf_);
  Enter(0);
}

void KeyTreeIterator::SeekToLast() {
  tree_.CopyLastLeaf(&leaf_);
  EnterBackwards(leaf_.count);
}

void KeyTreeIterator::Seek(const Slice& target) {
  const KeyTree::Target at = TargetOf(target);
  tree_.CopyLeafOf(at, &leaf_);
  Enter(tree_.CountBefore(leaf_, at));
}

void KeyTreeIterator::SeekForPrev(const Slice& target) {
  const KeyTree::Target at = TargetOf(target);
  // The leaf's low key is an entry at or before the target, unless the leaf is the leftmost one.
  tree_.CopyLeafOf(at, &leaf_);
  EnterBackwards(tree_.CountThrough(leaf_, at));
}

void KeyTreeIterator::Before(const KeyTree::Target& target) {
  tree_.CopyLeafBefore(target, &leaf_);
  EnterBackwards(tree_.CountBefore(leaf_, target));
}

void KeyTreeIterator::EnterBackwards(uint32_t end) {
  valid_ = end != 0;
  if (!valid_) return;
  at_ = end - 1;
  for (uint32_t i = 0; i < std::min(at_, kAhead); i++) EntryAt(at_ - 1 - i)->Prefetch();
  Set();
}

void KeyTreeIterator::Prev() {
  if (at_ > 0) {
    at_--;
    if (at_ >= kAhead) EntryAt(at_ - kAhead)->Prefetch();
    return Set();
  }
  const MemEntry* const low = KeyTree::LowOf(leaf_.leaf);
  if (low == nullptr) {
    valid_ = false;
    return;
  }
  Before(TargetOf(low->internal_key()));
}

// A run does not leave its leaf, so what was handed over last is as old as the leaf in hand.
bool KeyTreeIterator::SkipOlder(const Slice& target, SequenceNumber below) {
  if (leaf_.newest >= below) return false;
  const KeyTree::Target to = TargetOf(target);
  for (;;) {
    const uint32_t before = tree_.CountBefore(leaf_, to);
    if (before < leaf_.count) {
      Enter(before);
      return true;
    }
    valid_ = false;
    if (leaf_.next == nullptr) return true;
    tree_.CopyLeaf(tree_.PassOlder(leaf_.next, to, below), &leaf_);
    if (leaf_.newest >= below) {
      Enter(0);
      return true;
    }
  }
}

bool KeyTreeIterator::SkipOlderForPrev(const Slice& target, SequenceNumber below) {
  if (leaf_.newest >= below) return false;
  const KeyTree::Target to = TargetOf(target);
  uint32_t end = leaf_.count;
  for (;;) {
    end = std::min(end, tree_.CountThrough(leaf_, to));
    const MemEntry* const low = KeyTree::LowOf(leaf_.leaf);
    if (end != 0 || low == nullptr) break;
    const KeyTree::Target first = TargetOf(tree_.PassOlderForPrev(low, to, below)->internal_key());
    tree_.CopyLeafBefore(first, &leaf_);
    end = tree_.CountBefore(leaf_, first);
    if (leaf_.newest >= below) break;
  }
  EnterBackwards(end);
  return true;
}

// Runs end with the leaf in hand.
size_t KeyTreeIterator::NextRun(RunEntry* out, size_t max) {
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

size_t KeyTreeIterator::PrevRun(RunEntry* out, size_t max) {
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
