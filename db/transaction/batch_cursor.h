// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place among the entries of one column family of a batch that stays right when the batch
// changes.

#include <cstdint>
#include <memory>

#include "varve/slice.h"

#include "db/transaction/batch_index.h"

namespace varve {

// Remembers its entry by the offset of the record, and finds it again after a change. After a
// rollback it stands nowhere.
//
// Thread safety: none. Lifetime: once the index has gone it may only be destroyed. Methods that are
// not const bring the index up to date first, and may throw when they do; it stands nowhere then.
class BatchCursor {
 public:
  BatchCursor(BatchIndex* index, BatchIndex::Family* family);
  BatchCursor(const BatchCursor&) = delete;
  BatchCursor& operator=(const BatchCursor&) = delete;

  [[nodiscard]] bool Valid() const { return offset_ != 0 && !IsLost(); }
  // True from a rollback to the next seek.
  [[nodiscard]] bool IsLost() const { return rollbacks_ != index_->rollbacks(); }
  // True if the batch has been added to since it was last moved.
  [[nodiscard]] bool IsBehind() {
    index_->CatchUp();
    return changes_ != index_->changes();
  }
  [[nodiscard]] BatchIndex::Family* family() const { return family_; }
  [[nodiscard]] const std::string& batch() const { return index_->batch(); }

  // These require Valid().
  [[nodiscard]] uint32_t offset() const { return offset_; }
  [[nodiscard]] Slice key() const { return family_->keys.KeyOf(offset_); }
  [[nodiscard]] KeyIndex::Place place();
  void Next();
  void Prev();
  // To the newest entry of the next key.
  void NextKey();
  // To the oldest entry of the key before.
  void PrevKey();

  void SeekToFirst();
  void SeekToLast();
  // To the newest entry of the first key at or after `key`, or after it.
  void Seek(const Slice& key);
  void SeekBehind(const Slice& key);
  // To the oldest entry of the last key at or before `key`, or before it.
  void SeekForPrev(const Slice& key);
  void SeekBefore(const Slice& key);

 private:
  void Start();
  void GoTo(const KeyIndex::Place& place);
  void GoBefore(KeyIndex::Place place);

  BatchIndex* const index_;
  const std::shared_ptr<BatchIndex::Outgrown> pin_;
  BatchIndex::Family* const family_;
  uint32_t offset_ = 0;  // of the entry; 0: none
  KeyIndex::Place place_;
  uint64_t changes_;  // as of `place_`
  uint64_t rollbacks_;
};

}  // namespace varve
