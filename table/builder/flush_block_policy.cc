// SPDX-License-Identifier: Apache-2.0

// Implements the policy that ends blocks by size, as an object that programs can create and pass
// on.

#include "varve/flush_block_policy.h"

#include "varve/table.h"

#include "table/block/block_builder.h"

namespace varve {
namespace {

// Each entry is preceded by a few bytes of lengths.
constexpr uint64_t kLengthsBytes = 4;

// Ends a block that has `size` bytes, or that the next entry would make larger than that although
// no more than `deviation` percent of it are free.
class BySize final : public FlushBlockPolicy {
 public:
  BySize(uint64_t size, int deviation, const BlockBuilder& block)
      : size_(size), nearly_full_(size), block_(block) {
    if (deviation <= 0 || deviation > 100) return;
    nearly_full_ = (size * static_cast<uint64_t>(100 - deviation) + 99) / 100;
  }

  // Must agree with BlockTableBuilder::BlockIsFull, which makes the same decision without a call: a
  // program that passes this policy on gets the same blocks as one that names none.
  bool Update(const Slice& key, const Slice& value) override {
    if (block_.empty()) return false;
    const uint64_t now = block_.CurrentSize();
    if (now < nearly_full_) return false;
    const uint64_t unshared = key.size() - block_.SharedWithLast(key);
    return now >= size_ || now + unshared + value.size() + kLengthsBytes > size_;
  }

 private:
  const uint64_t size_;
  uint64_t nearly_full_;
  const BlockBuilder& block_;
};

}  // namespace

FlushBlockBySizePolicyFactory::FlushBlockBySizePolicyFactory() = default;

FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(
    const BlockBasedTableOptions& table_options, const BlockBuilder& data_block_builder) const {
  return NewFlushBlockPolicy(table_options.block_size, table_options.block_size_deviation,
                             data_block_builder);
}

FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(
    uint64_t size, int deviation, const BlockBuilder& data_block_builder) {
  return new BySize(size, deviation, data_block_builder);
}

}  // namespace varve
