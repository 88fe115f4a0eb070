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

struct ManualCompactionRequest {
  int start_level = 0;
  int output_level = 1;          // equal to start_level: rewrite in place (bottommost)
  const Slice* begin = nullptr;  // user keys; null = open
  const Slice* end = nullptr;    // inclusive
  bool allow_trivial_move = true;
  uint32_t max_subcompactions = 0;       // 0: as in the options
  const Remainder* remainder = nullptr;  // below L0: only unwritten files; null: all
  std::optional<uint32_t> path_id;       // the outputs' path; unset: that of their level
};

// Returns a plan for all files of start_level in the range and what they overlap in output_level,
// or null if the start level has no file in the range. With a remainder, takes only the first run
// of files that has something left to rewrite. Sets *conflict if an input is being compacted; then
// try again later.
std::unique_ptr<CompactionPlan> PickManualCompaction(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const ManualCompactionRequest& request, const std::vector<const CompactionPlan*>& running,
    bool* conflict);

// Arguments of CompactRange.
struct RangeCall {
  const Slice* begin = nullptr;  // user keys; null = open
  const Slice* end = nullptr;    // inclusive
  bool skip_last_level = false;  // true: nothing is rewritten in place
  uint32_t max_subcompactions = 0;
  std::optional<uint32_t> path_id;  // the outputs' path; unset: that of their level
};

// Returns the next step of a CompactRange call: after it, the remaining work is deeper or less.
// Returns null if nothing is left, or if *conflict is set.
std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                              const ColumnFamilyOptions& options,
                                              const RangeCall& call, const Remainder& remainder,
                                              const std::vector<const CompactionPlan*>& running,
                                              bool* conflict);

// CompactRangeOptions::change_level: moves the files of the deepest level that overlaps the range
// to `target_level` (negative: to the smallest that has room). Requires that no compaction of the
// family is running. Sets *plan to null if there is nothing to move.
Status PickLevelMove(const VersionRef& version, const LevelShape& shape, const RangeCall& call,
                     int target_level, std::unique_ptr<CompactionPlan>* plan);

// Arguments of CompactFiles.
struct FilesCall {
  std::vector<uint64_t> numbers;
  int output_level = 0;
  std::optional<uint32_t> path_id;  // the outputs' path; unset: that of their level
};
// Plans a compaction of exactly these files (grown to a legal set). Returns InvalidArgument if one
// is unknown or being compacted.
Status PickCompactFiles(const VersionRef& version, const LevelShape& shape,
                        const ColumnFamilyOptions& options, const FilesCall& call,
                        const std::vector<const CompactionPlan*>& running,
                        std::unique_ptr<CompactionPlan>* plan);

// DeleteFilesInRanges: plans the deletion of those files of levels >= 1 that lie wholly in one of
// the ranges and share no key with files that stay. Without inputs there is nothing to delete.
void PickFilesInRanges(const VersionRef& version, const RangePtr* ranges, size_t n,
                       bool include_end, CompactionPlan* plan);

}  // namespace varve
