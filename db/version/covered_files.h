// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of which range tombstones have deleted every entry: they can leave the tree unread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/types.h"

#include "db/version/version.h"

namespace varve {

struct CoveredFile {
  int level = 0;
  size_t index = 0;  // in the level
};

struct CoveredFiles {
  // Levels ascending. Nobody can see anything in them, now or later.
  std::vector<CoveredFile> files;
  // Once no snapshot is older than this there will be more. kMaxSequenceNumber: nothing waits.
  SequenceNumber waits_for_snapshot = kMaxSequenceNumber;
  // Tables with tombstones over something older that are not open: there may be more.
  std::vector<CoveredFile> unopened;
};

// What a file's keys are under.
struct Cover {
  bool whole = false;  // every entry is deleted
  // For readers at this sequence number and later each is. kMaxSequenceNumber: for none.
  SequenceNumber whole_from = kMaxSequenceNumber;
};
// What tombstones of a newer table mean for a file, when no snapshot is older than
// `oldest_snapshot`. They count as far as they lie within the bounds of `owner`, their table.
Cover CoverOf(const FileMetaData& file, const FileMetaData& owner,
              const FragmentedTombstones& tombstones, SequenceNumber oldest_snapshot);

// Looks at tombstones of tables that are open: no file is read. Files that are being compacted are
// left out, as are trees with timestamps, whose readers may look into any past. Requires the DB
// mutex (being_compacted, cover).
// Cost: a look at each file's metadata, and comparisons only for what was not there at the last
// look: for new tombstones with a logarithm for each of them, or for each file beneath them,
// whichever are fewer; for a new file one for each level and each table of L0.
CoveredFiles FindCoveredFiles(const Version& version, SequenceNumber oldest_snapshot);

}  // namespace varve
