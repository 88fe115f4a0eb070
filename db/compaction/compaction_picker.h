// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of compaction styles. A style is a measure of trees (db/version/level_shape.h) and
// an object of this interface, with a line in compaction_picker.cc.

#include <memory>
#include <vector>

#include "varve/options.h"

#include "db/compaction/manual_picker.h"
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
  // Returns the next automatic compaction, or null. Skips files with being_compacted set; the plan
  // does not overlap the output range of a running one (`running`).
  virtual std::unique_ptr<CompactionPlan> Pick(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const std::vector<const CompactionPlan*>& running) const = 0;

  // True if Pick would return a plan, or tables must be opened to tell (DueFiles::unopened). A
  // style whose choice is expensive may also say yes while the files that it would take are busy.
  virtual bool NeedsCompaction(const VersionRef& version, const LevelShape& shape,
                               const ColumnFamilyOptions& options,
                               const std::vector<const CompactionPlan*>& running) const {
    return !shape.due.unopened.empty() || Pick(version, shape, options, running) != nullptr;
  }

  // Returns the next step of a CompactRange call; arguments and results are those of the function
  // of this name in manual_picker.h.
  virtual std::unique_ptr<CompactionPlan> PickRangeStep(
      const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
      const RangeCall& call, const Remainder& remainder,
      const std::vector<const CompactionPlan*>& running, bool* conflict) const = 0;

  // False if the style keeps all tables in L0, so that no call may put tables into other levels.
  virtual bool UsesLevels() const { return true; }

 protected:
  constexpr CompactionPicker() = default;
  ~CompactionPicker() = default;  // objects are never owned
};

// Returns null for an unknown style; opening refuses those.
const CompactionPicker* FindCompactionPicker(CompactionStyle style);

// These call the function of the same name (PickCompaction: Pick) of the picker of the options'
// style. NeedsCompaction is also true if the version has another number of levels than the shape.
// They require the DB mutex.
bool NeedsCompaction(const VersionRef& version, const LevelShape& shape,
                     const ColumnFamilyOptions& options,
                     const std::vector<const CompactionPlan*>& running);
std::unique_ptr<CompactionPlan> PickCompaction(const VersionRef& version, const LevelShape& shape,
                                               const ColumnFamilyOptions& options,
                                               const std::vector<const CompactionPlan*>& running);
bool UsesLevels(const ColumnFamilyOptions& options);

}  // namespace varve
