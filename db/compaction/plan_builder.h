// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds complete, legal plans from chosen files: adds the files that must be included, checks
// conflicts with other compactions, decides if a move is enough, and describes the outputs.
//
// A picker chooses where to begin, for instance one file of L2. The builder turns that into a plan:
//
//      L2     [ a ][ b ]|[ c ]         c was chosen; b ends with the user key that c begins with,
//                 '--grown--'          so both come along (a clean cut)
//      L3   [  p  ][   q   ][   r  ]   q and r overlap b and c: they are inputs, too
//      L4     [ s ][ t ][ u ][ v ]     grandparents: outputs are cut so as not to meet too many
//
// Invariants of every plan that FromLevel, FromL0 and FromRuns return
// 1. No input is being compacted by another job.
// 2. All entries of a user key in the start level take part, or none: otherwise an older entry
//    could end up above a newer one. (In L0 the caller sees to that with GrowL0Cluster.)
// 3. Every file of the output level that overlaps the inputs is an input, so the outputs are
//    disjoint from what stays there. (FromRuns leaves that to its callers, who take whole runs, or
//    all that runs have between clean cuts.)
// 4. No running plan writes into the range of the output level. Its outputs are in no version yet.

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
// that fit into its target size, and the last one takes the rest. Returns 0 without paths. Levels
// are counted with their target sizes, and not with what they hold now, so that a table's path does
// not depend on the moment of its compaction.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const LevelShape& shape, int level);

// Files that a picker has chosen, to be completed to a plan.
struct PlanInputs {
  std::vector<CompactionInputLevel> levels;  // see CompactionPlan
  // Level that the outputs go to; it may be the level of the inputs.
  int output_level = 0;
  // Reported to listeners and in the job's events.
  CompactionReason reason = CompactionReason::kUnknown;
};

// Thread safety: the caller has the DB mutex from the constructor on, because plans read
// FileMetaData::notes. The constructor's arguments must outlive the builder.
class PlanBuilder {
 public:
  PlanBuilder(const VersionRef& version, const LevelShape& shape,
              const ColumnFamilyOptions& options,
              const std::vector<const CompactionPlan*>& running);

  // Places the outputs of later plans in this path instead of their level's.
  void PlaceOutputsIn(uint32_t path_id) { path_id_ = path_id; }

  // Builds a plan of exactly these inputs, without checks.
  std::unique_ptr<CompactionPlan> Build(PlanInputs inputs) const;
  // Requires that plan->inputs has a file, and plan->output_level. Sets the members that follow
  // from these and the options: version, start_level, bottommost, blob_victims, and `output` except
  // its border_file_bytes. May be called again after the inputs have changed.
  void Complete(CompactionPlan* plan) const;

  // Builds a plan of a span of `level`, grown to clean cuts, with everything it overlaps in the
  // output level. Returns null if one of these files, or their range of the output level, is used
  // by another compaction.
  std::unique_ptr<CompactionPlan> FromLevel(int level, FileSpan span, int output_level,
                                            CompactionReason reason) const;
  // Does the same for a cluster of L0 files, indexed as L0.
  std::unique_ptr<CompactionPlan> FromL0(const std::vector<bool>& chosen, int output_level,
                                         CompactionReason reason) const;

  // Builds a plan of exactly these inputs, which may be of any number of levels: runs that are
  // neighbours in age, or all files of a level between clean cuts. Returns null as FromLevel does.
  std::unique_ptr<CompactionPlan> FromRuns(PlanInputs inputs) const;

  // Adds files of the start level to a plan of FromLevel that has files of the output level, as
  // long as that requires no more of these, and the total stays within max_compaction_bytes.
  void GrowStartLevel(CompactionPlan* plan) const;

  // True if an edit can put a file with the range into the level: it overlaps nothing there, no
  // running plan writes there, and it does not overlap too much beneath. False for L0 and a
  // reserved level. The caller must check the levels in between.
  bool CanMoveInto(const KeyRange& range, int level) const;
  // True if the inputs may be moved to the output level unchanged: they are in the directory where
  // outputs would be, and a user's partitioner allows it.
  bool LetsMove(const CompactionPlan& plan) const;
  // True if no two inputs may hold the same key.
  bool AreDisjoint(const CompactionPlan& plan) const;
  // True if files written for one level could have been written for the other.
  bool SameCompression(int from_level, int to_level) const;
  // Returns how many bytes of inputs a plan should have at most: the option of this name or, if
  // that is 0, 25 times target_file_size_base.
  uint64_t max_compaction_bytes() const;
  // Returns the size in bytes at which outputs are cut. Outputs in L0 are not cut.
  uint64_t TargetFileBytes(int output_level) const;

 private:
  // True if the outputs of a running plan may come to lie in the range of this level.
  bool TakenByRunning(const KeyRange& range, int level) const;
  // Adds the overlapping files of the output level to `start`, whose keys lie in `range`. Returns
  // null if one of them, or their range, is taken.
  std::unique_ptr<CompactionPlan> WithOutputLevel(CompactionInputLevel start, KeyRange range,
                                                  int output_level, CompactionReason reason) const;
  // True if a table that is no input may have a key of the range and is older than the output would
  // be: it lies in a deeper level or, for an output in L0, anywhere.
  bool LeavesBeneath(const CompactionPlan& plan, const KeyRange& range) const;
  // True if no table but the inputs can have an older entry of a key in the range: then deletions
  // may be dropped.
  bool IsBottommost(const CompactionPlan& plan, const KeyRange& range) const;
  Temperature TemperatureFor(int level) const;

  // Keeps the tree and its files alive while plans refer to them.
  const VersionRef version_;
  const InternalKeyComparator& icmp_;
  const LevelShape& shape_;
  const ColumnFamilyOptions& options_;
  // Plans whose jobs have not ended; borrowed, and guarded by the DB mutex like everything here.
  const std::vector<const CompactionPlan*>& running_;
  // Index in cf_paths for the outputs; unset: PathOfLevel decides.
  std::optional<uint32_t> path_id_;
};

}  // namespace varve
