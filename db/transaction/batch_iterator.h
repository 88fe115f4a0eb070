// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchIterator iterates over the updates of one column family in a batch (WBWIIterator).

#include <cstdint>

#include "varve/status.h"
#include "varve/utilities/write_batch_with_index.h"

#include "db/transaction/batch_cursor.h"

namespace varve {

// Shows every update, those of a key newest first. With `overwrites` it shows, for each key, only
// the newest update that is not a merge, and the merges newer than that.
//
// Thread safety: none. Lifetime: that of BatchCursor.
class BatchIterator final : public WBWIIterator {
 public:
  BatchIterator(BatchIndex* index, BatchIndex::Family* family, bool overwrites)
      : cursor_(index, family), overwrites_(overwrites) {}

  bool Valid() const override { return status_.ok() && cursor_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& key) override;
  void SeekForPrev(const Slice& key) override;
  void Next() override;
  void Prev() override;
  WriteEntry Entry() const override;
  Status status() const override { return status_; }
  bool HasOverWrittenSingleDel() const override { return CountOverwrittenSingleDeletes() != 0; }
  uint32_t GetUpdateCount() const override;

  // Returns the number of overwritten SingleDeletes among the updates that this entry represents.
  [[nodiscard]] uint32_t CountOverwrittenSingleDeletes() const;

 private:
  // Runs a move of the cursor. An exception leaves the iterator invalid with a status.
  template <typename Move>
  void Guarded(Move move);
  // Calls visit(record) for this update and the older ones of its key, as far as there is memory to
  // bring the index up to date.
  template <typename Visit>
  void VisitOlder(const Visit& visit) const;
  // Moves from the oldest update of a key to the oldest that is shown.
  void PassOverwritten();

  // Mutable because finding its entry again has no visible effect.
  mutable BatchCursor cursor_;
  const bool overwrites_;
  Status status_;
};

}  // namespace varve
