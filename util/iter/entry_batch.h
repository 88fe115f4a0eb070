// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walking an InternalIterator by the batches of entries that it hands over.

#include <cstddef>
#include <memory>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/iter/internal_iterator.h"

namespace varve {

// The entries that an iterator has handed over and that its user has not passed yet: [at, end), the
// last of which is where the iterator itself stands.
//
// After a seek batches are short and then grow, so that a short scan decodes little in vain.
//
// Thread safety: none. Lifetime: that of the entries, which ends with the iterator's next move.
class EntryBatch {
 public:
  const BatchEntry* at = nullptr;
  const BatchEntry* end = nullptr;

  void Forget() { at = end = nullptr; }
  // The place that a seek led to is a batch of one, or of none.
  void TakePlace(const InternalIterator& source) {
    next_size_ = 1;
    at = end = &place_;
    if (!source.Valid()) return;
    place_.Set(source.key(), source.value());
    end++;
  }
  // The next entry alone; as Refill.
  bool TakeOne(InternalIterator* source, bool forward) {
    at = end = &place_;
    end += forward ? source->NextBatch(&place_, 1) : source->PrevBatch(&place_, 1);
    return at != end;
  }
  // The next entries in that direction, at most `most`, which is the same in every call. False,
  // with an empty batch, if there are none.
  bool Refill(InternalIterator* source, bool forward, size_t most) {
    if (next_size_ < most) next_size_ *= 2;
    if (entries_ == nullptr) entries_ = std::make_unique_for_overwrite<BatchEntry[]>(most);
    BatchEntry* const out = entries_.get();
    at = out;
    end = out + (forward ? source->NextBatch(out, next_size_) : source->PrevBatch(out, next_size_));
    return at != end;
  }

 private:
  size_t next_size_ = 1;
  BatchEntry place_;
  std::unique_ptr<BatchEntry[]> entries_;  // null before the first step
};

// A forward walk.
//
// Thread safety: none. Lifetime: the source outlives it and is moved by nobody behind its back;
// key() and value() live until the source moves: until the next call, or while NextMoves() was
// false. Errors: as the source's.
class EntryBatchReader {
 public:
  explicit EntryBatchReader(InternalIterator* source) : source_(source) {}

  void SeekToFirst() {
    source_->SeekToFirst();
    batch_.TakePlace(*source_);
  }
  void Seek(const Slice& target) {
    source_->Seek(target);
    batch_.TakePlace(*source_);
  }
  // The source stands where the walk does, and may be moved ahead, while NextMoves(). TakePlace
  // follows.
  [[nodiscard]] InternalIterator* source() const { return source_; }
  void TakePlace() { batch_.TakePlace(*source_); }
  [[nodiscard]] bool Valid() const { return batch_.at != batch_.end; }
  void Next() {  // requires Valid()
    if (++batch_.at == batch_.end) [[unlikely]]
      batch_.Refill(source_, true, kEntriesMax);
  }
  // The entry after the current one, if it is at hand; null says nothing. Requires Valid().
  [[nodiscard]] const BatchEntry* Ahead() const {
    return batch_.at + 1 == batch_.end ? nullptr : batch_.at + 1;
  }
  // Whether Next will move the source, which ends the life of entries passed so far.
  [[nodiscard]] bool NextMoves() const { return batch_.at + 1 == batch_.end; }  // requires Valid()
  [[nodiscard]] Slice key() const { return batch_.at->key(); }      // internal; requires Valid()
  [[nodiscard]] Slice value() const { return batch_.at->value(); }  // requires Valid()
  [[nodiscard]] Status status() const { return source_->status(); }

 private:
  static constexpr size_t kEntriesMax = 32;

  InternalIterator* const source_;
  EntryBatch batch_;
};

}  // namespace varve
