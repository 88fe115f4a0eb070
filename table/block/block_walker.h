// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks forward over a small block of any content (metaindex, properties, range deletions).

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// Reads the entries of an uncompressed block without its restart points. Each step is checked
// against the block's end.
//
//   BlockWalker walk(block);
//   while (walk.Next()) Use(walk.key(), walk.value());
//   VARVE_RETURN_IF_ERROR(walk.status());
//
// Thread safety: none. Lifetime: the block must outlive the walker; value() points into the block
// and key() lives until the next step.
class BlockWalker {
 public:
  explicit BlockWalker(const Slice& block);

  // Moves to the next entry; the first call moves to the first one. Returns false at the end or
  // after an error.
  [[nodiscard]] bool Next();
  [[nodiscard]] Slice key() const { return Slice(key_); }
  [[nodiscard]] Slice value() const { return value_; }
  // Returns the offset of value() within the block.
  [[nodiscard]] size_t value_offset() const;
  // Returns Corruption if the block is malformed; the message names the offset, but not the file.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  // Stops with Corruption; returns false.
  bool Fail(const char* what);

  const char* begin_;
  const char* pos_;
  const char* end_;  // end of the entries
  std::string key_;
  Slice value_;
  Status status_;
};

}  // namespace varve
