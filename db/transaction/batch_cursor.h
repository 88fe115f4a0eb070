// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchCursor is a position among the entries of one column family of a batch. It stays valid when
// updates are added to the batch.

#include <cstdint>
#include <memory>

#include "varve/slice.h"

#include "db/transaction/batch_index.h"

namespace varve {

// Stores its entry by the offset of the record, and finds it again after a change. A rollback
// invalidates the cursor. Keys, given and returned, are user keys without timestamps.
//
// Thread safety: none. Lifetime: after the index is destroyed the cursor may only be destroyed.
// Methods that are not const bring the index up to date first, and may throw meanwhile; the cursor
// is invalid then.
class BatchCursor {
 public:
  BatchCursor(BatchIndex* index, BatchIndex::Family* family);
  BatchCursor(const BatchCursor&) = delete;
  BatchCursor& operator=(const BatchCursor&) = delete;

  [[nodiscard]] bool Valid() const { return offset_ != 0 && !IsLost(); }
  // True from a rollback to the next seek.
  [[nodiscard]] bool IsLost() const { return rollbacks_ != index_->rollbacks(); }
  // True if the batch was added to since the cursor was last moved.
  [[nodiscard]] bool IsBehind() {
    index_->CatchUp();
    return changes_ != index_->changes();
  }
  // Returns the family whose entries the cursor walks; borrowed from the index.
  [[nodiscard]] BatchIndex::Family* family() const { return family_; }
  // Returns the batch's bytes, in which the index finds entries by their offsets.
  [[nodiscard]] const std::string& batch() const { return index_->batch(); }

  // All methods from here to PrevKey require Valid().
  [[nodiscard]] uint32_t offset() const { return offset_; }
  [[nodiscard]] Slice key() const { return family_->keys.KeyOf(offset_); }
  // Returns the place of the entry in the index, which is brought up to date first.
  [[nodiscard]] KeyIndex::Place place();
  // Move to the next and to the previous entry.
  void Next();
  void Prev();
  // Moves to the newest entry of the next key.
  void NextKey();
  // Moves to the oldest entry of the previous key.
  void PrevKey();

  // Move to the newest entry of the first key, or to the oldest entry of the last key.
  void SeekToFirst();
  void SeekToLast();
  // Moves to the newest entry of the first key at or after `key`, or strictly after it.
  void Seek(const Slice& key);
  void SeekBehind(const Slice& key);
  // Moves to the oldest entry of the last key at or before `key`, or strictly before it.
  void SeekForPrev(const Slice& key);
  void SeekBefore(const Slice& key);

 private:
  // Brings the index up to date and notes its state.
  void Start();
  // Move to the entry at a place of the index, and to the one before it. At the end, or without one
  // before it, the cursor becomes invalid.
  void GoTo(const KeyIndex::Place& place);
  void GoBefore(KeyIndex::Place place);

  BatchIndex* const index_;
  // Keeps the bytes that were shown, whatever happens to the batch.
  const std::shared_ptr<BatchIndex::Outgrown> pin_;
  BatchIndex::Family* const family_;
  uint32_t offset_ = 0;  // Offset of the entry; 0: none.
  KeyIndex::Place place_;
  uint64_t changes_;  // Value of BatchIndex::changes when place_ was found.
  // Value of BatchIndex::rollbacks when the cursor was positioned: a later rollback invalidates it.
  uint64_t rollbacks_;
};

}  // namespace varve
