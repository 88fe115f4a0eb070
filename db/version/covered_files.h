// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds files whose entries are all deleted by range tombstones: they can be dropped unread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/types.h"

#include "db/version/version.h"

namespace varve {

// Names a file by its place in a version.
struct CoveredFile {
  int level = 0;
  size_t index = 0;  // index in the level
};

// The result of FindCoveredFiles.
struct CoveredFiles {
  // Levels ascending. No reader can see anything in these files, now or later.
  std::vector<CoveredFile> files;
  // Some files would be covered if there were no snapshots. The first of them becomes covered once
  // no snapshot is older than this sequence number; kMaxSequenceNumber: there are no such files.
  SequenceNumber waits_for_snapshot = kMaxSequenceNumber;
  // Tables that have tombstones over older data but are not open: they may cover more files.
  std::vector<CoveredFile> unopened;
};

// Says how far a file is covered by tombstones.
struct Cover {
  bool whole = false;  // true: every entry is deleted
  // Readers at this sequence number and later see no entry of the file. kMaxSequenceNumber: there
  // are no such readers.
  SequenceNumber whole_from = kMaxSequenceNumber;
};
// Returns what the tombstones of a newer table cover of a file, if no snapshot is older than
// `oldest_snapshot`. Tombstones count only within the bounds of `owner`, their table.
Cover CoverOf(const FileMetaData& file, const FileMetaData& owner,
              const FragmentedTombstones& tombstones, SequenceNumber oldest_snapshot);

// Finds covered files by the tombstones of open tables, without reading a file. Skips files that
// are being compacted, and trees with timestamps, whose readers may read any past state. Requires
// the DB mutex (being_compacted, cover).
// Cost: a look at each file's metadata. Comparisons are only needed for tombstones and files that
// are new since the last call: for new tombstones, logarithmically many for each tombstone or for
// each file beneath them, whichever are fewer; for a new file, one per level and per table of L0.
CoveredFiles FindCoveredFiles(const Version& version, SequenceNumber oldest_snapshot);

}  // namespace varve
