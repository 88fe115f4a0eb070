// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of a flush whose table stores no timestamps: all versions of a key get the oldest
// timestamp, and are ordered by their sequence numbers, whatever their timestamps were.

#include <memory>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// Returns an iterator for a walk from the first entry forward. `source` is of memtables, whose
// entries do not move. `icmp` must outlive the iterator.
std::unique_ptr<InternalIterator> NewSequenceOrderIterator(std::unique_ptr<InternalIterator> source,
                                                           const InternalKeyComparator* icmp);

}  // namespace varve
