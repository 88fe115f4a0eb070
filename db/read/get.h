// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements a point read of everything that a super-version pins, newest source first.

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Searches memtables, then L0 newest first, then one file per level (more where the key lies on a
// border of files). Requires a new lookup, whose timestamp, if the family has them, was checked
// (read_timestamp.h). On OK the lookup is kFound, kReference, kDeleted or kSearching (not found);
// if lookup->operands() is not null, its state does not matter, and MergeForRead gives the result.
// ReadReference (blob_read.h) gives the value of a reference. With any other status the result is
// unknown, and the lookup may have found a part of it.
//
// Thread safety: any threads, with one lookup each; the caller keeps the super-version referenced.
//
// `skip_memtables` leaves out all memtables. Callers set it for kPersistedTier if a write has
// bypassed the log, so that memtables have unpersisted data; the super-version does not know that.
Status GetFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, Statistics* statistics,
                           bool skip_memtables = false);

// Does the search above without I/O. Returns true if the key may exist, which includes that its
// state is unknown. *found says whether its value was found in memory; then *value has it. `value`
// is the one that the lookup was made with, and may be null: then operands count as not found.
bool KeyMayExistInSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                               PointLookup* lookup, PinnableSlice* value, bool* found);

}  // namespace varve
