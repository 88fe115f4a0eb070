// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the helper blocks of index type kHashSearch: which data blocks hold the keys of each
// prefix.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/slice_transform.h"

namespace varve {

// Thread safety: none.
class PrefixBlocks {
 public:
  // The extractor must outlive the builder.
  explicit PrefixBlocks(const SliceTransform* extractor) : extractor_(extractor) {}

  // Adds a user key, without its timestamp, with the number of its data block, counted from 0.
  // Requires that keys of one prefix are adjacent and numbers do not descend. Ignores keys outside
  // the extractor's domain.
  void Add(const Slice& user_key, uint32_t block);
  // Must be called once, after the last key.
  void Finish() { EndPrefix(); }

  // Return, after Finish, the prefixes back to back, and the metadata: for each prefix its length,
  // first block, and number of blocks.
  [[nodiscard]] std::string* prefixes() { return &prefixes_; }
  [[nodiscard]] std::string* metadata() { return &metadata_; }

 private:
  // Records the blocks of the prefix that has just ended.
  void EndPrefix();

  const SliceTransform* const extractor_;
  // Contents of the two blocks: all prefixes, and for each its length and its blocks.
  std::string prefixes_;
  std::string metadata_;
  std::string prefix_;  // the current prefix, if block_count_ is not 0
  uint32_t first_block_ = 0;
  uint32_t block_count_ = 0;
};

}  // namespace varve
