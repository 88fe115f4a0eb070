// SPDX-License-Identifier: Apache-2.0
#pragma once

// The iterator over the updates of a batch.

#include <cstdint>

#include "varve/status.h"
#include "varve/utilities/write_batch_with_index.h"

#include "db/transaction/batch_cursor.h"

namespace varve {

// With `overwrites`, of each key it shows the newest update that is no merge, and the merges above
// it.
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

  // Of those that this entry stands for.
  [[nodiscard]] uint32_t CountOverwrittenSingleDeletes() const;

 private:
  template <typename Move>
  void Guarded(Move move);
  // Calls visit(record) for this update and the older ones of its key, as far as there is memory to
  // bring the index up to date.
  template <typename Visit>
  void VisitOlder(const Visit& visit) const;
  // From the oldest update of a key to the oldest that is shown.
  void PassOverwritten();

  // Finding a place again changes nothing that others see.
  mutable BatchCursor cursor_;
  const bool overwrites_;
  Status status_;
};

}  // namespace varve
