// SPDX-License-Identifier: Apache-2.0
#pragma once

// Choices of compactions that a user asked for, as pure functions of a version and its shape
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
  int output_level = 1;          // == start_level: rewrite in place (bottommost)
  const Slice* begin = nullptr;  // user keys; null = open
  const Slice* end = nullptr;    // inclusive
  bool allow_trivial_move = true;
  uint32_t max_subcompactions = 0;       // 0: the option's
  const Remainder* remainder = nullptr;  // below L0: only what it has not seen rewritten; null: all
  std::optional<uint32_t> path_id;       // of the outputs; none: that of their level
};

// All files of start_level in the range plus what they overlap in output_level, or null when the
// start level has nothing in the range. With a remainder, the first run of them with something left
// to rewrite. *conflict: an input is being compacted; try again later.
std::unique_ptr<CompactionPlan> PickManualCompaction(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const ManualCompactionRequest& request, const std::vector<const CompactionPlan*>& running,
    bool* conflict);

// What CompactRange is about.
struct RangeCall {
  const Slice* begin = nullptr;  // user keys; null = open
  const Slice* end = nullptr;    // inclusive
  bool skip_last_level = false;  // nothing is rewritten in place
  uint32_t max_subcompactions = 0;
  std::optional<uint32_t> path_id;  // of the outputs; none: that of their level
};

// The next step of a CompactRange call: what is left to do lies deeper or is less after it. Null:
// nothing is left, or *conflict.
std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                              const ColumnFamilyOptions& options,
                                              const RangeCall& call, const Remainder& remainder,
                                              const std::vector<const CompactionPlan*>& running,
                                              bool* conflict);

// CompactRangeOptions::change_level: the files of the deepest level that holds any of the range
// become those of `target_level` (negative: of the smallest that has room). Nothing of the family
// may be under way. Null: there is nothing to move.
Status PickLevelMove(const VersionRef& version, const LevelShape& shape, const RangeCall& call,
                     int target_level, std::unique_ptr<CompactionPlan>* plan);

// What CompactFiles is about.
struct FilesCall {
  std::vector<uint64_t> numbers;
  int output_level = 0;
  std::optional<uint32_t> path_id;  // of the outputs; none: that of their level
};
// Exactly these files (grown to a legal set). InvalidArgument when one is unknown or being
// compacted.
Status PickCompactFiles(const VersionRef& version, const LevelShape& shape,
                        const ColumnFamilyOptions& options, const FilesCall& call,
                        const std::vector<const CompactionPlan*>& running,
                        std::unique_ptr<CompactionPlan>* plan);

// DeleteFilesInRanges: a plan that deletes the files of levels >= 1 that lie wholly in one of the
// ranges and share no key with files that stay. No inputs: nothing to delete.
void PickFilesInRanges(const VersionRef& version, const RangePtr* ranges, size_t n,
                       bool include_end, CompactionPlan* plan);

}  // namespace varve
