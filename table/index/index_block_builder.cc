// SPDX-License-Identifier: Apache-2.0

// Encodes the two forms of an index entry.

#include "table/index/index_block_builder.h"

#include "util/coding/varint.h"

namespace varve {

// An entry's value, and with it the reader's way to the handle:
//
//   whole     varint64 offset, varint64 size [, length-prefixed first key]
//   delta     zig-zag difference of sizes    [, length-prefixed first key]
//
// A delta leaves the offset out, because the block begins right behind the previous one and its
// trailer. The block builder chooses the form: whole where no byte of the key is shared, which it
// brings about at restart points and where the block does not follow.
void IndexBlockBuilder::Add(const Slice& separator, const BlockHandle& handle,
                            const Slice* first_key) {
  full_value_.clear();
  handle.EncodeTo(&full_value_);
  if (first_key != nullptr) PutLengthPrefixedSlice(&full_value_, *first_key);
  if (delta_values_) {
    delta_value_.clear();
    PutVarsignedint64(&delta_value_, static_cast<int64_t>(handle.size - previous_.size));
    if (first_key != nullptr) PutLengthPrefixedSlice(&delta_value_, *first_key);
    const bool follows = handle.offset == previous_.end();
    block_.AddIndexEntry(separator, Slice(full_value_), Slice(delta_value_), follows);
  } else {
    block_.Add(separator, Slice(full_value_));
  }
  previous_ = handle;
}

}  // namespace varve
