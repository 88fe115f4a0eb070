// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a flush reads where tables hold no timestamps: there all versions of a key have the oldest
// one, and stand in the order in which they were written, whatever their timestamps were.

#include <memory>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// For a walk from the first entry forward. `source` is of memtables, whose entries stay where they
// are. `icmp` outlives the iterator.
std::unique_ptr<InternalIterator> NewSequenceOrderIterator(std::unique_ptr<InternalIterator> source,
                                                           const InternalKeyComparator* icmp);

}  // namespace varve
