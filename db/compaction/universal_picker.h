// SPDX-License-Identifier: Apache-2.0
#pragma once

// Universal compaction: merges runs that are neighbours in age, a run being a file of L0 or a level
// below it, with RocksDB's rules, layout and options (CompactionOptionsUniversal).

#include <memory>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace varve {

// Thread safety: like CompactionPicker, without a state of its own.
class UniversalPicker final : public CompactionPicker {
 public:
  std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const override;
  // Merges all runs into the last level, whatever the range is.
  std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                                const ColumnFamilyOptions& options,
                                                const RangeCall& call, const Remainder& remainder,
                                                const std::vector<const CompactionPlan*>& running,
                                                bool* conflict) const override;
};

inline constexpr UniversalPicker kUniversalPicker;

}  // namespace varve
