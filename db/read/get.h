// SPDX-License-Identifier: Apache-2.0
#pragma once

// A point read through everything that a super-version pins, newest source first.

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Memtables, then L0 newest first, then one file a level. On OK the lookup is kFound, kDeleted or
// kSearching (not there), unless it has operands: then MergeForRead tells. Any other status: the
// answer is not known.
//
// skip_memtables: for kPersistedTier, which asks for it once a write has gone without the log; the
// super-version cannot tell.
Status GetFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, Statistics* statistics,
                           bool skip_memtables = false);

// As above without I/O: true when the key may exist; *found when the value was in memory. `value`
// is the lookup's, which may be null.
bool KeyMayExistInSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                               PointLookup* lookup, PinnableSlice* value, bool* found);

}  // namespace varve
