// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the levels beneath a compaction's output may hold a key: asked for ascending keys.

#include <cstddef>
#include <vector>

#include "db/version/version.h"

namespace varve {

// Keeps a place in each level, so that a walk over all keys costs one comparison a level.
//
// Thread safety: none. The version outlives it.
class DeeperLevels {
 public:
  // Levels from `first_level` on. A null version: anything may exist deeper.
  DeeperLevels(const Version* version, int first_level);

  // Keys of the calls ascend (equal ones are allowed).
  bool MayHold(const Slice& user_key);
  // The same for the range [begin, end); may be asked in any order.
  bool MayHoldRange(const Slice& begin, const Slice& end) const;

 private:
  const Version* const version_;
  const int first_level_;
  std::vector<size_t> positions_;  // per level: the first file that ends at the last key or after
};

}  // namespace varve
