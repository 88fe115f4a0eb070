// SPDX-License-Identifier: Apache-2.0
#pragma once

// The helper blocks of index type kHashSearch: which data blocks hold the keys of each prefix.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/slice_transform.h"

namespace varve {

// Thread safety: none.
class PrefixBlocks {
 public:
  // The extractor outlives the builder.
  explicit PrefixBlocks(const SliceTransform* extractor) : extractor_(extractor) {}

  // Keys ascending, each with the number of its data block. Keys outside the extractor's domain
  // are left out.
  void Add(const Slice& user_key, uint32_t block);
  // Call once, after the last key.
  void Finish() { EndPrefix(); }

  // After Finish: the prefixes back to back; and for each its length, first block, and number of
  // blocks.
  [[nodiscard]] std::string* prefixes() { return &prefixes_; }
  [[nodiscard]] std::string* metadata() { return &metadata_; }

 private:
  void EndPrefix();

  const SliceTransform* const extractor_;
  std::string prefixes_;
  std::string metadata_;
  std::string prefix_;  // the present one, if block_count_ is not 0
  uint32_t first_block_ = 0;
  uint32_t block_count_ = 0;
};

}  // namespace varve
