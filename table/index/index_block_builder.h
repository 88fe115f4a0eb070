// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds one block of an index: separators and the handles of the blocks that they lead to.

#include <string>

#include "varve/slice.h"

#include "table/block/block_builder.h"
#include "table/format/block_handle.h"

namespace varve {

// Thread safety: none.
class IndexBlockBuilder {
 public:
  // `delta_values`: handles are stored as differences where they can be: where a block begins at
  // the end of the one before.
  IndexBlockBuilder(int restart_interval, bool delta_values)
      : delta_values_(delta_values), block_(OptionsFor(restart_interval)) {}

  // `first_key` goes after the handle; null: none. Keys ascending.
  void Add(const Slice& key, const BlockHandle& handle, const Slice* first_key = nullptr);

  [[nodiscard]] bool empty() const { return block_.empty(); }
  [[nodiscard]] size_t CurrentSize() const { return block_.CurrentSize(); }

  // As those of BlockBuilder.
  Slice Finish() { return block_.Finish(); }
  [[nodiscard]] char* trailer() { return block_.trailer(); }
  void Reset() { block_.Reset(); }

 private:
  static BlockBuilder::Options OptionsFor(int restart_interval) {
    BlockBuilder::Options result;
    result.restart_interval = restart_interval;
    return result;
  }

  const bool delta_values_;
  BlockBuilder block_;
  BlockHandle previous_;  // of the entry before
  std::string full_value_;
  std::string delta_value_;
};

}  // namespace varve
