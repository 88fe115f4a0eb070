// SPDX-License-Identifier: Apache-2.0

// Builds complete plans from chosen files.
//
// Three checks make a plan legal, whichever style asks: no input is being compacted; the output
// level has no other file in the plan's range than the inputs; and no running plan will write into
// that range of that level. The last one cannot be seen in the version, as outputs are not in it
// before their job ends: hence `running`.
//
// A move only changes a file's level. It is right if the file meets nothing in the new level, if
// the file would be compressed in the same way there and lie in the same path, if the partitioner
// would not cut it, and if it does not meet so much in the level after that, that the next
// compaction would be too large.

#include "db/compaction/plan_builder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/compaction/partition.h"
#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

// Number of output files per compaction if max_compaction_bytes leaves the choice to the engine.
constexpr uint64_t kDefaultFilesPerCompaction = 25;

bool MutuallyDisjoint(const InternalKeyComparator& icmp, const std::vector<FileRef>& files) {
  for (size_t i = 0; i < files.size(); i++) {
    for (size_t j = i + 1; j < files.size(); j++) {
      if (RangeOf(icmp, *files[i]).Overlaps(icmp, RangeOf(icmp, *files[j]))) return false;
    }
  }
  return true;
}

}  // namespace

CompressionType CompressionForLevel(const ColumnFamilyOptions& options, int level, int base_level,
                                    bool bottommost) {
  if (bottommost && options.bottommost_compression != kDisableCompressionOption) {
    return options.bottommost_compression;
  }
  const std::vector<CompressionType>& per_level = options.compression_per_level;
  if (per_level.empty()) return options.compression;
  // Entry 0 is for L0, entry 1 for the base level.
  const int index = level == 0 ? 0 : level - std::max(1, base_level) + 1;
  const int last = static_cast<int>(per_level.size()) - 1;
  return per_level[static_cast<size_t>(std::clamp(index, 0, last))];
}

// Walks the levels from L0 down and takes the bytes of each off the room of its path. A level that
// does not fit ends a path, and no deeper level uses the room that is left there.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const LevelShape& shape, int level) {
  const std::vector<DbPath>& paths = options.cf_paths;
  if (paths.size() < 2) return 0;
  size_t path = 0;
  uint64_t room = paths[0].target_size;
  for (int l = 0; l <= level; l++) {
    // Levels between L0 and the base level are empty.
    if (l > 0 && l < shape.base_level && l < level) continue;
    // The final size of a tree that is all in L0 is unknown: the first step is a small one.
    const uint64_t target = l == 0 ? UINT64_MAX : shape.target_bytes[static_cast<size_t>(l)];
    const uint64_t bytes = target == UINT64_MAX ? options.max_bytes_for_level_base : target;
    while (path + 1 < paths.size() && bytes > room) room = paths[++path].target_size;
    room -= std::min(room, bytes);
  }
  return static_cast<uint32_t>(path);
}

PlanBuilder::PlanBuilder(const VersionRef& version, const LevelShape& shape,
                         const ColumnFamilyOptions& options,
                         const std::vector<const CompactionPlan*>& running)
    : version_(version),
      icmp_(*version->icmp()),
      shape_(shape),
      options_(options),
      running_(running) {}

uint64_t PlanBuilder::max_compaction_bytes() const {
  if (options_.max_compaction_bytes != 0) return options_.max_compaction_bytes;
  return options_.target_file_size_base * kDefaultFilesPerCompaction;
}

// Used for plans whose inputs come up from deeper levels (surplus_levels.h). An output in L0 may
// have older tables beside it, so there every table must be an input.
bool PlanBuilder::LeavesBeneath(const CompactionPlan& plan, const KeyRange& range) const {
  if (plan.output_level == 0) return !plan.TakesAll();
  // Inputs of deeper levels than the output take part in the merge, so they do not count as data
  // beneath.
  std::set<const FileMetaData*> inputs;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) inputs.insert(file.get());
  }
  for (int level = plan.output_level + 1; level < version_->num_levels(); level++) {
    const LevelFiles& files = version_->level(level);
    const FileSpan span = OverlappingSpan(files, icmp_, &range.smallest, &range.largest);
    for (size_t i = span.first; i < span.last; i++) {
      if (!inputs.contains(files[i])) return true;
    }
  }
  return false;
}

// An output in L0 has what is older beside it, not beneath, unless the oldest file takes part in a
// tree that has no other level.
bool PlanBuilder::IsBottommost(const CompactionPlan& plan, const KeyRange& range) const {
  if (plan.inputs.back().level > plan.output_level) return !LeavesBeneath(plan, range);
  if (plan.output_level == 0) {
    return version_->num_levels() == 1 &&
           plan.inputs.back().files.back() == version_->level(0).files().back();
  }
  return !version_->RangeMayExistFrom(plan.output_level + 1, range.smallest, range.largest);
}

uint64_t PlanBuilder::TargetFileBytes(int output_level) const {
  if (output_level == 0) return UINT64_MAX;
  int steps = output_level - 1;
  if (options_.level_compaction_dynamic_level_bytes) steps = output_level - shape_.base_level;
  double bytes = static_cast<double>(std::max<uint64_t>(1, options_.target_file_size_base));
  for (int i = 0; i < steps; i++) bytes *= std::max(1, options_.target_file_size_multiplier);
  // A file is never so large, and the conversion of a larger number is undefined.
  return bytes >= 1e18 ? UINT64_MAX : static_cast<uint64_t>(bytes);
}

// A file that comes to the deepest level with data is bottommost there, for which the options may
// ask another compression.
bool PlanBuilder::SameCompression(int from_level, int to_level) const {
  const bool last = to_level + 1 >= version_->non_empty_levels();
  return CompressionForLevel(options_, from_level, shape_.base_level, false) ==
         CompressionForLevel(options_, to_level, shape_.base_level, last);
}

bool PlanBuilder::TakenByRunning(const KeyRange& range, int level) const {
  return std::any_of(running_.begin(), running_.end(), [&](const CompactionPlan* plan) {
    // A deletion has no outputs.
    return !plan->deletion_only && plan->output_level == level &&
           range.Overlaps(icmp_, RangeOf(icmp_, *plan));
  });
}

// Three questions in this order: is the range free in the level now, will a running plan write into
// it, and will the next compaction of the file stay within the limit?
bool PlanBuilder::CanMoveInto(const KeyRange& range, int level) const {
  if (level == 0 || level >= version_->usable_levels()) return false;
  if (!OverlappingSpan(version_->level(level), icmp_, &range.smallest, &range.largest).empty()) {
    return false;
  }
  if (TakenByRunning(range, level)) return false;
  // One day the file must be merged with all that it meets there.
  if (level + 1 >= version_->num_levels()) return true;
  const LevelFiles& beneath = version_->level(level + 1);
  const FileSpan overlap = OverlappingSpan(beneath, icmp_, &range.smallest, &range.largest);
  return BytesOf(beneath, overlap) <= max_compaction_bytes();
}

Temperature PlanBuilder::TemperatureFor(int level) const {
  const bool last = level > 0 && level == version_->num_levels() - 1;
  return last && options_.last_level_temperature != Temperature::kUnknown
             ? options_.last_level_temperature
             : options_.default_write_temperature;
}

// Everything set here follows from inputs, output level and options, so it may be called again
// after the inputs have changed. trivial_move stays as it is.
void PlanBuilder::Complete(CompactionPlan* plan) const {
  VARVE_ASSERT(!plan->inputs.empty() && !plan->inputs.front().files.empty());
  VARVE_ASSERT(plan->output_level >= 0 && plan->output_level < version_->num_levels());
  const KeyRange range = RangeOf(icmp_, *plan);
  plan->version = version_;
  plan->start_level = plan->inputs.front().level;
  plan->bottommost = IsBottommost(*plan, range);
  plan->blob_victims = shape_.due.blob_victims;
  plan->output.compression =
      CompressionForLevel(options_, plan->output_level, shape_.base_level, plan->bottommost);
  plan->output.compression_opts = plan->bottommost && options_.bottommost_compression_opts.enabled
                                      ? options_.bottommost_compression_opts
                                      : options_.compression_opts;
  plan->output.temperature = TemperatureFor(plan->output_level);
  plan->output.target_file_bytes = TargetFileBytes(plan->output_level);
  plan->output.path_id = path_id_.value_or(PathOfLevel(options_, shape_, plan->output_level));
  plan->output.max_grandparent_overlap_bytes = max_compaction_bytes();
  plan->output.grandparents.clear();
  if (plan->output_level > 0 && plan->output_level + 1 < version_->num_levels()) {
    const LevelFiles& beneath = version_->level(plan->output_level + 1);
    plan->output.grandparents =
        FilesOf(beneath, OverlappingSpan(beneath, icmp_, &range.smallest, &range.largest));
  }
}

std::unique_ptr<CompactionPlan> PlanBuilder::Build(PlanInputs inputs) const {
  auto plan = std::make_unique<CompactionPlan>();
  plan->inputs = std::move(inputs.levels);
  plan->output_level = inputs.output_level;
  plan->reason = inputs.reason;
  Complete(plan.get());
  return plan;
}

// The plan is a move if nothing in the output level overlaps it and every file may be moved there
// unchanged.
std::unique_ptr<CompactionPlan> PlanBuilder::WithOutputLevel(CompactionInputLevel start,
                                                             KeyRange range, int output_level,
                                                             CompactionReason reason) const {
  const int start_level = start.level;
  const std::vector<FileRef> start_files = start.files;
  PlanInputs inputs;
  inputs.output_level = output_level;
  inputs.reason = reason;
  inputs.levels.push_back(std::move(start));
  bool alone = true;
  if (output_level != start_level) {
    const LevelFiles& files = version_->level(output_level);
    FileSpan span = OverlappingSpan(files, icmp_, &range.smallest, &range.largest);
    GrowToCleanCut(files, icmp_, &span);
    // A busy file beneath bars the plan: waiting for it would hold up the picker, which has other
    // candidates.
    if (AnyBeingCompacted(files, span)) return nullptr;
    // The files of the output level widen the range that outputs may have, and so what running
    // plans are compared with below.
    range.Include(icmp_, RangeOf(files, icmp_, span));
    alone = span.empty();
    if (!alone) inputs.levels.push_back({output_level, FilesOf(files, span)});
  }
  if (TakenByRunning(range, output_level)) return nullptr;
  auto plan = Build(std::move(inputs));
  plan->trivial_move = alone && output_level != start_level &&
                       (start_level > 0 || MutuallyDisjoint(icmp_, start_files)) &&
                       SameCompression(start_level, output_level) &&
                       std::all_of(start_files.begin(), start_files.end(),
                                   [&](const FileRef& f) {
                                     return CanMoveInto(RangeOf(icmp_, *f), output_level);
                                   }) &&
                       LetsMove(*plan);
  return plan;
}

bool PlanBuilder::LetsMove(const CompactionPlan& plan) const {
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      if (file->path_id != plan.output.path_id) return false;
    }
  }
  return PartitionerLetsMove(plan, icmp_, options_);
}

std::unique_ptr<CompactionPlan> PlanBuilder::FromLevel(int level, FileSpan span, int output_level,
                                                       CompactionReason reason) const {
  VARVE_ASSERT(level > 0 && output_level >= level);
  const LevelFiles& files = version_->level(level);
  GrowToCleanCut(files, icmp_, &span);
  if (span.empty() || AnyBeingCompacted(files, span)) return nullptr;
  return WithOutputLevel({level, FilesOf(files, span)}, RangeOf(files, icmp_, span), output_level,
                         reason);
}

// The input files keep the order of L0, newest first.
std::unique_ptr<CompactionPlan> PlanBuilder::FromL0(const std::vector<bool>& chosen,
                                                    int output_level,
                                                    CompactionReason reason) const {
  const LevelFiles& files = version_->level(0);
  VARVE_ASSERT(chosen.size() == files.size() && output_level > 0);
  CompactionInputLevel start;
  KeyRange range;
  for (size_t i = 0; i < files.size(); i++) {
    if (!chosen[i]) continue;
    if (files[i]->notes.being_compacted) return nullptr;
    start.files.push_back(files.files()[i]);
    range.Include(icmp_, *files[i]);
  }
  if (start.files.empty()) return nullptr;
  return WithOutputLevel(std::move(start), range, output_level, reason);
}

std::unique_ptr<CompactionPlan> PlanBuilder::FromRuns(PlanInputs inputs) const {
  KeyRange range;
  for (const CompactionInputLevel& level : inputs.levels) {
    for (const FileRef& file : level.files) {
      if (file->notes.being_compacted) return nullptr;
      range.Include(icmp_, *file);
    }
  }
  if (!range.set || TakenByRunning(range, inputs.output_level)) return nullptr;
  return Build(std::move(inputs));
}

bool PlanBuilder::AreDisjoint(const CompactionPlan& plan) const {
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (VARVE_CANARY(kMoveWithoutOverlapTest)) return true;
  std::vector<const FileMetaData*> files;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) files.push_back(file.get());
  }
  // Sorted by their first keys, files are disjoint if each one is disjoint from its successor.
  std::ranges::sort(files, [this](const FileMetaData* a, const FileMetaData* b) {
    return icmp_.CompareKey(icmp_.KeyOf(a->smallest), icmp_.KeyOf(b->smallest)) < 0;
  });
  for (size_t i = 1; i < files.size(); i++) {
    if (RangeOf(icmp_, *files[i - 1]).Overlaps(icmp_, RangeOf(icmp_, *files[i]))) return false;
  }
  return true;
}

// Adds files of the start level that are free of charge: those within the plan's range which meet
// no further file of the output level.
void PlanBuilder::GrowStartLevel(CompactionPlan* plan) const {
  if (plan->inputs.size() != 2 || plan->start_level == 0) return;
  const LevelFiles& start = version_->level(plan->start_level);
  const LevelFiles& output = version_->level(plan->output_level);
  const KeyRange range = RangeOf(icmp_, *plan);
  FileSpan span = OverlappingSpan(start, icmp_, &range.smallest, &range.largest);
  GrowToCleanCut(start, icmp_, &span);
  if (span.last - span.first <= plan->inputs[0].files.size()) return;
  if (AnyBeingCompacted(start, span)) return;
  KeyRange grown = RangeOf(start, icmp_, span);
  FileSpan output_span = OverlappingSpan(output, icmp_, &grown.smallest, &grown.largest);
  GrowToCleanCut(output, icmp_, &output_span);
  // The grown start level would meet further files of the output level: that is a larger
  // compaction, not a free addition.
  if (output_span.last - output_span.first != plan->inputs[1].files.size()) return;
  if (BytesOf(start, span) + BytesOf(output, output_span) > max_compaction_bytes()) return;
  grown.Include(icmp_, range);
  // The range has grown since the plan was checked, so the check is repeated.
  if (TakenByRunning(grown, plan->output_level)) return;
  VARVE_ASSERT(span.last - span.first > plan->inputs[0].files.size());
  plan->inputs[0].files = FilesOf(start, span);
  Complete(plan);
}

}  // namespace varve
