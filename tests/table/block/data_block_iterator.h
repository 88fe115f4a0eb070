// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wraps one data block as an InternalIterator for tests of walks.

#include <memory>
#include <string>
#include <utility>

#include "table/block/block.h"
#include "table/block/data_block_cursor.h"
#include "util/iter/internal_iterator.h"

namespace varve {

class DataBlockIterator final : public InternalIterator {
 public:
  // `where` names the block in messages. The comparator outlives the iterator.
  DataBlockIterator(std::shared_ptr<const Block> block, const InternalKeyComparator* icmp,
                    std::string where, SequenceNumber override_seq = kMaxSequenceNumber)
      : block_(std::move(block)), where_(std::move(where)) {
    cursor_.Init(block_.get(), icmp, override_seq);
  }

  void SeekToFirst() override {
    cursor_.SeekToFirst();
    Publish();
  }
  void SeekToLast() override {
    cursor_.SeekToLast();
    Publish();
  }
  void Seek(const Slice& target) override {
    cursor_.Seek(target);
    Publish();
  }
  void SeekForPrev(const Slice& target) override {
    cursor_.SeekForPrev(target);
    Publish();
  }
  void Next() override {
    cursor_.Next();
    Publish();
  }
  void Prev() override {
    cursor_.Prev();
    Publish();
  }
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t n = cursor_.NextBatch(out, max);
    if (n == 0) cursor_.Next();  // tells the end from damage
    Publish();
    return n;
  }
  size_t PrevBatch(BatchEntry* out, size_t max) override {
    const size_t n = cursor_.PrevBatch(out, max);
    Publish();
    return n;
  }
  Status status() const override {
    return cursor_.corrupt() ? Status::Corruption("malformed entry in block", where_)
                             : Status::OK();
  }
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return valid_ && cursor_.KeyInBlock(); }

 private:
  void Publish() {
    valid_ = cursor_.Valid();
    if (!valid_) return;
    key_ = cursor_.key();
    value_ = cursor_.value();
  }

  const std::shared_ptr<const Block> block_;
  const std::string where_;
  DataBlockCursor cursor_;
};

}  // namespace varve
