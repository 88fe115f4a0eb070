// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tables of a tree weigh for compaction: their bytes, and for tombstones what those will
// free beneath them.

#include <cstdint>
#include <vector>

#include "db/version/version.h"
#include "util/base/assert.h"

namespace varve {

// Weights of one version's files. A table of tombstones holds no values, so what one of them frees
// is estimated from what lies deeper: the bytes of an average entry there. Tables whose counts are
// not known weigh what they take.
//
// Thread safety: immutable. The version outlives it.
class FileWeights {
 public:
  explicit FileWeights(const Version& version);

  // Of a file of the level: its size, and more when it has a surplus of deletions.
  uint64_t Weigh(int level, const FileMetaData& file) const;
  // Bytes of an average entry that a deletion in `level` may delete; 0: there is none, or not
  // known.
  double EntryBytesBeneath(int level) const {
    VARVE_ASSERT(level >= 0 && static_cast<size_t>(level) < beneath_.size());
    return beneath_[static_cast<size_t>(level)];
  }

 private:
  std::vector<double> beneath_;  // by level
  bool any_deletions_ = false;
};

}  // namespace varve
