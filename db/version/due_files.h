// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds files that need a compaction because of their contents or age, whatever their level's size.
//
// Sizes alone would leave some data where it is forever: tombstones at the bottom of the tree,
// above which nothing is ever full; entries that were kept for a snapshot which has been released
// since; files of a key range that nobody writes any more, though `ttl` or
// periodic_compaction_seconds promise that they are visited. The finder looks at the metadata of
// each file, and names those files with the reason. It reads no file.

#include <cstddef>
#include <cstdint>
#include <optional>
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

// Names a file by its place in a version, with the reason why it is due.
struct DueFile {
  int level = 0;
  size_t index = 0;  // index in the level
  CompactionReason reason = CompactionReason::kUnknown;
};

// Names a table of L0 that is to be written with another temperature.
struct TemperatureChange {
  size_t index = 0;  // index in L0
  Temperature temperature = Temperature::kUnknown;
};

// The files of a version that are to be compacted for their contents or their age, apart from the
// sizes of levels.
struct DueFiles {
  // Files that range tombstones delete completely; they are dropped unread.
  std::vector<CoveredFile> covered;
  // Tables that must be opened to find out if there are more covered files.
  std::vector<CoveredFile> unopened;
  // Files with more deletions than other entries, and with data beneath; those that free the most
  // come first. The picker decides if that is worth the bytes to be rewritten.
  std::vector<DueFile> sinking;
  // Files to be rewritten or moved down in any case, in this order: those with dead entries and
  // nothing beneath (kBottommostFiles), then those due by `ttl`, then those due by
  // periodic_compaction_seconds.
  std::vector<DueFile> files;
  // FIFO: the oldest table whose age asks for another temperature.
  std::optional<TemperatureChange> temperature_change;
  // Blob files whose values compactions write anew, by ascending number.
  std::vector<uint64_t> blob_victims;
  // The tables that are to be compacted because they may refer to one of blob_victims.
  std::vector<DueFile> blob_tables;
  // True if L0 is to be compacted as it may hide too much garbage in blob files.
  bool l0_hides_blob_garbage = false;
  // Some files would be due if there were no snapshots. The first of them becomes due once no
  // snapshot is older than this sequence number; kMaxSequenceNumber: there are no such files.
  SequenceNumber waits_for_snapshot = kMaxSequenceNumber;
  // Unix seconds at which the next file becomes due by its age. UINT64_MAX: none will.
  uint64_t next_due = UINT64_MAX;
};

// Returns the due files, without those that are being compacted. Requires the DB mutex
// (being_compacted).
DueFiles FindDueFiles(const Version& version, const ColumnFamilyOptions& options,
                      const ShapeMoment& moment);

}  // namespace varve
