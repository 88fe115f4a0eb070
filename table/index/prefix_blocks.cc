// SPDX-License-Identifier: Apache-2.0

// Maps keys to runs of data blocks.

#include "table/index/prefix_blocks.h"

#include "util/base/assert.h"
#include "util/coding/varint.h"

namespace varve {

// Keys of one prefix are adjacent, so their blocks are a run of numbers.
void PrefixBlocks::Add(const Slice& user_key, uint32_t block) {
  if (!extractor_->InDomain(user_key)) return;
  const Slice prefix = extractor_->Transform(user_key);
  if (block_count_ == 0 || prefix != Slice(prefix_)) {
    EndPrefix();
    prefix_.assign(prefix.data(), prefix.size());
    first_block_ = block;
  }
  VARVE_ASSERT(block + 1 >= first_block_ + block_count_);
  block_count_ = block - first_block_ + 1;
}

void PrefixBlocks::EndPrefix() {
  if (block_count_ == 0) return;
  prefixes_ += prefix_;
  PutVarint32(&metadata_, static_cast<uint32_t>(prefix_.size()));
  PutVarint32(&metadata_, first_block_);
  PutVarint32(&metadata_, block_count_);
  block_count_ = 0;
}

}  // namespace varve
