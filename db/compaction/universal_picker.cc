// SPDX-License-Identifier: Apache-2.0

// Picks compactions of the universal style. The rules are tried in the order that RocksDB
// documents: files that are covered or too old, space, similar sizes, the number of runs, levels
// beneath num_levels, marked files. Space, sizes and number count only from as many runs on as
// level0_file_num_compaction_trigger says. A large merge that these rules choose is done in slices
// (merge_slices.h), and what was begun is finished before they are asked again.
//
// A run is a file of L0 or all of a deeper level; index 0 is the newest (sorted_runs.h). A read
// may have to look into each run, while a byte is rewritten each time its run is merged. The style
// trades one cost for the other, and needs up to twice the space while everything is merged at
// once.
//
// Invariants
// 1. Only runs that are neighbours in age are merged. The output takes their place in the order,
//    and so needs a level of its own between its neighbours, or L0.
// 2. A run of which any file is being compacted is busy. A stretch of runs never reaches over a
//    busy one.
// 3. A merge takes whole runs, or, if it is one slice of a larger merge, all that they have between
//    two clean cuts. PlanOfMarked and PickWindow take a part of a run, with what it overlaps in the
//    next one.
// 4. Files of L0 are not sliced. They stay behind if what is merged beneath them outweighs them, or
//    are merged alone first, into a level above the others. Only large ones are merged at once with
//    all. So that there is a level for them, runs sink over empty ones.
// 5. Outputs end where files of the oldest run do, so that later merges have clean cuts.

#include "db/compaction/universal_picker.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <set>
#include <utility>

#include "db/compaction/input_span.h"
#include "db/compaction/merge_slices.h"
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
// costs in a merge of all runs. The factor is RocksDB's.
constexpr double kMostForWindow = 1.8;

// A merge of as many target files as kSlicedFrom is sliced, and each slice takes at least
// kFilesOfSlice of them, as each costs an edit and a few synchronisations of files.
constexpr uint64_t kSlicedFrom = 8;
constexpr uint64_t kFilesOfSlice = 4;
// An output with this part of the target size ends at the next guard: a key where a file of the
// oldest run ends. Newer runs have few keys between two guards; if each of them waited for a full
// file, they would end at different guards, and share few clean cuts. In the oldest run itself
// small files would become more and more, so there the part is larger.
constexpr uint64_t kNewerShare = 16;
constexpr uint64_t kOldestShare = 4;

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

  // Asks the rules in the order of the file's head; the first one that gives a plan decides.
  std::unique_ptr<CompactionPlan> Pick() {
    if (auto plan = PickCovered(version_ref_, shape_.due.covered)) return plan;
    if (auto plan = PickUnfinished()) return plan;
    if (auto plan = PickAged()) return plan;
    if (runs_.size() >= Trigger()) {
      if (auto plan = PickSinking()) return plan;
      if (auto plan = PickForSpace()) return plan;
      if (auto plan = PickSimilar()) return plan;
      if (auto plan = PickForNumber()) return plan;
    }
    if (auto plan = PickSurplus(version_ref_, builder_, CompactionReason::kLevelMaxLevelSize)) {
      return plan;
    }
    return PickMarked();
  }

  // Plans the next step of the merge of everything into the last level, of surplus levels first.
  // Returns null if a file is busy.
  std::unique_ptr<CompactionPlan> PickAll(const RangeCall& call, const Remainder& remainder) {
    constexpr CompactionReason kReason = CompactionReason::kManualCompaction;
    if (version_.surplus_levels() > 0) return PickSurplus(version_ref_, builder_, kReason);
    path_id_ = call.path_id;
    const RunSpan all{0, runs_.size()};
    if (auto plan = PickCalledSlice(all, call, remainder)) return plan;
    return MergeWhole(all, kReason);
  }

 private:
  size_t Trigger() const {
    return static_cast<size_t>(std::max(options_.level0_file_num_compaction_trigger, 1));
  }
  int LastLevel() const { return version_.usable_levels() - 1; }

  // Returns the number of runs at which half of the room is gone before writes are delayed.
  size_t PiledUp() const {
    return static_cast<size_t>(std::max(options_.level0_slowdown_writes_trigger, 0)) / 2;
  }

  // Goes on with a merge that was begun in slices. If many newer runs have piled up meanwhile,
  // those of similar sizes are merged before the next slice.
  std::unique_ptr<CompactionPlan> PickUnfinished() {
    if (version_.surplus_levels() > 0) return nullptr;
    const std::vector<int> levels = FindUnfinished(version_, runs_.LevelsOf({0, runs_.size()}));
    if (levels.empty()) return nullptr;
    RunSpan span{0, 0};
    while (runs_[span.newest].level != levels.front()) span.newest++;
    span.end = span.newest + levels.size();
    if (runs_.IsBusy(span) || runs_.OutputLevel(span, LastLevel()) != levels.back()) return nullptr;
    if (span.newest >= std::max(Trigger(), PiledUp())) {
      if (auto plan = MergeFirst(universal_options_.size_ratio, universal_options_.max_merge_width,
                                 CompactionReason::kUniversalSizeRatio, span.newest)) {
        return plan;
      }
    }
    const bool oldest = span.end == runs_.size();
    return PlanSlice(span,
                     oldest ? CompactionReason::kUniversalSizeAmplification
                            : CompactionReason::kUniversalSizeRatio,
                     {.wants = &HasNewer}, Progress::kBegun);
  }

  // Merges everything from the oldest run up to the first busy one, if it has a file that is too
  // old; of large runs only what overlaps such files.
  std::unique_ptr<CompactionPlan> PickAged() {
    constexpr CompactionReason kReason = CompactionReason::kPeriodicCompaction;
    const RunSpan span = runs_.IdleToOldest();
    std::set<const FileMetaData*> aged;
    bool any_in_l0 = false;
    for (const DueFile& file : shape_.due.files) {
      // NeedsCompaction may ask with a measurement that is older than the tree.
      if (file.index >= version_.level(file.level).size()) continue;
      for (size_t i = span.newest; i < span.end; i++) {
        const SortedRun& run = runs_[i];
        if (run.level != file.level || (run.level == 0 && run.index != file.index)) continue;
        aged.insert(version_.level(file.level)[file.index]);
        any_in_l0 |= run.level == 0;
      }
    }
    if (aged.empty()) return nullptr;
    const RunSpan levels = runs_.BelowL0(span);
    if (any_in_l0) return PickBesideL0(span, kReason);
    if (IsSliced(levels)) {
      const auto wants = [&](const MergePart& part) {
        return AnyFileOf(levels, part,
                         [&](int, FileMetaData* file) { return aged.contains(file); });
      };
      if (auto plan = PlanSlice(levels, kReason, {.wants = wants}, Progress::kNone, Moves::kNone)) {
        return plan;
      }
    }
    return MergeWhole(span, kReason);
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
    plan->score = shape_.scores[0];  // that of the number of runs
    plan->max_subcompactions = 0;    // as DBOptions::max_subcompactions allows
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
  // removes n - 1 of them: hence idle - limit + 1. If the levels are ripe, they are merged instead:
  // a little is not merged with much again and again, and space is freed early.
  std::unique_ptr<CompactionPlan> PickForNumber() {
    const size_t limit = MostRuns();
    size_t idle = 0;
    for (size_t i = 0; i < runs_.size(); i++) idle += runs_[i].busy ? 0 : 1;
    if (idle <= limit) return nullptr;
    if (auto plan = PickRipe()) return plan;
    const size_t most = std::min<size_t>(idle - limit + 1, UINT_MAX);
    return MergeFirst(std::nullopt, static_cast<unsigned>(most),
                      CompactionReason::kUniversalSortedRunNum);
  }

  // Moves a run down over empty levels, if L0 has no free level beneath it. A merge in slices
  // leaves such levels when newer runs have come to lie above it meanwhile; merges of L0 would have
  // to stay there.
  std::unique_ptr<CompactionPlan> PickSinking() {
    const RunSpan levels = runs_.BelowL0({0, runs_.size()});
    if (!IsSliced(levels) || runs_[levels.newest].level > 1) return nullptr;
    for (size_t i = levels.end; i-- > levels.newest;) {
      const RunSpan run{i, i + 1};
      const int level = runs_.OutputLevel(run, LastLevel());
      if (level == runs_[i].level || !MayMove({runs_[i].level}, level)) continue;
      auto plan = Plan(runs_.FilesOf(run), level, run, CompactionReason::kUniversalSortedRunNum);
      if (plan == nullptr || !builder_.LetsMove(*plan)) continue;
      plan->trivial_move = true;
      return plan;
    }
    return nullptr;
  }

  // True if files of these levels may be moved to the other one as they are.
  bool MayMove(const std::vector<int>& levels, int output_level) const {
    return options_.sst_partitioner_factory == nullptr && options_.cf_paths.size() < 2 &&
           std::ranges::all_of(
               levels, [&](int level) { return builder_.SameCompression(level, output_level); });
  }

  // Merges all levels if they are large, and the newer ones together have nearly the bytes of the
  // oldest.
  std::unique_ptr<CompactionPlan> PickRipe() {
    const RunSpan span = runs_.BelowL0({0, runs_.size()});
    if (!IsSliced(span) || runs_.IsBusy(span)) return nullptr;
    if (span.size() < std::max(universal_options_.min_merge_width, 2u)) return nullptr;
    if (span.size() > universal_options_.max_merge_width) return nullptr;
    const uint64_t oldest = runs_[span.end - 1].bytes;
    if (runs_.BytesOf(span) - oldest < oldest / 5 * 4) return nullptr;
    return Merge(span, CompactionReason::kUniversalSortedRunNum);
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
  // and at most `most` runs, or two if that is less, all before `end`. `ratio` is the percentage by
  // which each next run may exceed those before it; without a ratio sizes do not matter.
  std::unique_ptr<CompactionPlan> MergeFirst(std::optional<unsigned> ratio, unsigned most,
                                             CompactionReason reason, size_t end = SIZE_MAX) {
    const size_t fewest = std::max(universal_options_.min_merge_width, 2u);
    end = std::min(end, runs_.size());
    for (size_t first = 0; first < end; first++) {
      if (runs_[first].busy) continue;
      const RunSpan span = Stretch(first, ratio, std::min(std::max<size_t>(most, 2), end - first));
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

  // Plans the merge of the runs, or its next step, if it is large; null if something is in the way.
  std::unique_ptr<CompactionPlan> Merge(const RunSpan& span, CompactionReason reason) {
    if (IsSliced(span)) {
      if (runs_[span.newest].level == 0) return PickBesideL0(span, reason);
      if (auto plan = PlanSlice(span, reason, {.wants = &HasNewer})) return plan;
    }
    return MergeWhole(span, reason);
  }

  // True if a merge of the runs is large enough to be sliced, and goes into a level.
  bool IsSliced(const RunSpan& span) const {
    if (span.size() == 0 || version_.surplus_levels() > 0) return false;
    const int output_level = runs_.OutputLevel(span, LastLevel());
    return output_level > 0 &&
           runs_.BytesOf(span) / kSlicedFrom >= builder_.TargetFileBytes(output_level);
  }

  // Plans a step of a large merge of which files of L0 are a part. To save space and time they stay
  // behind: the rules will find them again. Only if what remains would not do, they are merged
  // alone first, or, if they are large themselves, everything at once.
  std::unique_ptr<CompactionPlan> PickBesideL0(const RunSpan& span, CompactionReason reason) {
    const RunSpan levels = runs_.BelowL0(span);
    const RunSpan l0{span.newest, levels.newest};
    if (!IsSliced(span) || levels.size() == 0) return MergeWhole(span, reason);
    const bool for_size = reason == CompactionReason::kUniversalSizeAmplification ||
                          reason == CompactionReason::kUniversalSizeRatio;
    const uint64_t newer = runs_.BytesOf(levels) - runs_[levels.end - 1].bytes;
    if (for_size && levels.size() > 1 && IsSliced(levels) && runs_.BytesOf(l0) <= newer / 2) {
      if (auto plan = PlanSlice(levels, reason, {.wants = &HasNewer})) return plan;
      return MergeWhole(span, reason);
    }
    return CanTakeIn(l0, levels) ? MergeWhole(l0, reason) : MergeWhole(span, reason);
  }

  // True if the runs of L0 are no larger than the levels, above which there is a free one: then
  // they are worth a merge of their own, after which all can be merged in slices.
  bool CanTakeIn(const RunSpan& l0, const RunSpan& levels) const {
    return l0.size() > 0 && levels.size() > 0 && runs_[levels.newest].level > 1 &&
           runs_.BytesOf(l0) <= runs_.BytesOf(levels);
  }

  // Plans the next step of CompactRange in a large tree: first what there was in L0, then parts of
  // the levels which have data that there was. Returns null if everything is to be merged at once.
  std::unique_ptr<CompactionPlan> PickCalledSlice(const RunSpan& all, const RangeCall& call,
                                                  const Remainder& remainder) {
    constexpr CompactionReason kReason = CompactionReason::kManualCompaction;
    const RunSpan levels = runs_.BelowL0(all);
    if (!IsSliced(levels)) return nullptr;
    const std::vector<FileRef>& l0 = version_.level(0).files();
    if (std::ranges::any_of(l0, [&](const FileRef& f) { return remainder.IsOld(f->number); })) {
      const RunSpan files{0, levels.newest};
      return CanTakeIn(files, levels) ? MergeWhole(files, kReason) : nullptr;
    }
    const auto wants_file = [&](int level, const FileMetaData* file) {
      if (!remainder.IsOld(file->number)) return false;
      return level < LastLevel() || (!call.skip_last_level && remainder.IsUnwritten(file->number));
    };
    const auto wants = [&](const MergePart& part) { return AnyFileOf(levels, part, wants_file); };
    return PlanSlice(levels, kReason, {.wants = wants}, Progress::kNone,
                     remainder.goal() == Remainder::Goal::kSink ? Moves::kAllowed : Moves::kNone);
  }

  static bool HasNewer(const MergePart& part) { return part.newer_files > 0; }

  // True if the predicate holds for any file of a part of a merge of these runs.
  template <typename Predicate>
  bool AnyFileOf(const RunSpan& span, const MergePart& part, const Predicate& predicate) const {
    for (size_t i = 0; i < span.size(); i++) {
      const int level = runs_[span.newest + i].level;
      for (size_t f = part.spans[i].first; f < part.spans[i].last; f++) {
        if (predicate(level, version_.level(level)[f])) return true;
      }
    }
    return false;
  }

  // Says if slices of a merge have been done already.
  enum class Progress : uint8_t { kNone, kBegun };
  // Says if files that overlap nothing may be moved.
  enum class Moves : uint8_t { kNone, kAllowed };

  // Plans the first slice of the wanted parts of a merge of runs below L0. Returns null if
  // something is in the way, or if there is only one slice: at the beginning this is the whole
  // merge, and later a remainder too small for a slice, which a merge never leaves behind.
  std::unique_ptr<CompactionPlan> PlanSlice(const RunSpan& span, CompactionReason reason,
                                            SliceRules rules, Progress progress = Progress::kNone,
                                            Moves moves = Moves::kAllowed) {
    const int output_level = runs_.OutputLevel(span, LastLevel());
    std::vector<int> levels = runs_.LevelsOf(span);
    // Bounded, as outputs may be of any size, so that the product below does not overflow.
    const uint64_t target =
        std::min(builder_.TargetFileBytes(output_level), UINT64_MAX / kSlicedFrom);
    rules.least_bytes = target * kFilesOfSlice;
    if (moves == Moves::kAllowed && MayMove(levels, output_level)) {
      rules.least_moved_bytes = target / kOldestShare;
    }
    if (levels.back() != output_level) levels.push_back(output_level);
    const std::vector<MergePart> parts = FindParts(version_, levels);
    MergeSlice slice = FirstSlice(version_, levels, parts, rules);
    if (slice.inputs.empty()) return nullptr;
    if (progress == Progress::kNone ? slice.is_all : slice.wanted_bytes < rules.least_bytes) {
      return nullptr;
    }
    auto plan = Plan(std::move(slice.inputs), output_level, span, reason);
    if (plan == nullptr) return nullptr;
    plan->trivial_move = slice.moves && builder_.LetsMove(*plan);
    return plan;
  }

  // Plans the merge of the runs at once; null if something is in the way.
  std::unique_ptr<CompactionPlan> MergeWhole(const RunSpan& span, CompactionReason reason) {
    auto plan = Plan(runs_.FilesOf(span), runs_.OutputLevel(span, LastLevel()), span, reason);
    if (plan == nullptr) return nullptr;
    const bool moves = universal_options_.allow_trivial_move && plan->output_level > 0 &&
                       (reason == CompactionReason::kUniversalSizeAmplification ||
                        reason == CompactionReason::kUniversalSizeRatio ||
                        reason == CompactionReason::kUniversalSortedRunNum);
    plan->trivial_move = moves && builder_.AreDisjoint(*plan) && builder_.LetsMove(*plan);
    return plan;
  }

  // Plans a merge of files of the runs; null if something is in the way.
  std::unique_ptr<CompactionPlan> Plan(std::vector<CompactionInputLevel> levels, int output_level,
                                       const RunSpan& span, CompactionReason reason) {
    PlanInputs inputs;
    inputs.levels = std::move(levels);
    inputs.output_level = output_level;
    inputs.reason = reason;
    auto plan = builder_.FromRuns(std::move(inputs));
    if (plan == nullptr) return nullptr;
    plan->score = shape_.scores[0];
    plan->max_subcompactions = 0;
    plan->output.path_id = path_id_.value_or(PathFor(runs_.BytesOf(span)));
    if (LeavesUncompressed(span, reason)) plan->output.compression = kNoCompression;
    AlignOutputs(plan.get());
    return plan;
  }

  // Lets outputs end where files of the oldest run do, which all runs have as guards then. The
  // next older run would not do: its files end with keys of their own, somewhere before a guard.
  void AlignOutputs(CompactionPlan* plan) const {
    OutputShape& output = plan->output;
    const int level = runs_[runs_.size() - 1].level;
    if (plan->output_level == 0 || level == 0) return;
    const LevelFiles& oldest = version_.level(level);
    const KeyRange range = RangeOf(*version_.icmp(), *plan);
    output.grandparents =
        FilesOf(oldest, OverlappingSpan(oldest, *version_.icmp(), &range.smallest, &range.largest));
    const bool replaces = plan->output_level >= level;
    output.border_file_bytes =
        std::max<uint64_t>(1, output.target_file_bytes / (replaces ? kOldestShare : kNewerShare));
    // Outputs that replace the oldest run will not be merged with it.
    if (replaces) output.max_grandparent_overlap_bytes = UINT64_MAX;
  }

  // Returns the index in cf_paths for outputs of this size: that of the first path into which they
  // fit, if its rest and the paths before it have room for the runs that come next, which are
  // smaller by size_ratio; else that of the last path.
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
      return MergeWhole({index, span.end}, kReason);
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
  // Index in cf_paths that a call asks for; unset: PathFor decides.
  std::optional<uint32_t> path_id_;
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
  auto plan = UniversalPlanner(version, shape, options, running).PickAll(call, remainder);
  *conflict = plan == nullptr;
  if (plan == nullptr) return nullptr;
  plan->is_manual = true;
  if (call.path_id.has_value()) plan->output.path_id = *call.path_id;
  if (call.max_subcompactions != 0) plan->max_subcompactions = call.max_subcompactions;
  return plan;
}

}  // namespace varve
