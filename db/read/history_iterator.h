// SPDX-License-Identifier: Apache-2.0
#pragma once

// The iterator of ReadOptions::iter_start_ts, which shows every version of a key that lies between
// two timestamps.

#include "varve/iterator.h"
#include "varve/options.h"

#include "db/read/iterator_hold.h"

namespace varve {

// Shows the versions from options.iter_start_ts to options.timestamp, both inclusive, with sequence
// numbers up to `sequence`: keys ascend, and versions of a key come newest first. Deletions of
// single keys are shown, with an empty value; versions that a range tombstone of that time covers
// are not. key() is the internal key: the user key, its timestamp, and eight bytes whose first is
// the type of the entry.
//
// The caller must have checked both timestamps, owns the result, which is never null, and uses it
// in one thread at a time. The status is NotSupported with an option that this iterator lacks
// (`tailing`, prefix_same_as_start, max_skippable_internal_keys, automatic refresh,
// kPersistedTier), and at an entry that is neither a value nor a deletion, such as a merge operand,
// which has no meaning alone.
Iterator* NewHistoryIterator(const ReadOptions& options, IteratorHold hold,
                             SequenceNumber sequence);

}  // namespace varve
