// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds files that need a compaction because of their contents or age, whatever their level's size.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/listener.h"
#include "varve/options.h"
#include "varve/types.h"

#include "db/version/covered_files.h"
#include "db/version/version.h"

namespace varve {

// Values at the time of measuring a tree's shape that the result depends on beside the tree.
struct ShapeMoment {
  SequenceNumber oldest_snapshot = kMaxSequenceNumber;  // kMaxSequenceNumber: no snapshot
  uint64_t now = 0;                                     // unix seconds; 0: unknown, no file ages
};

struct DueFile {
  int level = 0;
  size_t index = 0;  // index in the level
  CompactionReason reason = CompactionReason::kUnknown;
};

struct DueFiles {
  // Completely deleted by range tombstones: they are dropped unread.
  std::vector<CoveredFile> covered;
  // Tables that must be opened to find out if there are more covered files.
  std::vector<CoveredFile> unopened;
  // Most of their entries delete something beneath them; those that free the most come first. The
  // picker decides if that is worth the bytes to be rewritten.
  std::vector<DueFile> sinking;
  // Files to be rewritten or moved down in any case, in this order: dead entries with nothing
  // beneath (kBottommostFiles), then files due by `ttl` and periodic_compaction_seconds.
  std::vector<DueFile> files;
  // There will be more once no snapshot is older than this. kMaxSequenceNumber: no file waits.
  SequenceNumber waits_for_snapshot = kMaxSequenceNumber;
  // Unix seconds at which there will be more. UINT64_MAX: no file waits.
  uint64_t next_due = UINT64_MAX;
};

// Returns the due files, without those that are being compacted. Requires the DB mutex
// (being_compacted).
DueFiles FindDueFiles(const Version& version, const ColumnFamilyOptions& options,
                      const ShapeMoment& moment);

}  // namespace varve
