// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans that move or delete whole files without reading their entries. All functions here require
// the DB mutex, as they look at what is being compacted.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/range.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/compaction/plan.h"
#include "db/version/due_files.h"
#include "db/version/version.h"

namespace varve {

// DB::PromoteL0: plans a move of all files of L0 to the target level. Returns InvalidArgument if
// there is no such level below L0, it or a level above it has files, or files of L0 overlap or are
// being compacted. Sets *plan to null if L0 is empty, and after an error.
Status PickPromotion(const VersionRef& version, int target_level,
                     std::unique_ptr<CompactionPlan>* plan);

// A range of keys, given without timestamps, in which newer entries delete everything up to a
// sequence number.
struct DeletedRange {
  Slice start;
  Slice limit;
  bool limit_included = false;
  SequenceNumber up_to = 0;
};
// Plans the deletion of the files, on all levels, that lie in the range and hold nothing newer,
// except those that are being compacted. Returns null if there are none. Requires that no snapshot
// is as old as the range's entries, and that the entries which delete them are durable.
std::unique_ptr<CompactionPlan> PickDeleted(const VersionRef& version, const DeletedRange& range);

// Plans the deletion of due files of this version, except those that are being compacted, for the
// reason of the first of them. Returns null if there are none.
std::unique_ptr<CompactionPlan> PickDropped(const VersionRef& version,
                                            const std::vector<DueFile>& files);
// Does the same for files that range tombstones have deleted completely. A picker should ask for
// this plan before all others, because a compaction would read such files in vain.
std::unique_ptr<CompactionPlan> PickCovered(const VersionRef& version,
                                            const std::vector<CoveredFile>& covered);

}  // namespace varve
