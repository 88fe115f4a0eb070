// SPDX-License-Identifier: Apache-2.0
#pragma once

// Leveled compaction (O'Neil et al., "The log-structured merge-tree", 1996, in LevelDB's form). In
// this order: tables that range tombstones cover wholly, levels above their size, levels beneath
// num_levels (surplus_levels.h), tables whose tombstones would free much space, marked files, old
// files and those with entries that no snapshot needs any more, and tables that refer to blob files
// with much garbage.

#include <memory>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace varve {

// Thread safety: like CompactionPicker, without a state of its own.
class LeveledPicker final : public CompactionPicker {
 public:
  bool NeedsCompaction(const VersionRef& version, const LevelShape& shape,
                       const ColumnFamilyOptions& options,
                       const std::vector<const CompactionPlan*>& running) const override;
  std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const override;
  std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                                const ColumnFamilyOptions& options,
                                                const RangeCall& call, const Remainder& remainder,
                                                const std::vector<const CompactionPlan*>& running,
                                                bool* conflict) const override;
};

inline constexpr LeveledPicker kLeveledPicker;

}  // namespace varve
