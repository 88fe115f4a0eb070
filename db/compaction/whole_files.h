// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans that move files, or delete them, as they are: no entry of them is read.

#include <cstdint>
#include <memory>

#include "varve/range.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/compaction/plan.h"
#include "db/version/version.h"

namespace varve {

// DB::PromoteL0: all files of L0 become those of the target level. InvalidArgument: there is no
// such level below L0, it or one above it has files, or files of L0 overlap or are being compacted.
// Null: L0 is empty.
Status PickPromotion(const VersionRef& version, int target_level,
                     std::unique_ptr<CompactionPlan>* plan);

// A range of keys of which everything written up to a sequence number is deleted by newer entries.
struct DeletedRange {
  Slice start;
  Slice limit;
  bool limit_included = false;
  SequenceNumber up_to = 0;
};
// The files, on all levels, that lie in the range and hold nothing newer; those that are being
// compacted stay. Null: there are none. No snapshot may be as old as the range's entries, and what
// deletes them has to be durable.
std::unique_ptr<CompactionPlan> PickDeleted(const VersionRef& version, const DeletedRange& range);

}  // namespace varve
