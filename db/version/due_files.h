// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that want a compaction for what they hold or for their age, whatever their level's size.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/listener.h"
#include "varve/options.h"
#include "varve/types.h"

#include "db/version/covered_files.h"
#include "db/version/version.h"

namespace varve {

// When the shape of a tree is measured: what the answer depends on beside the tree.
struct ShapeMoment {
  SequenceNumber oldest_snapshot = kMaxSequenceNumber;  // that one: there is none
  uint64_t now = 0;                                     // unix seconds; 0: not known, nothing ages
};

struct DueFile {
  int level = 0;
  size_t index = 0;  // in the level
  CompactionReason reason = CompactionReason::kUnknown;
};

struct DueFiles {
  // Deleted by range tombstones from the first entry to the last: they leave the tree unread.
  std::vector<CoveredFile> covered;
  // Tables that have to be open before it is known whether there are more of these.
  std::vector<CoveredFile> unopened;
  // Most of their entries delete something beneath them: the more that frees, the earlier. Whether
  // it is worth what has to be rewritten, the picker knows.
  std::vector<DueFile> sinking;
  // To be rewritten or pushed down in any case, in this order: dead entries with nothing beneath
  // (kBottommostFiles), then what `ttl` and periodic_compaction_seconds say.
  std::vector<DueFile> files;
  // Once no snapshot is older than this there will be more. kMaxSequenceNumber: nothing waits.
  SequenceNumber waits_for_snapshot = kMaxSequenceNumber;
  // Unix seconds at which there will be more. UINT64_MAX: nothing waits.
  uint64_t next_due = UINT64_MAX;
};

// Files that are being compacted are left out. Requires the DB mutex (being_compacted).
DueFiles FindDueFiles(const Version& version, const ColumnFamilyOptions& options,
                      const ShapeMoment& moment);

}  // namespace varve
