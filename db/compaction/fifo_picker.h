// SPDX-License-Identifier: Apache-2.0
#pragma once

// FIFO compaction: drops the oldest tables when they are too old or all tables together are too
// large, and, if it is told to, merges small tables of L0 and copies old ones to other storage. One
// plan of a family runs at a time. The style suits caches and logs of events, whose old data is
// worthless: write amplification is near 1, but each read may look into every table whose bounds
// include the key.
//
// fifo_picker.cc has the rules and their invariants; db/version/fifo_measure.h measures such trees.

#include <memory>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace varve {

// Thread safety: like CompactionPicker, without a state of its own.
class FifoPicker final : public CompactionPicker {
 public:
  std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const override;
  // Returns null: all tables of this style stay in L0, so CompactRange has no step to make.
  std::unique_ptr<CompactionPlan> PickRangeStep(
      const VersionRef& /*version*/, const LevelShape& /*shape*/,
      const ColumnFamilyOptions& /*options*/, const RangeCall& /*call*/,
      const Remainder& /*remainder*/, const std::vector<const CompactionPlan*>& /*running*/,
      bool* conflict) const override {
    *conflict = false;
    return nullptr;
  }
  // Tables stay in L0, so properties and plans that count levels do not apply.
  bool UsesLevels() const override { return false; }
};

inline constexpr FifoPicker kFifoPicker;

}  // namespace varve
