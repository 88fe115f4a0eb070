// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns internal entries into what a user sees: the newest visible version of each live key.

#include <memory>
#include <string>

#include "varve/iterator.h"

#include "db/column_family/super_version_source.h"
#include "util/iter/internal_iterator.h"
#include "util/key/range_tombstone.h"

namespace varve {

class Statistics;

// A property of iterators whose value is "1" on an entity, and "0" on a plain value.
inline constexpr char kIteratorIsEntity[] = "varve.iterator.is-entity";

// Returns an iterator over the state of `super_version` at `sequence`, which the caller owns and
// uses in one thread at a time; never null. It shares ownership of `source`, takes over one
// reference of `super_version`, even if this call fails, and borrows the Slices, the snapshot and
// the callbacks that `options` point to. `statistics` may be null, and must live as long as
// `source`. The caller has checked the timestamps of `options` (read_timestamp.h).
//
// Errors come as an iterator that is never Valid. NotSupported: ReadOptions::read_tier is
// kPersistedTier, or another option cannot go with iter_start_ts (history_iterator.h). MemoryLimit:
// there is no memory. Aborted: a callback of the user threw. If a table cannot be opened, the
// iterator has that error, and tries again at its next seek.
Iterator* NewDbIterator(const ReadOptions& options, std::shared_ptr<SuperVersionSource> source,
                        SuperVersion* super_version, SequenceNumber sequence,
                        Statistics* statistics);

}  // namespace varve
