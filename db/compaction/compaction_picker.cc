// SPDX-License-Identifier: Apache-2.0
#include "db/compaction/compaction_picker.h"

#include "db/compaction/leveled_picker.h"
#include "util/base/assert.h"

namespace varve {

namespace {

struct Style {
  CompactionStyle style;
  const CompactionPicker& picker;
};

// All existing styles.
constexpr Style kStyles[] = {
    {kCompactionStyleLevel, kLeveledPicker},
    {kCompactionStyleNone, kLeveledPicker},  // manual compactions are picked as with levels
};

const CompactionPicker& PickerOf(const ColumnFamilyOptions& options) {
  const CompactionPicker* const picker = FindCompactionPicker(options.compaction_style);
  VARVE_ASSERT(picker != nullptr);
  return *picker;
}

}  // namespace

const CompactionPicker* FindCompactionPicker(CompactionStyle style) {
  for (const Style& entry : kStyles) {
    if (entry.style == style) return &entry.picker;
  }
  return nullptr;
}

bool NeedsCompaction(const Version& version, const LevelShape& shape,
                     const ColumnFamilyOptions& options) {
  return PickerOf(options).NeedsCompaction(version, shape);
}

std::unique_ptr<CompactionPlan> PickCompaction(const VersionRef& version, const LevelShape& shape,
                                               const ColumnFamilyOptions& options,
                                               const std::vector<const CompactionPlan*>& running) {
  return PickerOf(options).Pick(version, shape, options, running);
}

}  // namespace varve
