// SPDX-License-Identifier: Apache-2.0

// Leaves entries out whose write has failed after a part of it was inserted. Such entries cannot be
// removed from a memtable that others read; so their sequence numbers are listed, and every walk
// and look-up passes over them.

#include "memtable/invalidated_sequences.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

// Walks the entries of `walk` whose sequences are not invalidated. Entries of sequences that are
// invalidated later may still be returned: a reader is at a sequence that was published after them.
// Thread safety: none.
class IteratorWithout final : public InternalIterator {
 public:
  IteratorWithout(std::unique_ptr<InternalIterator> walk,
                  std::shared_ptr<const InvalidatedSequences> invalidated)
      : walk_(std::move(walk)), invalidated_(std::move(invalidated)) {}

  void SeekToFirst() override {
    walk_->SeekToFirst();
    PassForward();
  }
  void SeekToLast() override {
    walk_->SeekToLast();
    PassBackward();
  }
  void Seek(const Slice& target) override {
    walk_->Seek(target);
    PassForward();
  }
  void SeekForPrev(const Slice& target) override {
    walk_->SeekForPrev(target);
    PassBackward();
  }
  void Next() override {
    walk_->Next();
    PassForward();
  }
  void Prev() override {
    walk_->Prev();
    PassBackward();
  }
  Status status() const override { return walk_->status(); }
  bool PinValue(Cleanable* pin) override { return walk_->PinValue(pin); }
  bool IsValuePinned() const override { return walk_->IsValuePinned(); }
  bool IsKeyPinned() const override { return walk_->IsKeyPinned(); }

 private:
  // True if the entry is to be left out; every step asks this. Batches are not handed through,
  // because invalidated entries inside one would be shown.
  bool IsInvalidated() const {
    return walk_->Valid() && invalidated_->Contains(UnpackSequence(ExtractTrailer(walk_->key())));
  }
  void PassForward() {
    while (IsInvalidated()) walk_->Next();
    Show();
  }
  void PassBackward() {
    while (IsInvalidated()) walk_->Prev();
    Show();
  }
  void Show() {
    valid_ = walk_->Valid();
    if (!valid_) return;
    key_ = walk_->key();
    value_ = walk_->value();
  }

  const std::unique_ptr<InternalIterator> walk_;
  const std::shared_ptr<const InvalidatedSequences> invalidated_;
};

}  // namespace

InvalidatedSequences::InvalidatedSequences(size_t most_ranges)
    : most_(most_ranges), ranges_(std::make_unique_for_overwrite<Range[]>(most_ranges)) {}

bool InvalidatedSequences::Add(SequenceNumber first, SequenceNumber last) {
  VARVE_ASSERT(first <= last);
  const size_t count = count_.load(std::memory_order_relaxed);
  // The place is free: only this thread adds, and readers look no further than count_.
  if (count == most_) return false;
  ranges_[count] = Range{first, last};
  count_.store(count + 1, std::memory_order_release);
  return true;
}

bool InvalidatedSequences::Contains(SequenceNumber seq) const {
  const size_t count = count_.load(std::memory_order_acquire);
  // Only failed writes add ranges, so that a walk over them will do.
  return std::any_of(ranges_.get(), ranges_.get() + count,
                     [seq](const Range& range) { return range.first <= seq && seq <= range.last; });
}

std::unique_ptr<InternalIterator> NewIteratorWithout(
    std::unique_ptr<InternalIterator> walk,
    std::shared_ptr<const InvalidatedSequences> invalidated) {
  return std::make_unique<IteratorWithout>(std::move(walk), std::move(invalidated));
}

}  // namespace varve
