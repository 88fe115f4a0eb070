// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks over an InternalIterator by the batches of entries that it returns.

#include <cstddef>
#include <memory>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/iter/internal_iterator.h"

namespace varve {

// The entries that an iterator has returned and that its user has not passed yet: [at, end). The
// iterator itself stands on the last of them.
//
// Batches are short after a seek and then grow, so that a short scan decodes few unused entries.
//
// Thread safety: none. Lifetime: the entries live until the iterator's next move.
class EntryBatch {
 public:
  // The entry where the walk is.
  const BatchEntry* at = nullptr;
  const BatchEntry* end = nullptr;

  // Drops the batch, for instance because the iterator is moved otherwise.
  void Forget() { at = end = nullptr; }
  // Makes a batch of the entry that a seek found, or an empty one.
  void TakePlace(const InternalIterator& source) {
    next_size_ = 1;
    at = end = &place_;
    if (!source.Valid()) return;
    place_.Set(source.key(), source.value());
    end++;
  }
  // Fetches the next entry alone; returns as Refill does.
  bool TakeOne(InternalIterator* source, bool forward) {
    at = end = &place_;
    end += forward ? source->NextBatch(&place_, 1) : source->PrevBatch(&place_, 1);
    return at != end;
  }
  // Fetches the next entries in that direction, at most `most`, which must be the same in every
  // call. Returns false, with an empty batch, if there are none.
  bool Refill(InternalIterator* source, bool forward, size_t most) {
    if (next_size_ < most) next_size_ *= 2;
    if (entries_ == nullptr) entries_ = std::make_unique_for_overwrite<BatchEntry[]>(most);
    BatchEntry* const out = entries_.get();
    at = out;
    end = out + (forward ? source->NextBatch(out, next_size_) : source->PrevBatch(out, next_size_));
    return at != end;
  }

 private:
  // Size of the last batch; the next one is twice as large.
  size_t next_size_ = 1;
  // The only entry of a batch of one.
  BatchEntry place_;
  std::unique_ptr<BatchEntry[]> entries_;  // Null before the first step.
};

// A forward walk.
//
// Thread safety: none. Lifetime: the source outlives it, and nothing else moves the source; key()
// and value() live until the source moves: until the next call, or while NextMoves() was false.
// Errors: as the source's.
class EntryBatchReader {
 public:
  explicit EntryBatchReader(InternalIterator* source) : source_(source) {}

  void SeekToFirst() {
    source_->SeekToFirst();
    batch_.TakePlace(*source_);
  }
  // Moves to the first entry at or after `target`, an internal key.
  void Seek(const Slice& target) {
    source_->Seek(target);
    batch_.TakePlace(*source_);
  }
  // Returns the source, which stands where the walk does while NextMoves(), and may be moved ahead
  // then. TakePlace must follow.
  [[nodiscard]] InternalIterator* source() const { return source_; }
  void TakePlace() { batch_.TakePlace(*source_); }
  [[nodiscard]] bool Valid() const { return batch_.at != batch_.end; }
  void Next() {  // Requires Valid().
    if (++batch_.at == batch_.end) [[unlikely]]
      batch_.Refill(source_, true, kEntriesMax);
  }
  // Returns the entry after the current one if it is decoded, else null. Requires Valid().
  [[nodiscard]] const BatchEntry* Ahead() const {
    return batch_.at + 1 == batch_.end ? nullptr : batch_.at + 1;
  }
  // True if Next will move the source, which ends the life of the entries passed so far.
  [[nodiscard]] bool NextMoves() const { return batch_.at + 1 == batch_.end; }  // Requires Valid().
  [[nodiscard]] Slice key() const { return batch_.at->key(); }      // Internal; requires Valid().
  [[nodiscard]] Slice value() const { return batch_.at->value(); }  // Requires Valid().
  [[nodiscard]] Status status() const { return source_->status(); }

 private:
  // Largest batch.
  static constexpr size_t kEntriesMax = 32;

  InternalIterator* const source_;
  EntryBatch batch_;
};

}  // namespace varve
