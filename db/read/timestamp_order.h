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

// The source in which a search has ended: a memtable, a file of L0, or a deeper level.
struct SearchPlace {
  static constexpr int kMemTables = -1;

  // kMemTables, or the level. The number of levels says that no source is left.
  int level = kMemTables;
  // With kMemTables: 0 is the active memtable, i + 1 is immutables()[i]. With level 0: the index of
  // the file, or of the oldest file of a chain. Otherwise 0.
  size_t index = 0;
};

// Must be called after a search with a timestamp ended at `place`: marks the lookup as out of order
// if a source that was not searched may have a version of the key with a newer timestamp than the
// result has. Then the result must not be used; GetInTimestampOrder finds the right one.
void NoteTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                        const SearchPlace& place, PointLookup* lookup);

// Starts the lookup anew and searches all sources merged, those in memtables only unless
// `skip_memtables`. The lookup fails with the error that is returned.
Status GetInTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                           bool skip_memtables, PointLookup* lookup);

}  // namespace varve
