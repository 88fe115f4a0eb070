// SPDX-License-Identifier: Apache-2.0
#include "table/block/data_block_iterator.h"

#include <utility>

namespace varve {

DataBlockIterator::DataBlockIterator(std::shared_ptr<const Block> block,
                                     const InternalKeyComparator* icmp, std::string where,
                                     SequenceNumber override_seq)
    : block_(std::move(block)), where_(std::move(where)) {
  cursor_.Init(block_.get(), icmp, override_seq);
}

void DataBlockIterator::Publish() {
  valid_ = cursor_.Valid();
  if (!valid_) return;
  key_ = cursor_.key();
  value_ = cursor_.value();
}

void DataBlockIterator::SeekToFirst() {
  cursor_.SeekToFirst();
  Publish();
}

void DataBlockIterator::SeekToLast() {
  cursor_.SeekToLast();
  Publish();
}

void DataBlockIterator::Seek(const Slice& target) {
  cursor_.Seek(target);
  Publish();
}

void DataBlockIterator::SeekForPrev(const Slice& target) {
  cursor_.SeekForPrev(target);
  Publish();
}

void DataBlockIterator::Next() {
  cursor_.Next();
  Publish();
}

void DataBlockIterator::Prev() {
  cursor_.Prev();
  Publish();
}

size_t DataBlockIterator::NextRun(RunEntry* out, size_t max) {
  const size_t n = cursor_.NextRun(out, max);
  if (n == 0) cursor_.Next();  // tells the end from damage
  Publish();
  return n;
}

size_t DataBlockIterator::PrevRun(RunEntry* out, size_t max) {
  const size_t n = cursor_.PrevRun(out, max);
  Publish();
  return n;
}

Status DataBlockIterator::status() const {
  return cursor_.corrupt() ? Status::Corruption("malformed entry in block", where_) : Status::OK();
}

}  // namespace varve
