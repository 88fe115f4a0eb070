// SPDX-License-Identifier: Apache-2.0

// Picks compactions of the universal style. The rules are tried in the order that RocksDB
// documents: files that are covered or too old, space, similar sizes, the number of runs, levels
// beneath num_levels, marked files. Space, sizes and number count only from as many runs on as
// level0_file_num_compaction_trigger says.
//
// A run is a file of L0 or all of a deeper level; index 0 is the newest (sorted_runs.h). A read
// may have to look into each run, while a byte is rewritten each time its run is merged. The style
// trades one cost for the other, and needs up to twice the space while everything is merged.
//
// Invariants
// 1. Only runs that are neighbours in age are merged. The output takes their place in the order,
//    and so needs a level of its own between its neighbours, or L0.
// 2. A run of which any file is being compacted is busy. A stretch of runs never reaches over a
//    busy one.
// 3. As the inputs need not overlap, a merge of runs has no clean cuts: whole levels are always
//    taken. Only PlanOfMarked and PickWindow take a part of a run, with what it overlaps in the
//    next one.

#include "db/compaction/universal_picker.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <utility>

#include "db/compaction/input_span.h"
#include "db/compaction/plan_builder.h"
#include "db/compaction/sorted_runs.h"
#include "db/compaction/surplus_levels.h"
#include "db/compaction/whole_files.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// True if `bytes` exceeds `of` by more than `percent`.
bool Exceeds(uint64_t bytes, uint64_t of, double percent) {
  return static_cast<double>(bytes) > static_cast<double>(of) * (100 + percent) / 100;
}

// A window of a run is merged only if each of its bytes costs less than this many times what a byte
// costs in a merge of all runs.
constexpr double kMostForWindow = 1.8;

class UniversalPlanner {
 public:
  UniversalPlanner(const VersionRef& version, const LevelShape& shape,
                   const ColumnFamilyOptions& options,
                   const std::vector<const CompactionPlan*>& running)
      : version_ref_(version),
        version_(*version),
        shape_(shape),
        options_(options),
        universal_options_(options.compaction_options_universal),
        runs_(version_),
        builder_(version, shape, options, running) {}

  std::unique_ptr<CompactionPlan> Pick() {
    if (auto plan = PickCovered(version_ref_, shape_.due.covered)) return plan;
    if (auto plan = PickAged()) return plan;
    if (runs_.size() >= Trigger()) {
      if (auto plan = PickForSpace()) return plan;
      if (auto plan = PickSimilar()) return plan;
      if (auto plan = PickForNumber()) return plan;
    }
    if (auto plan = PickSurplus(version_ref_, builder_, CompactionReason::kLevelMaxLevelSize)) {
      return plan;
    }
    return PickMarked();
  }

  // Plans the merge of everything into the last level, of surplus levels first. Sets *conflict if a
  // file is busy.
  std::unique_ptr<CompactionPlan> PickAll(bool* conflict) {
    auto plan = version_.surplus_levels() > 0
                    ? PickSurplus(version_ref_, builder_, CompactionReason::kManualCompaction)
                    : Merge({0, runs_.size()}, CompactionReason::kManualCompaction);
    *conflict = plan == nullptr;
    return plan;
  }

 private:
  size_t Trigger() const {
    return static_cast<size_t>(std::max(options_.level0_file_num_compaction_trigger, 1));
  }
  int LastLevel() const { return version_.usable_levels() - 1; }

  // Merges everything from the oldest run up to the first busy one, if it has a file that is too
  // old.
  std::unique_ptr<CompactionPlan> PickAged() {
    const RunSpan span = runs_.IdleToOldest();
    const bool due = std::ranges::any_of(shape_.due.files, [&](const DueFile& file) {
      for (size_t i = span.newest; i < span.end; i++) {
        const SortedRun& run = runs_[i];
        if (run.level == file.level && (run.level > 0 || run.index == file.index)) return true;
      }
      return false;
    });
    return due ? Merge(span, CompactionReason::kPeriodicCompaction) : nullptr;
  }

  // Merges everything if the newer runs are so large, compared with the oldest, that too much of
  // the space may be of overwritten data.
  std::unique_ptr<CompactionPlan> PickForSpace() {
    // While surplus levels are drained, the oldest run is not known as a whole.
    if (version_.surplus_levels() > 0) return nullptr;
    const RunSpan span = runs_.IdleToOldest();
    if (span.size() < 2) return nullptr;
    double newer = 0;
    for (size_t i = span.newest; i + 1 < span.end; i++) {
      newer += static_cast<double>(runs_[i].weighted);
    }
    const auto base = static_cast<double>(runs_[span.end - 1].bytes);
    if (newer * 100 < universal_options_.max_size_amplification_percent * base) return nullptr;
    if (universal_options_.incremental) {
      if (auto plan = PickWindow(span, base / std::max(newer, 1.0))) return plan;
    }
    return Merge(span, CompactionReason::kUniversalSizeAmplification);
  }

  // Plans a merge of a window of the second oldest run into the oldest one, so that space is freed
  // step by step: neighbouring files that make, with what they overlap, at least half of
  // max_compaction_bytes. Takes the window that rewrites the fewest bytes of the oldest run for
  // each of its own. Returns null if everything is better merged at once: `cost` is the number of
  // bytes that this would rewrite for each newer one.
  std::unique_ptr<CompactionPlan> PickWindow(const RunSpan& span, double cost) {
    const SortedRun& oldest = runs_[span.end - 1];
    const SortedRun& second = runs_[span.end - 2];
    if (second.level == 0 || oldest.level == 0) return nullptr;
    const LevelFiles& files = version_.level(second.level);
    const uint64_t least = builder_.max_compaction_bytes() / 2;
    FileSpan best;
    double best_cost = kMostForWindow * cost;
    FileSpan window{0, 0};
    uint64_t own = 0;
    while (window.last < files.size()) {
      own += files[window.last++]->size;
      for (; window.first < window.last; own -= files[window.first++]->size) {
        const uint64_t beneath = BytesBeneath(files, window, oldest.level);
        if (own + beneath < least) break;
        const double each = static_cast<double>(beneath) / static_cast<double>(own);
        if (each >= best_cost) continue;
        best_cost = each;
        best = window;
      }
    }
    if (best.empty()) return nullptr;
    auto plan = builder_.FromLevel(second.level, best, oldest.level,
                                   CompactionReason::kUniversalSizeAmplification);
    if (plan == nullptr) return nullptr;
    plan->score = shape_.scores[0];
    plan->max_subcompactions = 0;
    plan->output.path_id = PathFor(oldest.bytes);
    plan->trivial_move = plan->trivial_move && builder_.LetsMove(*plan);
    return plan;
  }

  // Returns the bytes of a level's files that the window overlaps.
  uint64_t BytesBeneath(const LevelFiles& files, const FileSpan& window, int level) const {
    const LevelFiles& beneath = version_.level(level);
    const KeyRange range = RangeOf(files, *version_.icmp(), window);
    return BytesOf(beneath,
                   OverlappingSpan(beneath, *version_.icmp(), &range.smallest, &range.largest));
  }

  // Merges the newest stretch of runs of which each next one is not much larger than the newer
  // ones.
  std::unique_ptr<CompactionPlan> PickSimilar() {
    return MergeFirst(universal_options_.size_ratio, universal_options_.max_merge_width,
                      CompactionReason::kUniversalSizeRatio);
  }

  // Merges the newest runs, whatever their sizes, if there are too many. Merging n runs into one
  // removes n - 1 of them: hence idle - limit + 1.
  std::unique_ptr<CompactionPlan> PickForNumber() {
    const size_t limit = MostRuns();
    size_t idle = 0;
    for (size_t i = 0; i < runs_.size(); i++) idle += runs_[i].busy ? 0 : 1;
    if (idle <= limit) return nullptr;
    const size_t most = std::min<size_t>(idle - limit + 1, UINT_MAX);
    return MergeFirst(std::nullopt, static_cast<unsigned>(most),
                      CompactionReason::kUniversalSortedRunNum);
  }

  // Returns the number of runs that may stay. A max_read_amp of 0 allows those that a tree of this
  // size has when each run is as large as all newer ones allow by size_ratio.
  size_t MostRuns() const {
    if (universal_options_.max_read_amp > 0)
      return static_cast<size_t>(universal_options_.max_read_amp);
    if (universal_options_.max_read_amp < 0) return Trigger();
    uint64_t largest = 0;
    for (size_t i = 0; i < runs_.size(); i++) largest = std::max(largest, runs_[i].bytes);
    const double growth = (100.0 + universal_options_.size_ratio) / 100;
    auto cap = static_cast<double>(options_.write_buffer_size);
    double sum = 0;
    size_t runs = 1;
    while (cap < static_cast<double>(largest)) {
      sum += cap;
      cap = sum * growth;
      runs++;
    }
    return runs;
  }

  // Merges the first stretch of idle runs, from the newest on, that has at least min_merge_width
  // and at most `most` runs. `ratio` is the percentage by which each next run may exceed those
  // before it; without a ratio sizes do not matter.
  std::unique_ptr<CompactionPlan> MergeFirst(std::optional<unsigned> ratio, unsigned most,
                                             CompactionReason reason) {
    const size_t fewest = std::max(universal_options_.min_merge_width, 2u);
    for (size_t first = 0; first < runs_.size(); first++) {
      if (runs_[first].busy) continue;
      const RunSpan span = Stretch(first, ratio, std::max<size_t>(most, 2));
      if (span.size() < fewest) continue;
      if (auto plan = Merge(span, reason)) return plan;
    }
    return nullptr;
  }

  // Returns the longest stretch that begins with run `first` and keeps the conditions of
  // MergeFirst, except for the minimum.
  RunSpan Stretch(size_t first, std::optional<unsigned> ratio, size_t most) const {
    // With kCompactionStopStyleSimilarSize each run is compared with the one before it, in both
    // directions; otherwise with the sum of all newer ones in the stretch.
    const bool by_last = universal_options_.stop_style == kCompactionStopStyleSimilarSize;
    RunSpan span{first, first + 1};
    uint64_t size = runs_[first].weighted;
    for (; span.end < runs_.size() && span.size() < most; span.end++) {
      const SortedRun& next = runs_[span.end];
      if (next.busy) break;
      if (ratio.has_value() && Exceeds(next.bytes, size, *ratio)) break;
      if (by_last && ratio.has_value() && Exceeds(size, next.bytes, *ratio)) break;
      size = by_last ? next.weighted : size + next.weighted;
    }
    return span;
  }

  // Plans the merge of the runs; null if something is in the way.
  std::unique_ptr<CompactionPlan> Merge(const RunSpan& span, CompactionReason reason) {
    PlanInputs inputs;
    inputs.levels = runs_.FilesOf(span);
    inputs.output_level = runs_.OutputLevel(span, LastLevel());
    inputs.reason = reason;
    auto plan = builder_.FromRuns(std::move(inputs));
    if (plan == nullptr) return nullptr;
    plan->score = shape_.scores[0];
    plan->max_subcompactions = 0;
    plan->output.path_id = PathFor(plan->InputBytes());
    const bool moves = universal_options_.allow_trivial_move && plan->output_level > 0 &&
                       (reason == CompactionReason::kUniversalSizeAmplification ||
                        reason == CompactionReason::kUniversalSizeRatio ||
                        reason == CompactionReason::kUniversalSortedRunNum);
    plan->trivial_move = moves && builder_.AreDisjoint(*plan) && builder_.LetsMove(*plan);
    if (LeavesUncompressed(span, reason)) plan->output.compression = kNoCompression;
    return plan;
  }

  // Returns the index in cf_paths for outputs of this size: the first path that is larger, if what
  // it and the paths before it have left would take the next runs, which are about as large; else
  // the last one.
  uint32_t PathFor(uint64_t bytes) const {
    const std::vector<DbPath>& paths = options_.cf_paths;
    if (paths.size() < 2) return 0;
    const double next =
        static_cast<double>(bytes) * (100.0 - std::min(universal_options_.size_ratio, 100u)) / 100;
    double earlier = 0;
    for (size_t i = 0; i + 1 < paths.size(); i++) {
      const uint64_t size = paths[i].target_size;
      if (size > bytes && earlier + static_cast<double>(size - bytes) > next) {
        return static_cast<uint32_t>(i);
      }
      earlier += static_cast<double>(size);
    }
    return static_cast<uint32_t>(paths.size() - 1);
  }

  // True if the runs older than the merged ones have the share of all bytes that is compressed.
  bool LeavesUncompressed(const RunSpan& span, CompactionReason reason) const {
    if (universal_options_.compression_size_percent < 0) return false;
    if (reason != CompactionReason::kUniversalSizeRatio &&
        reason != CompactionReason::kUniversalSortedRunNum) {
      return false;
    }
    const auto older = static_cast<double>(runs_.BytesOlderThan(span));
    const auto all = static_cast<double>(runs_.TotalBytes());
    return older * 100 >= all * universal_options_.compression_size_percent;
  }

  // Merges a marked file into the next run beneath it: what it was marked for is done then.
  std::unique_ptr<CompactionPlan> PickMarked() {
    for (int level = 0; level < std::max(1, LastLevel()); level++) {
      const LevelFiles& files = version_.level(level);
      for (size_t i = 0; i < files.size(); i++) {
        if (!files[i]->notes.marked_for_compaction || files[i]->notes.being_compacted) continue;
        auto plan = PlanOfMarked(level, i);
        if (plan == nullptr) continue;
        plan->trivial_move = false;
        return plan;
      }
    }
    return nullptr;
  }

  // Plans the merge of one marked file with what it overlaps in the next level that has files, or
  // in the last level. In a tree of one level it is merged with all older runs. Returns null if a
  // file that takes part is busy, or if no older run is left to merge with.
  std::unique_ptr<CompactionPlan> PlanOfMarked(int level, size_t index) {
    constexpr CompactionReason kReason = CompactionReason::kFilesMarkedForCompaction;
    if (LastLevel() == 0) {
      const RunSpan span = runs_.IdleToOldest();
      if (index < span.newest) return nullptr;
      return Merge({index, span.end}, kReason);
    }
    int output_level = level + 1;
    while (output_level < LastLevel() && version_.level(output_level).empty()) output_level++;
    if (level > 0) {
      if (version_.level(output_level).empty()) return nullptr;
      return builder_.FromLevel(level, {index, index + 1}, output_level, kReason);
    }
    const LevelFiles& files = version_.level(0);
    if (AnyBeingCompacted(files, {0, files.size()})) return nullptr;
    std::vector<bool> chosen(files.size(), false);
    chosen[index] = true;
    GrowL0Cluster(files, *version_.icmp(), &chosen);
    return builder_.FromL0(chosen, output_level, kReason);
  }

  const VersionRef& version_ref_;
  const Version& version_;
  const LevelShape& shape_;
  const ColumnFamilyOptions& options_;
  const CompactionOptionsUniversal& universal_options_;
  const SortedRuns runs_;
  PlanBuilder builder_;
};

// Says what a CompactRange call still asks of a tree.
struct Wanted {
  bool merge = false;    // Data of the beginning lies outside of the last run.
  bool rewrite = false;  // Such data has not been rewritten.
};

// Looks for tables that existed when the call began (Remainder::IsOld) and are not yet in the last
// run, and for those that no compaction has rewritten since.
Wanted StillWanted(const Version& version, const Remainder& remainder) {
  const int last_level = version.usable_levels() - 1;
  Wanted wanted;
  wanted.merge = version.surplus_levels() > 0;
  size_t old_in_l0 = 0;
  for (int level = 0; level <= std::min(last_level, version.non_empty_levels() - 1); level++) {
    for (const FileRef& file : version.level(level).files()) {
      if (!remainder.IsOld(file->number)) continue;
      wanted.rewrite |= remainder.IsUnwritten(file->number);
      if (level == 0) old_in_l0++;
      wanted.merge |= level < last_level;
    }
  }
  // A tree of one level has its last run in L0.
  if (last_level == 0) wanted.merge |= old_in_l0 > 1;
  return wanted;
}

}  // namespace

std::unique_ptr<CompactionPlan> UniversalPicker::Pick(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const std::vector<const CompactionPlan*>& running) const {
  VARVE_ASSERT(shape.scores.size() == static_cast<size_t>(version->num_levels()));
  return UniversalPlanner(version, shape, options, running).Pick();
}

std::unique_ptr<CompactionPlan> UniversalPicker::PickRangeStep(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const RangeCall& call, const Remainder& remainder,
    const std::vector<const CompactionPlan*>& running, bool* conflict) const {
  *conflict = false;
  const Wanted wanted = StillWanted(*version, remainder);
  if (!wanted.merge && (!wanted.rewrite || call.skip_last_level)) return nullptr;
  auto plan = UniversalPlanner(version, shape, options, running).PickAll(conflict);
  if (plan == nullptr) return nullptr;
  plan->is_manual = true;
  if (call.path_id.has_value()) plan->output.path_id = *call.path_id;
  if (call.max_subcompactions != 0) plan->max_subcompactions = call.max_subcompactions;
  return plan;
}

}  // namespace varve
