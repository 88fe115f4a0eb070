// SPDX-License-Identifier: Apache-2.0

// CompactRange of the leveled style: moves a range down to the last level that overlaps it, one
// step at a time. For every style, moves that level afterwards. Each step depends only on the
// current version and on the call's remainder.

#include <algorithm>

#include "db/compaction/leveled_picker.h"
#include "db/compaction/manual_picker.h"
#include "db/compaction/plan_builder.h"
#include "db/compaction/surplus_levels.h"

namespace varve {

namespace {

// Returns the deepest level that overlaps the range and is not reserved, or -1 if none does.
int LastLevelOf(const Version& version, const RangeCall& call) {
  int last = version.usable_levels() - 1;
  while (last >= 0 && version.level(last).Overlapping(call.begin, call.end).empty()) last--;
  return last;
}

// Returns the first level with data of the range that existed when the call began, or -1 if there
// is none.
int FirstOldLevelOf(const Version& version, const RangeCall& call, const Remainder& remainder) {
  for (int level = 0; level < version.usable_levels(); level++) {
    for (const FileMetaData* file : version.level(level).Overlapping(call.begin, call.end)) {
      if (remainder.IsOld(file->number)) return level;
    }
  }
  return -1;
}

// Returns the smallest level above with room for the files of `level`, if the levels in between are
// empty.
int SmallestLevelWithRoom(const Version& version, const LevelShape& shape, int level) {
  int target = level;
  for (int l = level - 1; l >= std::max(1, shape.base_level); l--) {
    if (!version.level(l).empty()) break;
    if (shape.target_bytes[static_cast<size_t>(l)] < version.level(level).bytes()) break;
    target = l;
  }
  return target;
}

// True if a level beneath the options' num_levels overlaps the range.
bool HasSurplus(const Version& version, const RangeCall& call) {
  // Without surplus levels, the only level behind the usable ones is that which
  // cf_allow_ingest_behind reserves.
  if (version.surplus_levels() == 0) return false;
  for (int level = version.usable_levels(); level < version.non_empty_levels(); level++) {
    if (!version.level(level).Overlapping(call.begin, call.end).empty()) return true;
  }
  return false;
}

// Picks a step that drains surplus levels, whatever the range is.
std::unique_ptr<CompactionPlan> PickSurplusStep(const VersionRef& version, const RangeCall& call,
                                                PlanBuilder builder, bool* conflict) {
  if (call.path_id.has_value()) builder.PlaceOutputsIn(*call.path_id);
  auto plan = PickSurplus(version, builder, CompactionReason::kManualCompaction);
  *conflict = plan == nullptr;
  if (plan == nullptr) return nullptr;
  plan->is_manual = true;
  if (call.max_subcompactions != 0) plan->max_subcompactions = call.max_subcompactions;
  return plan;
}

}  // namespace

// Surplus levels are drained first. Then the first level that has data of the call's beginning goes
// one level down, until it is the last one that overlaps the range; that is rewritten in place if
// the call's goal asks for it. With ingested data reserved beneath, nothing goes below the last
// level that may be used.
std::unique_ptr<CompactionPlan> LeveledPicker::PickRangeStep(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const RangeCall& call, const Remainder& remainder,
    const std::vector<const CompactionPlan*>& running, bool* conflict) const {
  *conflict = false;
  if (HasSurplus(*version, call)) {
    return PickSurplusStep(version, call, PlanBuilder(version, shape, options, running), conflict);
  }
  const int first = FirstOldLevelOf(*version, call, remainder);
  const int last = LastLevelOf(*version, call);
  if (first < 0) return nullptr;
  ManualCompactionRequest request;
  request.start_level = first;
  request.begin = call.begin;
  request.end = call.end;
  request.max_subcompactions = call.max_subcompactions;
  request.path_id = call.path_id;
  if (first == 0 || first < last) {
    request.output_level = first == 0 ? std::max(1, shape.base_level) : first + 1;
    if (request.output_level >= version->usable_levels()) return nullptr;
    // A table that is only moved stays unwritten, and is rewritten later in the last level.
    request.allow_trivial_move =
        remainder.goal() == Remainder::Goal::kSink ||
        (remainder.goal() == Remainder::Goal::kRewriteAtBottom && first < last);
  } else {
    if (call.skip_last_level || remainder.goal() == Remainder::Goal::kSink) return nullptr;
    request.output_level = first;
    request.allow_trivial_move = false;
    request.remainder = &remainder;
  }
  return PickManualCompaction(version, shape, options, request, running, conflict);
}

// Entries keep their order of age only if the levels that the files pass, and the target, are
// empty.
Status PickLevelMove(const VersionRef& version, const LevelShape& shape, const RangeCall& call,
                     int target_level, std::unique_ptr<CompactionPlan>* plan) {
  plan->reset();
  const int level = LastLevelOf(*version, call);
  if (level <= 0) return Status::OK();
  const LevelFiles& files = version->level(level);
  const int target =
      target_level < 0 ? SmallestLevelWithRoom(*version, shape, level) : target_level;
  if (target == level) return Status::OK();
  if (target == 0 && files.size() > 1) {
    return Status::Aborted("CompactRangeOptions::target_level",
                           "more than one table is not moved to L0");
  }
  const int from = std::min(level + 1, target);
  const int to = std::max(level - 1, target);
  for (int l = from; l <= to; l++) {
    if (l != level && !version->level(l).empty()) {
      return Status::NotSupported("CompactRangeOptions::change_level",
                                  "levels between source and target are not empty");
    }
  }
  auto move = std::make_unique<CompactionPlan>();
  move->inputs.push_back({level, files.files()});
  move->start_level = level;
  move->output_level = target;
  move->reason = CompactionReason::kManualCompaction;
  move->is_manual = true;
  move->trivial_move = true;
  move->version = version;
  *plan = std::move(move);
  return Status::OK();
}

}  // namespace varve
