// SPDX-License-Identifier: Apache-2.0

// Implements the checked walk over a block's entries.

#include "table/block/block_walker.h"

#include "util/coding/fixed.h"
#include "util/coding/reader.h"

namespace varve {

BlockWalker::BlockWalker(const Slice& block) : begin_(block.data()), pos_(begin_), end_(begin_) {
  constexpr size_t kWord = sizeof(uint32_t);
  if (block.size() < kWord) {
    Fail("block is too short to hold its count of restart points");
    return;
  }
  const uint64_t restarts = DecodeFixed32(begin_ + block.size() - kWord);
  const uint64_t room = (block.size() - kWord) / kWord;
  // Rejects a hash index, which the highest bit announces: it occurs in data blocks only.
  if (restarts > room) {
    Fail("block counts more restart points than it can hold");
    return;
  }
  end_ = begin_ + block.size() - kWord - static_cast<size_t>(restarts) * kWord;
}

bool BlockWalker::Next() {
  if (pos_ == end_) return false;
  BoundedReader in(Slice(pos_, static_cast<size_t>(end_ - pos_)));
  const uint32_t shared = in.Varint32();
  const uint32_t unshared = in.Varint32();
  const uint32_t value_size = in.Varint32();
  const Slice key_rest = in.Bytes(unshared);
  const Slice value = in.Bytes(value_size);
  if (!in.ok()) return Fail("block entry reaches beyond the block");
  if (shared > key_.size()) return Fail("block entry shares more than the key before it has");
  key_.resize(shared);
  key_.append(key_rest.data(), key_rest.size());
  value_ = value;
  pos_ += in.offset();
  return true;
}

size_t BlockWalker::value_offset() const {
  return static_cast<size_t>(value_.data() - begin_);
}

bool BlockWalker::Fail(const char* what) {
  status_ = Status::Corruption(what, "at byte " + std::to_string(pos_ - begin_) + " of the block");
  pos_ = end_;
  return false;
}

}  // namespace varve
