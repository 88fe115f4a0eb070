// SPDX-License-Identifier: Apache-2.0
#pragma once

// The iterator of ReadOptions::iter_start_ts, which shows every version of a key that lies between
// two timestamps.

#include "varve/iterator.h"
#include "varve/options.h"

#include "db/read/iterator_hold.h"

namespace varve {

// Versions from options.iter_start_ts to options.timestamp, both inclusive, that were written up to
// `sequence`: keys ascending, of each key the newest first. Deletions of one key are shown, with an
// empty value; what a range tombstone within the time covers is not. key() is the internal key,
// whose last byte but seven tells what the entry is.
//
// The caller has checked both timestamps. NotSupported as its status: options that it does not
// have, and merge operands, which have no meaning alone.
Iterator* NewHistoryIterator(const ReadOptions& options, IteratorHold hold,
                             SequenceNumber sequence);

}  // namespace varve
