// SPDX-License-Identifier: Apache-2.0
#pragma once

// One data block as an InternalIterator: for meta blocks of entries, tools and tests. Tables walk
// their blocks with DataBlockCursor itself.

#include <memory>
#include <string>

#include "table/block/block.h"
#include "table/block/data_block_cursor.h"
#include "util/iter/internal_iterator.h"

namespace varve {

class DataBlockIterator final : public InternalIterator {
 public:
  // `where` names the block in messages. The comparator outlives the iterator.
  DataBlockIterator(std::shared_ptr<const Block> block, const InternalKeyComparator* icmp,
                    std::string where, SequenceNumber override_seq = kMaxSequenceNumber);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  size_t NextRun(RunEntry* out, size_t max) override;
  size_t PrevRun(RunEntry* out, size_t max) override;
  Status status() const override;
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return valid_ && cursor_.KeyInBlock(); }

 private:
  void Publish();

  const std::shared_ptr<const Block> block_;
  const std::string where_;
  DataBlockCursor cursor_;
};

}  // namespace varve
