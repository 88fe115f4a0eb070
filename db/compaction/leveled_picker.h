// SPDX-License-Identifier: Apache-2.0
#pragma once

// Leveled compaction (O'Neil et al., "The log-structured merge-tree", 1996, in LevelDB's form):
// first levels above their size, then tombstones by the space they free, then files that are
// marked, dead or old.

#include <memory>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace varve {

class LeveledPicker final : public CompactionPicker {
 public:
  bool NeedsCompaction(const Version& version, const LevelShape& shape) const override;
  std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const override;
};

inline constexpr LeveledPicker kLeveledPicker;

}  // namespace varve
