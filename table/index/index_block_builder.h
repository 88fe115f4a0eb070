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
  // With `delta_values`, a handle is stored as a difference if its block begins at the end of the
  // previous one.
  IndexBlockBuilder(int restart_interval, bool delta_values)
      : delta_values_(delta_values), block_(OptionsFor(restart_interval)) {}

  // Adds an entry. `separator` is a user key or an internal key, the same for all entries of the
  // table's index. `first_key`, the first internal key of the block, is stored after the handle;
  // null: there is none. Requires ascending separators.
  void Add(const Slice& separator, const BlockHandle& handle, const Slice* first_key = nullptr);

  [[nodiscard]] bool empty() const { return block_.empty(); }
  [[nodiscard]] size_t CurrentSize() const { return block_.CurrentSize(); }

  // These do what the methods of BlockBuilder do.
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
  BlockHandle previous_;  // handle of the previous entry
  std::string full_value_;
  std::string delta_value_;
};

}  // namespace varve
