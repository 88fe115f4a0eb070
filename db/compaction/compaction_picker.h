// SPDX-License-Identifier: Apache-2.0
#pragma once

// Picks the next automatic compaction: one interface for all compaction styles. A style is a file
// that implements it, and a line in compaction_picker.cc.

#include <memory>
#include <vector>

#include "varve/options.h"

#include "db/compaction/plan.h"
#include "db/version/level_shape.h"
#include "db/version/version.h"

namespace varve {

// Pure: the result depends on a version, its shape and the running plans, all read under one hold
// of the DB mutex, which guards being_compacted. Marks nothing: the caller marks the inputs.
//
// Thread safety: one stateless object serves all families.
class CompactionPicker {
 public:
  // True if Pick would probably find work.
  virtual bool NeedsCompaction(const Version& version, const LevelShape& shape) const = 0;
  // Returns the next automatic compaction, or null. Skips files with being_compacted set; the plan
  // does not overlap the output range of a running one (`running`).
  virtual std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const = 0;

 protected:
  constexpr CompactionPicker() = default;
  ~CompactionPicker() = default;  // objects are never owned
};

// Returns null for an unknown style; opening refuses those.
const CompactionPicker* FindCompactionPicker(CompactionStyle style);

// These use the picker of the options' style.
bool NeedsCompaction(const Version& version, const LevelShape& shape,
                     const ColumnFamilyOptions& options);
std::unique_ptr<CompactionPlan> PickCompaction(const VersionRef& version, const LevelShape& shape,
                                               const ColumnFamilyOptions& options,
                                               const std::vector<const CompactionPlan*>& running);

}  // namespace varve
