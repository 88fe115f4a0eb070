// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the weight of a tree's tables for compaction: their bytes, and for tombstones the bytes
// that these will free beneath them.

#include <cstdint>
#include <vector>

#include "db/version/version.h"
#include "util/base/assert.h"

namespace varve {

// Weights of one version's files. A table of tombstones holds no values, so the bytes that a
// tombstone frees are estimated by an average entry of deeper levels. The weight of a table whose
// counts are unknown is its size.
//
// Thread safety: immutable. The version must outlive it.
class FileWeights {
 public:
  explicit FileWeights(const Version& version);

  // Returns the weight of a file of the level: its size, and more if it has a surplus of deletions.
  uint64_t Weigh(int level, const FileMetaData& file) const;
  // Returns the bytes of an average entry that a deletion in `level` may delete, or 0 if there is
  // none or it is unknown.
  double EntryBytesBeneath(int level) const {
    VARVE_ASSERT(level >= 0 && static_cast<size_t>(level) < beneath_.size());
    return beneath_[static_cast<size_t>(level)];
  }

 private:
  std::vector<double> beneath_;  // indexed by level
  bool any_deletions_ = false;
};

}  // namespace varve
