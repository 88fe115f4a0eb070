// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes complete, legal plans out of chosen files: what must come along, whether others are in the
// way, whether a move will do, what the outputs look like.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "varve/options.h"

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/version/level_shape.h"

namespace varve {

// Of the outputs at `level`. `bottommost`: nothing deeper overlaps them.
CompressionType CompressionForLevel(const ColumnFamilyOptions& options, int level, int base_level,
                                    bool bottommost);

// In which of cf_paths the tables of `level` belong: each path takes the levels, from L0 on, that
// its target size has room for, and the last one takes the rest. 0 without paths.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const LevelShape& shape, int level);

struct PlanInputs {
  std::vector<CompactionInputLevel> levels;  // as in CompactionPlan
  int output_level = 0;
  CompactionReason reason = CompactionReason::kUnknown;
};

// Thread safety: as for the pickers. The constructor's arguments outlive it.
class PlanBuilder {
 public:
  PlanBuilder(const VersionRef& version, const LevelShape& shape,
              const ColumnFamilyOptions& options,
              const std::vector<const CompactionPlan*>& running);

  // Not where their level belongs, but there. Of plans that are made afterwards.
  void PlaceOutputsIn(uint32_t path_id) { path_id_ = path_id; }

  // Exactly these inputs; nothing is checked.
  std::unique_ptr<CompactionPlan> Build(PlanInputs inputs) const;
  // The fields that follow from a plan's inputs and output level.
  void Complete(CompactionPlan* plan) const;

  // A span of `level`, grown to clean cuts, with all that it overlaps in the output level. Null
  // when one of these, or their range of the output level, is taken by another compaction.
  std::unique_ptr<CompactionPlan> FromLevel(int level, FileSpan span, int output_level,
                                            CompactionReason reason) const;
  // The same for a cluster of L0 files, by index.
  std::unique_ptr<CompactionPlan> FromL0(const std::vector<bool>& chosen, int output_level,
                                         CompactionReason reason) const;

  // Takes further files of the start level into a plan of FromLevel that has files of the output
  // level, as far as that asks for no more of these, and the whole stays within
  // max_compaction_bytes.
  void GrowStartLevel(CompactionPlan* plan) const;

  // Whether a file with the range can be put into the level by an edit: it overlaps nothing there,
  // and not too much beneath. (The levels it passes are the caller's business.)
  bool CanMoveInto(const KeyRange& range, int level) const;
  // Whether the inputs may go into the output level as they are: they are in the directory where
  // outputs would be, and a user's partitioner has nothing against it.
  bool LetsMove(const CompactionPlan& plan) const;
  // Whether what was written for one level could have been written for the other.
  bool SameCompression(int from_level, int to_level) const;
  uint64_t max_compaction_bytes() const;

 private:
  bool TakenByRunning(const KeyRange& range, int level) const;
  std::unique_ptr<CompactionPlan> WithOutputLevel(CompactionInputLevel start, KeyRange range,
                                                  int output_level, CompactionReason reason) const;
  bool IsBottommost(const KeyRange& range, int output_level) const;
  uint64_t TargetFileBytes(int output_level) const;

  const VersionRef version_;
  const InternalKeyComparator& icmp_;
  const LevelShape& shape_;
  const ColumnFamilyOptions& options_;
  const std::vector<const CompactionPlan*>& running_;
  std::optional<uint32_t> path_id_;
};

}  // namespace varve
