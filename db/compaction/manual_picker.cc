// SPDX-License-Identifier: Apache-2.0

// Picks compactions that a user asked for.

#include "db/compaction/manual_picker.h"

#include <algorithm>
#include <utility>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/input_span.h"
#include "db/compaction/plan_builder.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Returns the first span of files with something left to rewrite. Only neighbours may be rewritten
// together: an output must not reach over a file that stays.
FileSpan FirstUnwrittenRun(const LevelFiles& files, const InternalKeyComparator& icmp,
                           FileSpan span, const Remainder& remainder) {
  FileSpan run{span.first, span.first};
  for (size_t i = span.first; i < span.last; i++) {
    FileSpan clean{i, i + 1};
    GrowToCleanCut(files, icmp, &clean);
    bool wanted = false;
    for (size_t j = clean.first; j < clean.last; j++) {
      wanted = wanted || remainder.IsUnwritten(files[j]->number);
    }
    if (wanted) {
      if (run.empty()) run.first = clean.first;
      run.last = std::max(run.last, clean.last);
    } else if (!run.empty()) {
      break;
    }
    i = clean.last - 1;
  }
  return run;
}

// True if the file may have a key of the range; its ends are keys without timestamps, both
// inclusive, and null is open.
bool L0Overlaps(const InternalKeyComparator& icmp, const FileMetaData& file, const Slice* begin,
                const Slice* end) {
  return (end == nullptr || icmp.CompareKey(icmp.KeyOf(file.smallest), *end) <= 0) &&
         (begin == nullptr || icmp.CompareKey(icmp.KeyOf(file.largest), *begin) >= 0);
}

// Collects everything that must be compacted into the output level with chosen files of several
// levels.
class SetGrower {
 public:
  SetGrower(const Version& version, int output_level)
      : version_(version), icmp_(*version.icmp()), output_level_(output_level) {
    for (int level = 0; level < version.num_levels(); level++) {
      chosen_.emplace_back(version.level(level).size(), false);
    }
  }

  void Choose(int level, const FileMetaData* file) {
    const LevelFiles& files = version_.level(level);
    for (size_t i = 0; i < files.size(); i++) {
      if (files[i] == file) chosen_[static_cast<size_t>(level)][i] = true;
    }
  }

  // Adds what must come along. Goes down level by level, as each level's files widen the range that
  // the next one must cover.
  void Grow() {
    if (output_level_ == 0) {
      GrowWithinL0();
      return;
    }
    KeyRange range;
    for (int level = 0; level <= output_level_; level++) {
      std::vector<bool>& chosen = chosen_[static_cast<size_t>(level)];
      if (level == 0) {
        range.Include(icmp_, GrowL0Cluster(version_.level(0), icmp_, &chosen));
      } else {
        GrowLevel(level, &chosen, &range);
      }
    }
  }

  std::vector<CompactionInputLevel> Take() const {
    std::vector<CompactionInputLevel> result;
    for (int level = 0; level <= output_level_; level++) {
      CompactionInputLevel input;
      input.level = level;
      const LevelFiles& files = version_.level(level);
      for (size_t i = 0; i < files.size(); i++) {
        if (chosen_[static_cast<size_t>(level)][i]) input.files.push_back(files.files()[i]);
      }
      if (!input.files.empty()) result.push_back(std::move(input));
    }
    return result;
  }

 private:
  // A file that stays in L0 must not lie between two inputs in age.
  void GrowWithinL0() {
    std::vector<bool>& chosen = chosen_[0];
    const auto first = std::find(chosen.begin(), chosen.end(), true);
    const auto last = std::find(chosen.rbegin(), chosen.rend(), true).base();
    if (first < last) std::fill(first, last, true);
  }

  // Chooses one span of the level: from the first to the last file that is chosen or overlaps what
  // comes from above. Fills the gaps, as the outputs may reach over them.
  void GrowLevel(int level, std::vector<bool>* chosen, KeyRange* range) {
    const LevelFiles& files = version_.level(level);
    KeyRange own = *range;
    for (size_t i = 0; i < files.size(); i++) {
      if ((*chosen)[i]) own.Include(icmp_, *files[i]);
    }
    if (!own.set) return;
    FileSpan span = OverlappingSpan(files, icmp_, &own.smallest, &own.largest);
    GrowToCleanCut(files, icmp_, &span);
    std::fill(chosen->begin() + static_cast<ptrdiff_t>(span.first),
              chosen->begin() + static_cast<ptrdiff_t>(span.last), true);
    own.Include(icmp_, RangeOf(files, icmp_, span));
    *range = own;
  }

  const Version& version_;
  const InternalKeyComparator& icmp_;
  const int output_level_;
  std::vector<std::vector<bool>> chosen_;
};

}  // namespace

// From L0 the files of the range go down with their cluster. From a deeper level a span goes, which
// is cut to what still has to be rewritten if the request says what that is (request.remainder).
std::unique_ptr<CompactionPlan> PickManualCompaction(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const ManualCompactionRequest& request, const std::vector<const CompactionPlan*>& running,
    bool* conflict) {
  VARVE_ASSERT(request.output_level >= request.start_level);
  *conflict = false;
  const InternalKeyComparator& icmp = *version->icmp();
  const LevelFiles& files = version->level(request.start_level);
  PlanBuilder builder(version, shape, options, running);
  if (request.path_id.has_value()) builder.PlaceOutputsIn(*request.path_id);
  std::unique_ptr<CompactionPlan> plan;
  if (request.start_level == 0) {
    std::vector<bool> chosen(files.size());
    bool any = false;
    for (size_t i = 0; i < files.size(); i++) {
      chosen[i] = L0Overlaps(icmp, *files[i], request.begin, request.end);
      any = any || chosen[i];
    }
    if (!any) return nullptr;
    GrowL0Cluster(files, icmp, &chosen);
    plan = builder.FromL0(chosen, request.output_level, CompactionReason::kManualCompaction);
  } else {
    FileSpan span = OverlappingSpan(files, icmp, request.begin, request.end);
    if (request.remainder != nullptr) {
      span = FirstUnwrittenRun(files, icmp, span, *request.remainder);
    }
    if (span.empty()) return nullptr;
    plan = builder.FromLevel(request.start_level, span, request.output_level,
                             CompactionReason::kManualCompaction);
  }
  if (plan == nullptr) {
    *conflict = true;
    return nullptr;
  }
  plan->is_manual = true;
  plan->trivial_move = plan->trivial_move && request.allow_trivial_move;
  if (request.max_subcompactions != 0) plan->max_subcompactions = request.max_subcompactions;
  return plan;
}

// Leaves L0 alone: its files overlap, and one that stays could have older entries of a key whose
// newer entries went.
void PickFilesInRanges(const VersionRef& version, const RangePtr* ranges, size_t n,
                       bool include_end, CompactionPlan* plan) {
  const InternalKeyComparator& icmp = *version->icmp();
  const auto within = [&](const FileMetaData& file) {
    return std::any_of(ranges, ranges + n, [&](const RangePtr& range) {
      if (range.start != nullptr && icmp.CompareKey(icmp.KeyOf(file.smallest), *range.start) < 0) {
        return false;
      }
      if (range.limit == nullptr) return true;
      const int order = icmp.CompareKey(icmp.KeyOf(file.largest), *range.limit);
      return order < 0 || (order == 0 && include_end);
    });
  };
  VARVE_ASSERT(plan->inputs.empty());
  plan->version = version;
  plan->is_manual = true;
  plan->deletion_only = true;
  plan->reason = CompactionReason::kManualCompaction;
  for (int level = 1; level < version->non_empty_levels(); level++) {
    const LevelFiles& files = version->level(level);
    CompactionInputLevel input;
    input.level = level;
    for (size_t i = 0; i < files.size();) {
      FileSpan clean{i, i + 1};
      GrowToCleanCut(files, icmp, &clean);
      // All files of a clean cut go or stay together: a file that stays could have older entries of
      // a key whose newer ones went.
      bool all = !AnyBeingCompacted(files, clean);
      for (size_t j = clean.first; j < clean.last; j++) all = all && within(*files[j]);
      for (size_t j = i; all && j < clean.last; j++) input.files.push_back(files.files()[j]);
      i = clean.last;
    }
    if (input.files.empty()) continue;
    if (plan->inputs.empty()) plan->start_level = level;
    plan->output_level = level;
    plan->inputs.push_back(std::move(input));
  }
}

// Checks the call's arguments first, then grows the set, then checks it against other compactions:
// the user chose the files, so a conflict is an error and not a reason to wait. The plan is built
// without the builder's own checks, which are all made here.
Status PickCompactFiles(const VersionRef& version, const LevelShape& shape,
                        const ColumnFamilyOptions& options, const FilesCall& call,
                        const std::vector<const CompactionPlan*>& running,
                        std::unique_ptr<CompactionPlan>* plan) {
  plan->reset();
  const int output_level = call.output_level;
  if (call.numbers.empty()) return Status::InvalidArgument("CompactFiles: no input files");
  if (output_level < 0 || output_level >= version->num_levels()) {
    return Status::InvalidArgument("CompactFiles: output level " + std::to_string(output_level),
                                   "is not below num_levels");
  }
  if (output_level > 0 && !UsesLevels(options)) {
    return Status::InvalidArgument("CompactFiles: output level " + std::to_string(output_level),
                                   "with FIFO compaction all tables stay in L0");
  }
  if (output_level >= version->usable_levels()) {
    return Status::InvalidArgument("CompactFiles: output level " + std::to_string(output_level),
                                   "is reserved by cf_allow_ingest_behind");
  }
  SetGrower grower(*version, output_level);
  for (const uint64_t number : call.numbers) {
    int level = 0;
    const FileRef file = version->FindByNumber(number, &level);
    if (file == nullptr) {
      return Status::InvalidArgument("CompactFiles: table " + std::to_string(number),
                                     "is not in the column family");
    }
    if (level > output_level) {
      return Status::InvalidArgument(
          "CompactFiles: table " + std::to_string(number) + " is in L" + std::to_string(level),
          "which is deeper than the output level");
    }
    grower.Choose(level, file.get());
  }
  // The result must not bring older entries above newer ones, so whatever overlaps on the way takes
  // part.
  grower.Grow();
  PlanInputs inputs;
  inputs.levels = grower.Take();
  inputs.output_level = output_level;
  inputs.reason = CompactionReason::kManualCompaction;
  const InternalKeyComparator& icmp = *version->icmp();
  KeyRange range;
  for (const CompactionInputLevel& level : inputs.levels) {
    for (const FileRef& file : level.files) {
      if (file->notes.being_compacted) {
        return Status::InvalidArgument("CompactFiles: table " + std::to_string(file->number),
                                       "which takes part, is being compacted already");
      }
      range.Include(icmp, *file);
    }
  }
  // Two compactions that write into one range of a level would leave overlapping files there.
  for (const CompactionPlan* other : running) {
    if (output_level > 0 && !other->deletion_only && other->output_level == output_level &&
        range.Overlaps(icmp, RangeOf(icmp, *other))) {
      return Status::InvalidArgument("CompactFiles",
                                     "a running compaction writes to the same range");
    }
  }
  PlanBuilder builder(version, shape, options, running);
  if (call.path_id.has_value()) builder.PlaceOutputsIn(*call.path_id);
  *plan = builder.Build(std::move(inputs));
  (*plan)->is_manual = true;
  const auto& from = (*plan)->inputs;
  const bool movable =
      from.size() == 1 && from[0].level > 0 && from[0].level != output_level &&
      std::all_of(from[0].files.begin(), from[0].files.end(), [&](const FileRef& file) {
        return builder.CanMoveInto(RangeOf(icmp, *file), output_level);
      });
  (*plan)->trivial_move =
      movable && builder.SameCompression(from[0].level, output_level) && builder.LetsMove(**plan);
  return Status::OK();
}

}  // namespace varve
