// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds complete, legal plans from chosen files: adds the files that must be included, checks
// conflicts with other compactions, decides if a move is enough, and describes the outputs.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "varve/options.h"

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/version/level_shape.h"

namespace varve {

// Returns the compression of outputs at `level`. `bottommost`: no deeper level overlaps them.
CompressionType CompressionForLevel(const ColumnFamilyOptions& options, int level, int base_level,
                                    bool bottommost);

// Returns the index in cf_paths for the tables of `level`: each path takes the levels, from L0 on,
// that fit into its target size, and the last one takes the rest. Returns 0 without paths.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const LevelShape& shape, int level);

struct PlanInputs {
  std::vector<CompactionInputLevel> levels;  // see CompactionPlan
  int output_level = 0;
  CompactionReason reason = CompactionReason::kUnknown;
};

// Thread safety: as for the pickers. The constructor's arguments must outlive it.
class PlanBuilder {
 public:
  PlanBuilder(const VersionRef& version, const LevelShape& shape,
              const ColumnFamilyOptions& options,
              const std::vector<const CompactionPlan*>& running);

  // Places the outputs of later plans in this path instead of their level's.
  void PlaceOutputsIn(uint32_t path_id) { path_id_ = path_id; }

  // Builds a plan of exactly these inputs, without checks.
  std::unique_ptr<CompactionPlan> Build(PlanInputs inputs) const;
  // Fills in the fields that follow from a plan's inputs and output level.
  void Complete(CompactionPlan* plan) const;

  // Builds a plan of a span of `level`, grown to clean cuts, with everything it overlaps in the
  // output level. Returns null if one of these files, or their range of the output level, is used
  // by another compaction.
  std::unique_ptr<CompactionPlan> FromLevel(int level, FileSpan span, int output_level,
                                            CompactionReason reason) const;
  // Does the same for a cluster of L0 files, indexed as L0.
  std::unique_ptr<CompactionPlan> FromL0(const std::vector<bool>& chosen, int output_level,
                                         CompactionReason reason) const;

  // Adds files of the start level to a plan of FromLevel that has files of the output level, as
  // long as that requires no more of these, and the total stays within max_compaction_bytes.
  void GrowStartLevel(CompactionPlan* plan) const;

  // True if an edit can put a file with the range into the level: it overlaps nothing there, and
  // not too much beneath. The caller must check the levels in between.
  bool CanMoveInto(const KeyRange& range, int level) const;
  // True if the inputs may be moved to the output level unchanged: they are in the directory where
  // outputs would be, and a user's partitioner allows it.
  bool LetsMove(const CompactionPlan& plan) const;
  // True if files written for one level could have been written for the other.
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
