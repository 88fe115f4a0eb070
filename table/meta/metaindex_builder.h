// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the metaindex: the names of the blocks that are neither data nor (up to version 5) index.

#include <map>
#include <string>

#include "table/block/block_builder.h"
#include "table/format/block_handle.h"
#include "util/base/assert.h"

namespace varve {

// Thread safety: none.
class MetaindexBuilder {
 public:
  // Adds a block under a name that was not added before.
  void Add(const std::string& name, const BlockHandle& handle) {
    VARVE_ASSERT(entries_.count(name) == 0);
    std::string encoded;
    handle.EncodeTo(&encoded);
    entries_[name] = encoded;
  }

  // Returns the block without its trailer.
  [[nodiscard]] std::string Finish() const {
    BlockBuilder::Options options;
    options.restart_interval = 1;
    BlockBuilder block(options);
    for (const auto& [name, handle] : entries_) block.Add(Slice(name), Slice(handle));
    return block.Finish().ToString();
  }

 private:
  // Encoded handles by name: readers search the block, so it is sorted.
  std::map<std::string, std::string> entries_;
};

}  // namespace varve
