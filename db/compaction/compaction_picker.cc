// SPDX-License-Identifier: Apache-2.0
#include "db/compaction/compaction_picker.h"

#include <algorithm>
#include <set>

#include "db/compaction/fifo_picker.h"
#include "db/compaction/leveled_picker.h"
#include "db/compaction/universal_picker.h"
#include "util/base/assert.h"

// Finds the picker of a style, and checks the plans that pickers return.

namespace varve {

namespace {

struct Style {
  CompactionStyle style;
  const CompactionPicker& picker;
};

// All existing styles.
constexpr Style kStyles[] = {
    {kCompactionStyleLevel, kLeveledPicker},
    {kCompactionStyleUniversal, kUniversalPicker},
    {kCompactionStyleFIFO, kFifoPicker},
    {kCompactionStyleNone, kLeveledPicker},  // manual compactions are picked as with levels
};

const CompactionPicker& PickerOf(const ColumnFamilyOptions& options) {
  const CompactionPicker* const picker = FindCompactionPicker(options.compaction_style);
  VARVE_ASSERT(picker != nullptr);
  return *picker;
}

bool AnyInputBeingCompacted(const CompactionPlan& plan) {
  return std::ranges::any_of(plan.inputs, [](const CompactionInputLevel& level) {
    return std::ranges::any_of(level.files,
                               [](const FileRef& f) { return f->notes.being_compacted; });
  });
}

// True if the plan's output may reach over another file, as merged entries may be written anywhere
// in the range of the inputs. Compares internal keys, as a file may end where the next one begins,
// in a tombstone's exclusive end.
bool ReachesOverAnother(const CompactionPlan& plan) {
  if (plan.trivial_move || plan.deletion_only || plan.output_level == 0) return false;
  const InternalKeyComparator& icmp = *plan.version->icmp();
  std::set<const FileMetaData*> inputs;
  Slice smallest;
  Slice largest;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      const Slice begin = file->smallest.Encode();
      const Slice end = file->largest.Encode();
      if (inputs.empty() || icmp.Compare(begin, smallest) < 0) smallest = begin;
      if (inputs.empty() || icmp.Compare(end, largest) > 0) largest = end;
      inputs.insert(file.get());
    }
  }
  const std::vector<FileRef>& files = plan.version->level(plan.output_level).files();
  return std::ranges::any_of(files, [&](const FileRef& file) {
    return !inputs.contains(file.get()) && icmp.Compare(file->largest.Encode(), smallest) >= 0 &&
           icmp.Compare(file->smallest.Encode(), largest) <= 0;
  });
}

}  // namespace

const CompactionPicker* FindCompactionPicker(CompactionStyle style) {
  for (const Style& entry : kStyles) {
    if (entry.style == style) return &entry.picker;
  }
  return nullptr;
}

bool NeedsCompaction(const VersionRef& version, const LevelShape& shape,
                     const ColumnFamilyOptions& options,
                     const std::vector<const CompactionPlan*>& running) {
  // The last surplus levels may have gone since the measurement, which therefore tells nothing. The
  // job that is to pick measures the tree itself.
  if (shape.scores.size() != static_cast<size_t>(version->num_levels())) return true;
  return PickerOf(options).NeedsCompaction(version, shape, options, running);
}

std::unique_ptr<CompactionPlan> PickCompaction(const VersionRef& version, const LevelShape& shape,
                                               const ColumnFamilyOptions& options,
                                               const std::vector<const CompactionPlan*>& running) {
  auto plan = PickerOf(options).Pick(version, shape, options, running);
  VARVE_ASSERT(plan == nullptr || (!AnyInputBeingCompacted(*plan) && !ReachesOverAnother(*plan)));
  return plan;
}

std::unique_ptr<CompactionPlan> PickRangeStep(const VersionRef& version, const LevelShape& shape,
                                              const ColumnFamilyOptions& options,
                                              const RangeCall& call, const Remainder& remainder,
                                              const std::vector<const CompactionPlan*>& running,
                                              bool* conflict) {
  return PickerOf(options).PickRangeStep(version, shape, options, call, remainder, running,
                                         conflict);
}

bool UsesLevels(const ColumnFamilyOptions& options) {
  return PickerOf(options).UsesLevels();
}

}  // namespace varve
