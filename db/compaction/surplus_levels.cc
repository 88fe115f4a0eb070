// SPDX-License-Identifier: Apache-2.0

// Picks the steps that empty surplus levels. What comes up must not pass anything newer, so a step
// takes with its tables all that overlap them in the levels above, up to the last level that may be
// used. Tables beneath the step are older, and may stay.

#include "db/compaction/surplus_levels.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "db/compaction/input_span.h"
#include "util/base/assert.h"

namespace varve {

namespace {

class SurplusDrain {
 public:
  SurplusDrain(const VersionRef& version, const PlanBuilder& builder, CompactionReason reason)
      : version_(*version),
        icmp_(*version->icmp()),
        builder_(builder),
        reason_(reason),
        target_(version->usable_levels() - 1),
        deepest_(version->non_empty_levels() - 1) {}

  std::unique_ptr<CompactionPlan> Pick() const {
    if (deepest_ <= target_) return nullptr;
    if (target_ == 0) return MergeAll();
    if (auto plan = PickMove()) return plan;
    const LevelFiles& files = version_.level(deepest_);
    for (FileSpan span = SpanFrom(0); !span.empty(); span = SpanFrom(span.last)) {
      if (AnyBeingCompacted(files, span)) continue;
      if (auto plan = PickMerge(span)) return plan;
    }
    return nullptr;
  }

 private:
  // Returns the table at the index with the neighbours that share keys with it; an empty span at
  // the end of the level.
  FileSpan SpanFrom(size_t index) const {
    const LevelFiles& files = version_.level(deepest_);
    FileSpan span{index, std::min(index + 1, files.size())};
    GrowToCleanCut(files, icmp_, &span);
    return span;
  }

  // An order among all tables of L0 and deeper levels is not recorded, so an output in L0 has to
  // replace them all.
  std::unique_ptr<CompactionPlan> MergeAll() const {
    std::vector<CompactionInputLevel> levels;
    for (int level = 0; level <= deepest_; level++) {
      if (!version_.level(level).empty()) levels.push_back({level, version_.level(level).files()});
    }
    return PlanOf(std::move(levels));
  }

  // Picks the deepest tables that overlap nothing on their way.
  std::unique_ptr<CompactionPlan> PickMove() const {
    const LevelFiles& files = version_.level(deepest_);
    std::vector<FileRef> moved;
    for (FileSpan span = SpanFrom(0); !span.empty(); span = SpanFrom(span.last)) {
      if (AnyBeingCompacted(files, span) || !IsFree(span)) continue;
      std::ranges::move(FilesOf(files, span), std::back_inserter(moved));
    }
    if (moved.empty()) return nullptr;
    auto plan = PlanOf({{deepest_, std::move(moved)}});
    if (plan == nullptr || !builder_.LetsMove(*plan)) return nullptr;
    plan->trivial_move = true;
    return plan;
  }

  // True if no table overlaps the span in the levels from the last allowed one to that of the span.
  bool IsFree(const FileSpan& span) const {
    const KeyRange range = RangeOf(version_.level(deepest_), icmp_, span);
    for (int level = target_; level < deepest_; level++) {
      const LevelFiles& files = version_.level(level);
      if (!OverlappingSpan(files, icmp_, &range.smallest, &range.largest).empty()) return false;
    }
    return true;
  }

  // Merges the span, and as many of its neighbours as its outputs may reach over and fit.
  std::unique_ptr<CompactionPlan> PickMerge(const FileSpan& span) const {
    const LevelFiles& files = version_.level(deepest_);
    KeyRange range = RangeOf(files, icmp_, span);
    std::vector<CompactionInputLevel> levels = WithAllAbove(span, &range);
    FileSpan wider = OverlappingSpan(files, icmp_, &range.smallest, &range.largest);
    GrowToCleanCut(files, icmp_, &wider);
    KeyRange wider_range = RangeOf(files, icmp_, wider);
    std::vector<CompactionInputLevel> more = WithAllAbove(wider, &wider_range);
    if (BytesOf(more) <= builder_.max_compaction_bytes()) levels = std::move(more);
    return PlanOf(std::move(levels));
  }

  // Returns the tables of the span, and all that overlap them, or each other, in the levels above.
  // Ascending by level. Includes these in *range, which is the span's.
  std::vector<CompactionInputLevel> WithAllAbove(const FileSpan& span, KeyRange* range) const {
    std::vector<CompactionInputLevel> levels;
    levels.push_back({deepest_, FilesOf(version_.level(deepest_), span)});
    for (int level = deepest_ - 1; level >= target_; level--) {
      const LevelFiles& files = version_.level(level);
      FileSpan found = OverlappingSpan(files, icmp_, &range->smallest, &range->largest);
      GrowToCleanCut(files, icmp_, &found);
      if (found.empty()) continue;
      range->Include(icmp_, RangeOf(files, icmp_, found));
      levels.push_back({level, FilesOf(files, found)});
    }
    std::ranges::reverse(levels);
    return levels;
  }

  static uint64_t BytesOf(const std::vector<CompactionInputLevel>& levels) {
    uint64_t bytes = 0;
    for (const CompactionInputLevel& level : levels) {
      for (const FileRef& file : level.files) bytes += file->size;
    }
    return bytes;
  }

  // Returns null if a table, or the range of the outputs, is in use.
  std::unique_ptr<CompactionPlan> PlanOf(std::vector<CompactionInputLevel> levels) const {
    PlanInputs inputs;
    inputs.levels = std::move(levels);
    inputs.output_level = target_;
    inputs.reason = reason_;
    return builder_.FromRuns(std::move(inputs));
  }

  const Version& version_;
  const InternalKeyComparator& icmp_;
  const PlanBuilder& builder_;
  const CompactionReason reason_;
  const int target_;
  const int deepest_;
};

}  // namespace

std::unique_ptr<CompactionPlan> PickSurplus(const VersionRef& version, const PlanBuilder& builder,
                                            CompactionReason reason) {
  if (version->surplus_levels() == 0) return nullptr;
  return SurplusDrain(version, builder, reason).Pick();
}

}  // namespace varve
