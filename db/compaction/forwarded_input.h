// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input of a compaction that looks at what another iterator returns, and passes it on.
//
//      CompactionIterator
//          | Next, NextBatch, Seek
//      ForwardedInput ---- OnArrival, OnBatch ---> derived class counts
//          |
//      the merged tables
//
// A derived class must see each entry exactly once, for instance to count the references to blob
// files that go into a compaction. So this class passes on only moves that show the derived class
// every entry they pass: single steps go through NextBatch, and skipping older entries is refused.

#include <cstddef>
#include <memory>
#include <utility>

#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// Walks forward only, and refuses to skip older entries. Derived classes see each entry once.
//
// Thread safety: none.
class ForwardedInput : public InternalIterator {
 public:
  explicit ForwardedInput(std::unique_ptr<InternalIterator> input) : input_(std::move(input)) {}

  // Moves of the walk: the input moves, and the derived class sees where it has arrived.
  void SeekToFirst() override {
    input_->SeekToFirst();
    Arrive();
  }
  void Seek(const Slice& target) override {
    input_->Seek(target);
    Arrive();
  }
  // Entries that are skipped inside the input would be missed by the derived class.
  bool SkipOlder(const Slice& /*target*/, SequenceNumber /*below*/) override { return false; }
  void Next() override {
    BatchEntry ignored;
    NextBatch(&ignored, 1);
  }
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t n = input_->NextBatch(out, max);
    VARVE_ASSERT(n <= max);
    Publish();
    OnBatch(out, n);
    return n;
  }
  Status status() const override { return input_->status(); }

  // Pinning is the input's, as the bytes are.
  bool PinValue(Cleanable* pin) override { return input_->PinValue(pin); }
  bool PinBatch(Cleanable* pin) override { return input_->PinBatch(pin); }
  bool IsValuePinned() const override { return input_->IsValuePinned(); }
  bool IsKeyPinned() const override { return input_->IsKeyPinned(); }

  // Moving backward is never needed.
  void SeekToLast() override { valid_ = false; }
  void SeekForPrev(const Slice& /*target*/) override { valid_ = false; }
  void Prev() override { valid_ = false; }

 protected:
  // Sees the entry to which a seek has moved, if valid_. Derived classes call Arrive after moves of
  // their own.
  virtual void OnArrival() = 0;
  // Sees the `n` entries that follow, of which the last is the current one.
  virtual void OnBatch(const BatchEntry* entries, size_t n) = 0;

  // Takes over the input's position after a seek.
  void Arrive() {
    Publish();
    OnArrival();
  }
  // Returns the iterator that is passed on.
  InternalIterator& input() { return *input_; }

 private:
  // Shows the input's current entry as this iterator's own.
  void Publish() {
    valid_ = input_->Valid();
    if (!valid_) return;
    key_ = input_->key();
    value_ = input_->value();
  }

  const std::unique_ptr<InternalIterator> input_;
};

}  // namespace varve
