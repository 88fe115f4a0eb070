// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements a point read of everything that a super-version pins, newest source first.

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Searches memtables, then L0 newest first, then one file per level. On OK the lookup is kFound,
// kDeleted or kSearching (not found), unless it has operands: then MergeForRead gives the result.
// With any other status the result is unknown.
//
// skip_memtables: for kPersistedTier, whose callers set it once a write has bypassed the log; the
// super-version does not know that.
Status GetFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, Statistics* statistics,
                           bool skip_memtables = false);

// Like the call above, without I/O. Returns true if the key may exist; sets *found if the value was
// in memory. `value` is that of the lookup and may be null.
bool KeyMayExistInSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                               PointLookup* lookup, PinnableSlice* value, bool* found);

}  // namespace varve
