// SPDX-License-Identifier: Apache-2.0
#pragma once

// Picks compactions that a user asked for, as pure functions of a version and its shape
// (compaction_picker.h).

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

#include "db/compaction/plan.h"
#include "db/compaction/remainder.h"
#include "db/version/level_shape.h"
#include "db/version/version.h"

namespace varve {

// One step of CompactRange: which files of which level go to which level.
struct ManualCompactionRequest {
  int start_level = 0;
  int output_level = 1;          // equal to start_level: rewrite in place (bottommost)
  const Slice* begin = nullptr;  // a key without timestamp; null: open
  const Slice* end = nullptr;    // such a key, inclusive
  bool allow_trivial_move = true;
  uint32_t max_subcompactions = 0;  // 0: as in the options
  // Tells what the call still has to rewrite (remainder.h). Null: all files of the range.
  // Otherwise, below L0, only those are wanted for which Remainder::IsUnwritten is true.
  const Remainder* remainder = nullptr;
  std::optional<uint32_t> path_id;  // the outputs' path; unset: that of their level
};

// Returns a plan for all files of start_level in the range and what they overlap in output_level.
// Below L0 a request with a remainder gets only the first run of unwritten files, grown to clean
// cuts. Returns null if there is no such file, or, with *conflict true, if another compaction uses
// an input or writes into its range of output_level: try again later. *conflict is false otherwise.
// Requires that output_level is not above start_level and not L0, and the DB mutex.
std::unique_ptr<CompactionPlan> PickManualCompaction(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const ManualCompactionRequest& request, const std::vector<const CompactionPlan*>& running,
    bool* conflict);

// Arguments of CompactRange.
struct RangeCall {
  const Slice* begin = nullptr;  // a key without timestamp; null: open
  const Slice* end = nullptr;    // such a key, inclusive
  bool skip_last_level = false;  // true: nothing is rewritten in place
  uint32_t max_subcompactions = 0;
  std::optional<uint32_t> path_id;  // the outputs' path; unset: that of their level
};

// Returns the next step of a CompactRange call, by the rules of the options' compaction style. Each
// step that is carried out brings the remaining work deeper or makes it less. Returns null if
// nothing is left or, with *conflict true, if running compactions have to end first. *conflict is
// false otherwise. Requires the DB mutex.
std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                              const ColumnFamilyOptions& options,
                                              const RangeCall& call, const Remainder& remainder,
                                              const std::vector<const CompactionPlan*>& running,
                                              bool* conflict);

// Plans what CompactRangeOptions::change_level asks for: a move of all files of the deepest level
// that overlaps the range to `target_level` (negative: to the smallest level that has room for
// them). Requires that no compaction of the family is running. Sets *plan to null if there is
// nothing to move, and after an error. NotSupported: the target, or a level between, is not empty.
// Aborted: more than one file would come to L0.
Status PickLevelMove(const VersionRef& version, const LevelShape& shape, const RangeCall& call,
                     int target_level, std::unique_ptr<CompactionPlan>* plan);

// Arguments of CompactFiles.
struct FilesCall {
  std::vector<uint64_t> numbers;
  int output_level = 0;
  std::optional<uint32_t> path_id;  // the outputs' path; unset: that of their level
};
// Plans what DB::CompactFiles asks for: a compaction of these files, and of all that must take part
// so that no older entry of a key comes to lie above a newer one. Returns InvalidArgument, with
// *plan null, if no file is named, if a file is unknown, deeper than the output level, or being
// compacted, if compactions of the family may not write to the output level, or if a running one
// writes into the range. Requires the DB mutex.
Status PickCompactFiles(const VersionRef& version, const LevelShape& shape,
                        const ColumnFamilyOptions& options, const FilesCall& call,
                        const std::vector<const CompactionPlan*>& running,
                        std::unique_ptr<CompactionPlan>* plan);

// Plans what DeleteFilesInRanges asks for: the deletion of those files of levels >= 1 that lie
// wholly in one of the `n` ranges and share no key with files that stay. A file that is being
// compacted stays. The ranges' limits are keys without timestamps, or null: open; `include_end`
// says whether a range's limit belongs to it. *plan must be new; it has no inputs if there is
// nothing to delete. Requires the DB mutex.
void PickFilesInRanges(const VersionRef& version, const RangePtr* ranges, size_t n,
                       bool include_end, CompactionPlan* plan);

}  // namespace varve
