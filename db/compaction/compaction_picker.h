// SPDX-License-Identifier: Apache-2.0
#pragma once

// What to compact next, of itself: one interface for all compaction styles. A style is a file that
// implements it, and a line in compaction_picker.cc.

#include <memory>
#include <vector>

#include "varve/options.h"

#include "db/compaction/plan.h"
#include "db/version/level_shape.h"
#include "db/version/version.h"

namespace varve {

// Pure: a version, its shape and the plans under way decide, all three of one hold of the DB mutex,
// which guards being_compacted. Nothing is marked: the caller marks the inputs.
//
// Thread safety: one stateless object serves all families.
class CompactionPicker {
 public:
  // True when Pick would likely find work.
  virtual bool NeedsCompaction(const Version& version, const LevelShape& shape) const = 0;
  // The next automatic compaction, or null. Files with being_compacted set are left alone, and no
  // plan overlaps the output range of one under way (`running`).
  virtual std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const = 0;

 protected:
  constexpr CompactionPicker() = default;
  ~CompactionPicker() = default;  // nobody owns one
};

// Null for a style that is not there; opening refuses those.
const CompactionPicker* FindCompactionPicker(CompactionStyle style);

// By the picker of the options' style.
bool NeedsCompaction(const Version& version, const LevelShape& shape,
                     const ColumnFamilyOptions& options);
std::unique_ptr<CompactionPlan> PickCompaction(const VersionRef& version, const LevelShape& shape,
                                               const ColumnFamilyOptions& options,
                                               const std::vector<const CompactionPlan*>& running);

}  // namespace varve
