// SPDX-License-Identifier: Apache-2.0
#pragma once

// Point reads of keys whose timestamps were not written in their order. What shows as of a time is
// the version with the newest timestamp that is not newer, of one timestamp the one written last;
// versions that a visible range tombstone covers, which is newer by its sequence number, are as if
// they were not there. A search from the newest source to the oldest finds that as long as older
// sources have older timestamps. If they may have others, all sources are walked together.

#include "varve/options.h"
#include "varve/status.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

// The source where a search has ended.
struct SearchPlace {
  static constexpr int kMemTables = -1;

  int level = kMemTables;
  size_t index = 0;  // of the memtable, the active one being 0; or of the file in L0
};

// After a search with a timestamp that ended at `place`: marks the lookup as out of order if a
// later source may hold a version of the key that comes before what was found.
void NoteTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                        const SearchPlace& place, PointLookup* lookup);

// Searches again, in all sources together. The error is also the lookup's.
Status GetInTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                           bool skip_memtables, PointLookup* lookup);

}  // namespace varve
