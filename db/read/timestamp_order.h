// SPDX-License-Identifier: Apache-2.0
#pragma once

// Point reads of keys whose timestamps were not written in order. The visible version as of a time
// is the one with the newest timestamp that is not newer, and of equal timestamps the one written
// last; versions covered by a visible range tombstone with a newer sequence number do not count. A
// search from the newest source to the oldest finds that version if older sources have older
// timestamps. If they may not, all sources are merged.

#include "varve/options.h"
#include "varve/status.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

// The source in which a search has ended.
struct SearchPlace {
  static constexpr int kMemTables = -1;

  int level = kMemTables;
  size_t index = 0;  // the memtable's, the active one being 0; or the L0 file's
};

// Called after a search with a timestamp ended at `place`: marks the lookup as out of order if a
// later source may have a version of the key that precedes the result.
void NoteTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                        const SearchPlace& place, PointLookup* lookup);

// Searches again, in all sources merged. The lookup gets the error, too.
Status GetInTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                           bool skip_memtables, PointLookup* lookup);

}  // namespace varve
