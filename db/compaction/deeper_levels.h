// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells if the levels beneath a compaction's output may hold a key; asked for ascending keys.

#include <cstddef>
#include <vector>

#include "db/version/version.h"

namespace varve {

// Keeps a position in each level, so that a walk over all keys costs one comparison per level.
//
// Thread safety: none. The version must outlive it.
class DeeperLevels {
 public:
  // Covers the levels from `first_level` on. A null version means that anything may exist deeper.
  DeeperLevels(const Version* version, int first_level);

  // True if the key, which has no timestamp, may exist deeper; always true if the last level is
  // reserved (cf_allow_ingest_behind). Keys of successive calls must ascend (equal ones are
  // allowed).
  bool MayHold(const Slice& key);
  // Does the same for the keys of [begin, end), which have no timestamps; may be called in any
  // order.
  bool MayHoldRange(const Slice& begin, const Slice& end) const;

 private:
  const Version* const version_;
  const int first_level_;
  std::vector<size_t> positions_;  // per level: the first file that ends at the last key or after
};

}  // namespace varve
