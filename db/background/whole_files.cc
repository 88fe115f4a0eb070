// SPDX-License-Identifier: Apache-2.0

// Implements manual changes of a family's tree that delete or move whole files without rewriting
// them.

#include "db/compaction/whole_files.h"

#include <algorithm>

#include "db/background/compaction_work.h"
#include "db/compaction/manual_picker.h"

namespace varve {

// The files are picked from the version that is current when their removal begins, as the mutex is
// not released in between.
Status CompactionWork::DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                                           bool include_end) {
  RunControl control;
  control.only_deletes = true;
  return RunAtOnce(
      family,
      [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan, bool*) {
        state_.mu.AssertHeld();
        auto deletion = std::make_unique<CompactionPlan>();
        PickFilesInRanges(view.version, ranges, n, include_end, deletion.get());
        if (deletion->inputs.empty()) return Status::OK();
        // Entries that are deleted with their files leave no tombstone, so conflict checks of
        // transactions are informed by this call.
        for (const CompactionInputLevel& level : deletion->inputs) {
          for (const FileRef& file : level.files) family->NoteDroppedWithFiles(file->largest_seq);
        }
        *plan = std::move(deletion);
        return Status::OK();
      },
      control);
}

// A snapshot older than the deletion may still need the deleted entries; then nothing is dropped.
Status CompactionWork::DropDeleted(ColumnFamily* family, const DeletedRange& range,
                                   SequenceNumber deleted_at) {
  RunControl control;
  control.only_deletes = true;
  return RunAtOnce(
      family,
      [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan, bool*) {
        state_.mu.AssertHeld();
        // Readers without a snapshot see the deletion.
        if (state_.snapshots.OldestHeld() >= deleted_at) *plan = PickDeleted(view.version, range);
        return Status::OK();
      },
      control);
}

Status CompactionWork::PromoteL0(ColumnFamily* family, int target_level) {
  return RunAtOnce(
      family,
      [&](const PlanningView& view, std::unique_ptr<CompactionPlan>* plan, bool*) {
        state_.mu.AssertHeld();
        return PickPromotion(view.version, target_level, plan);
      },
      RunControl());
}

}  // namespace varve
